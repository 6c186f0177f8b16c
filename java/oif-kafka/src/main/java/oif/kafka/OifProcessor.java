package oif.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import oif.BaseAndRows;
import oif.Params;
import oif.Pipeline;
import oif.Result;
import oif.RowLayout;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Scores a topic with Kafka Streams: one model per record key.
 *
 * <p>For each key the stores have a base (a snapshot of its model) and the rows since: its {@link
 * BaseAndRows}. The models in memory are a cache of the stores. Each write to a store is also a record
 * of its changelog topic, so one write per row must be small: a row, not a snapshot.
 *
 * <pre>
 * oif-base   key          -> number of rows in the base, snapshot
 * oif-rows   key, place   -> number of the row, time, columns      place = number % BASE_EVERY
 * </pre>
 *
 * <p>The places of a key are reused after each base, so no row is ever deleted.
 */
public final class OifProcessor<V, R> implements Processor<String, V, String, R> {
    /** Rows between two bases of a key. The state depends on it: to change it, start with empty stores. */
    static final int BASE_EVERY = 1024;

    private static final String BASE = "oif-base";
    private static final String ROWS = "oif-rows";

    /** How to read the values of a topic, and how to write their results. */
    public interface Values<V, R> {
        double[] row(V value);

        /** Seconds since 1970; NaN if unknown. */
        double seconds(V value);

        R scored(V value, Result result);
    }

    private final Values<V, R> values;
    private final Params detector;
    private final int columns;
    private final Params options;
    private final int maxModels;
    private final RowLayout layout;
    private final LinkedHashMap<String, BaseAndRows> models = new LinkedHashMap<>(16, 0.75f, true);
    private Pipeline pipeline;
    private ProcessorContext<String, R> context;
    private KeyValueStore<String, byte[]> bases;
    private KeyValueStore<byte[], byte[]> rows;

    private OifProcessor(Values<V, R> values, Params detector, int columns, Params options, int maxModels) {
        this.values = values;
        this.detector = detector;
        this.columns = columns;
        this.options = options;
        this.maxModels = maxModels;
        this.layout = RowLayout.numbered(columns);
    }

    /** For {@code KStream.process}. A task holds at most {@code maxModels} models in memory, and at least 1. */
    public static <V, R> ProcessorSupplier<String, V, String, R> supplier(
            Values<V, R> values, Params detector, int columns, Params options, int maxModels) {
        if (maxModels < 1) {
            throw new IllegalArgumentException("maxModels is " + maxModels + ": a task needs at least 1 model, that of its current row");
        }
        return new ProcessorSupplier<>() {
            @Override
            public Processor<String, V, String, R> get() {
                return new OifProcessor<>(values, detector, columns, options, maxModels);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(
                        Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(BASE), Serdes.String(), Serdes.ByteArray()),
                        Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(ROWS), Serdes.ByteArray(), Serdes.ByteArray()));
            }
        };
    }

    @Override
    public void init(ProcessorContext<String, R> context) {
        this.context = context;
        bases = context.getStateStore(BASE);
        rows = context.getStateStore(ROWS);
        close(); // Kafka Streams may revive a task, which then starts from its stores
        pipeline = new Pipeline(detector, columns, options.set("max_keys", 1 << 29)); // maxModels is the limit
    }

    @Override
    public void process(Record<String, V> record) {
        String key = record.key();
        BaseAndRows model = models.get(key);
        if (model == null) {
            model = load(key);
            evict();
        }
        double[] row = values.row(record.value());
        double seconds = values.seconds(record.value());
        Result result = pipeline.process(Pipeline.utf8(key), seconds, row);
        write(key, model, seconds, row);
        context.forward(record.withValue(values.scored(record.value(), result)));
    }

    @Override
    public void close() {
        models.clear();
        if (pipeline != null) {
            pipeline.close();
            pipeline = null;
        }
    }

    private void write(String key, BaseAndRows model, double seconds, double[] row) {
        byte[] place = place(key, model.rows());
        model.add(seconds, row);
        rows.put(place, model.takeRows());
        writeDueBase(key, model);
    }

    private void writeDueBase(String key, BaseAndRows model) {
        if (model.isBaseDueByRows(BASE_EVERY)) {
            bases.put(key, model.takeBase(pipeline, Pipeline.utf8(key)));
        }
    }

    private static byte[] place(String key, long number) {
        byte[] name = key.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(name.length + Integer.BYTES).put(name).putInt((int) (number % BASE_EVERY)).array();
    }

    private BaseAndRows load(String key) {
        byte[] name = Pipeline.utf8(key);
        BaseAndRows model = new BaseAndRows(layout);
        byte[] base = bases.get(key);
        if (base != null) {
            model.loadBase(pipeline, name, base);
        }
        byte[] row = rows.get(place(key, model.rows()));
        while (row != null && model.replay(pipeline, name, row)) {
            row = rows.get(place(key, model.rows()));
        }
        writeDueBase(key, model); // without it, the next row would overwrite the first one since the base
        models.put(key, model);
        return model;
    }

    /** Nothing is lost: the stores contain every row. */
    private void evict() {
        Iterator<Map.Entry<String, BaseAndRows>> oldest = models.entrySet().iterator();
        while (models.size() > maxModels) {
            byte[] key = Pipeline.utf8(oldest.next().getKey());
            oldest.remove();
            if (pipeline.hasKey(key)) {
                pipeline.removeKey(key);
            }
        }
    }
}

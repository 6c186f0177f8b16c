package oif.flink;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Scores a keyed stream: one model per key, alerts and their reasons.
 *
 * <pre>{@code
 * DataStream<Scored<Reading>> scored = OifScore.of(readings.keyBy(r -> r.host))
 *     .columns(List.of("flow", "pressure"), r -> new double[] {r.flow, r.pressure})
 *     .options(Map.of("alert_rate", 0.001))
 *     .explain(3)
 *     .cache(MemorySize.ofMebiBytes(512))
 *     .keyState(Duration.ofDays(7))
 *     .apply();
 * }</pre>
 *
 * <p>The results are those of {@code oif score --key}, bit for bit, also after failures, restarts
 * and changes of the parallelism, as long as the rows of a key come in one order: from one
 * partition of the source.
 */
public final class OifScore<K, T> {
    private static final String UID = "oif-score";

    private static final MemorySize MOST_WAITING_ROWS = MemorySize.ofMebiBytes(1024);

    private final KeyedStream<T, K> stream;
    private final ScoreSettings<T> settings = new ScoreSettings<>();
    private String uid = UID;

    private OifScore(KeyedStream<T, K> stream) {
        this.stream = stream;
    }

    public static <K, T> OifScore<K, T> of(KeyedStream<T, K> stream) {
        return new OifScore<>(stream);
    }

    /** The columns: their names, and the numbers of a value in that order. */
    public OifScore<K, T> columns(List<String> names, RowOf<T> row) {
        settings.columns = List.copyOf(names);
        settings.row = row;
        return this;
    }

    /** The time of a value in seconds since 1970, which seasons and pauses need. */
    public OifScore<K, T> time(TimeOf<T> time) {
        settings.time = time;
        return this;
    }

    /** The detector and its parameters; those that are not named have their initial values. */
    public OifScore<K, T> detector(String name, Map<String, ?> parameters) {
        settings.detector = name;
        settings.parameters = ScoreSettings.texts(parameters);
        return this;
    }

    /** The options of the pipeline, such as alert_rate. */
    public OifScore<K, T> options(Map<String, ?> options) {
        settings.options = ScoreSettings.texts(options);
        return this;
    }

    /** How many columns are named as the reasons of an anomaly. */
    public OifScore<K, T> explain(int columns) {
        settings.explain = columns;
        return this;
    }

    /** Native memory for the models of a subtask. Others go on from Flink's state when they are needed. */
    public OifScore<K, T> cache(MemorySize size) {
        settings.cacheBytes = size.getBytes();
        return this;
    }

    /** Heap of a subtask for rows that wait for a checkpoint; beyond it they are written early. */
    public OifScore<K, T> waitingRows(MemorySize size) {
        if (size.compareTo(MOST_WAITING_ROWS) > 0) {
            throw new IllegalArgumentException("at most " + MOST_WAITING_ROWS.toHumanReadableString() + " of rows may wait, not "
                    + size.toHumanReadableString() + ": those of one key are one array");
        }
        settings.waitingRowsBytes = size.getBytes();
        return this;
    }

    /** Keys that were not seen for that long are forgotten. */
    public OifScore<K, T> keyState(Duration time) {
        if (time.getSeconds() < 1) {
            throw new IllegalArgumentException("keys are kept for at least a second, not " + time);
        }
        settings.keySeconds = time.getSeconds();
        return this;
    }

    /** An infinite number counts as missing, and is counted, instead of failing the job. */
    public OifScore<K, T> infiniteIsMissing() {
        settings.mendsInfinite = true;
        return this;
    }

    /** Every row goes to the state at once, by Flink's public API alone; slower. */
    public OifScore<K, T> writeThrough() {
        settings.writesThrough = true;
        return this;
    }

    /**
     * Checkpoints and savepoints hold snapshots only, no rows: before an upgrade to a version of oif
     * that scores differently.
     */
    public OifScore<K, T> basesOnly(boolean isWanted) {
        settings.basesOnly = isWanted;
        return this;
    }

    /** The identity of the operator in savepoints, if a job has several. */
    public OifScore<K, T> uid(String name) {
        uid = name;
        return this;
    }

    /** The scored stream. */
    public SingleOutputStreamOperator<Scored<T>> apply() {
        settings.check();
        if (settings.writesThrough && settings.basesOnly) {
            throw new IllegalStateException("basesOnly() needs the operator: leave out writeThrough() for the savepoint, the state is the same");
        }
        SingleOutputStreamOperator<Scored<T>> scored = settings.writesThrough
                ? stream.process(new OifFunction<>(settings, keySerializer()), Scored.typeOf(stream.getType()))
                : stream.transform("oif", Scored.typeOf(stream.getType()), new OifOperator<>(settings));
        return scored.name("oif").uid(uid);
    }

    private TypeSerializer<K> keySerializer() {
        return stream.getKeyType().createSerializer(stream.getExecutionConfig().getSerializerConfig());
    }
}

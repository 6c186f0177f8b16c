package oif.flink;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Scores a keyed stream: one model per key, with alerts and their reasons.
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
 * <p>The results are those of {@code oif score --key}, bit for bit, even after failures, restarts and
 * rescaling. This requires that the rows of a key always arrive in the same order, so they must come
 * from one partition of the source.
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

    /** Starts with the default settings. */
    public static <K, T> OifScore<K, T> of(KeyedStream<T, K> stream) {
        return new OifScore<>(stream);
    }

    /** Sets the names of the columns, and a function that returns the numbers of a value in that order. */
    public OifScore<K, T> columns(List<String> names, RowOf<T> row) {
        settings.columns = List.copyOf(names);
        settings.row = row;
        return this;
    }

    /** Sets a function that returns the time of a value in seconds since 1970. Seasons and pauses need it. */
    public OifScore<K, T> time(TimeOf<T> time) {
        settings.time = time;
        return this;
    }

    /** Sets the detector and its parameters. Whatever is not set has its default. */
    public OifScore<K, T> detector(String name, Map<String, ?> parameters) {
        settings.detector = name;
        settings.parameters = ScoreSettings.texts(parameters);
        return this;
    }

    /** Sets options of the pipeline, such as alert_rate. */
    public OifScore<K, T> options(Map<String, ?> options) {
        settings.options = ScoreSettings.texts(options);
        return this;
    }

    /** Sets how many columns to report as reasons for an anomaly. */
    public OifScore<K, T> explain(int columns) {
        settings.explain = columns;
        return this;
    }

    /** Sets the native memory for the models of a subtask. Other models are loaded from Flink's state on demand. */
    public OifScore<K, T> cache(MemorySize size) {
        settings.cacheBytes = size.getBytes();
        return this;
    }

    /** Sets the heap of a subtask for rows that wait for a checkpoint. Beyond it, rows are written early. */
    public OifScore<K, T> waitingRows(MemorySize size) {
        if (size.compareTo(MOST_WAITING_ROWS) > 0) {
            throw new IllegalArgumentException("waitingRows() is " + size.toHumanReadableString() + "; at most "
                    + MOST_WAITING_ROWS.toHumanReadableString() + " is possible, as the rows of a key are one array");
        }
        settings.waitingRowsBytes = size.getBytes();
        return this;
    }

    /** Forgets keys that had no rows for this long. */
    public OifScore<K, T> keyState(Duration time) {
        if (time.getSeconds() < 1) {
            throw new IllegalArgumentException("keyState() is " + time + "; at least 1 second is possible");
        }
        settings.keySeconds = time.getSeconds();
        return this;
    }

    /** Treats infinite numbers as missing and counts them. Otherwise they fail the job. */
    public OifScore<K, T> infiniteIsMissing() {
        settings.mendsInfinite = true;
        return this;
    }

    /** Writes every row to the state immediately, with Flink's public API only. Slower. */
    public OifScore<K, T> writeThrough() {
        settings.writesThrough = true;
        return this;
    }

    /**
     * Writes only bases, no rows, to checkpoints and savepoints. Needed before an upgrade to a version
     * of oif that scores differently.
     */
    public OifScore<K, T> basesOnly(boolean isWanted) {
        settings.basesOnly = isWanted;
        return this;
    }

    /** Sets the uid of the operator in savepoints. Needed if a job has several. */
    public OifScore<K, T> uid(String name) {
        uid = name;
        return this;
    }

    /** Checks the settings and returns the scored stream. */
    public SingleOutputStreamOperator<Scored<T>> apply() {
        settings.check();
        if (settings.writesThrough && settings.basesOnly) {
            throw new IllegalStateException(
                    "basesOnly() does not work with writeThrough(): leave out writeThrough() for the savepoint; the state is the same");
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

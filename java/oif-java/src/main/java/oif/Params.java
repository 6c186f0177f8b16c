package oif;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The parameters of a detector, or the options of a pipeline. Whatever is not set has its default.
 * Immutable: {@link #set} returns a copy.
 *
 * <pre>{@code
 * Params detector = Params.of("online-iforest").set("window_size", 256);
 * Params options = Params.options().set("alert_rate", 0.001).set("learn", "normal");
 * }</pre>
 */
public final class Params {
    /** The default detector of the command-line tool and of the Python package. */
    public static final String DEFAULT_DETECTOR = "rolling-iforest";

    private static final String INCIDENTS = "incidents"; // no detector has this name

    private final String detector; // null: options of a pipeline
    private final Map<String, String> values;

    private Params(String detector, Map<String, String> values) {
        this.detector = detector;
        this.values = values;
    }

    /** The default parameters of a detector, such as "rolling-iforest". */
    public static Params of(String detector) {
        Native.checkParams(
                Objects.requireNonNull(detector, "the name of a detector is null").getBytes(StandardCharsets.UTF_8),
                new byte[0][],
                new byte[0][]);
        return new Params(detector, Map.of());
    }

    /** The default options of a pipeline. */
    public static Params options() {
        return new Params(null, Map.of());
    }

    /** The default options of {@link Incidents}. */
    public static Params incidentOptions() {
        return new Params(INCIDENTS, Map.of());
    }

    /** Returns a copy with one parameter changed. Throws OifException if the name or the value is invalid. */
    public Params set(String name, String value) {
        Map<String, String> changed = new LinkedHashMap<>(values);
        changed.put(
                Objects.requireNonNull(name, "the name of a parameter is null"),
                Objects.requireNonNull(value, "the value of a parameter is null"));
        return new Params(detector, Collections.unmodifiableMap(changed)).checked();
    }

    /** Returns a copy with one parameter changed. */
    public Params set(String name, double value) {
        return set(name, Double.toString(value));
    }

    /** Returns a copy with several parameters changed. Values are numbers or strings. */
    public Params set(Map<String, ?> more) {
        Params changed = this;
        for (Map.Entry<String, ?> entry : more.entrySet()) {
            changed = changed.set(entry.getKey(), String.valueOf(entry.getValue()));
        }
        return changed;
    }

    /** The name of the detector; null for options. */
    public String detector() {
        return isOfIncidents() ? null : detector;
    }

    private boolean isOfIncidents() {
        return INCIDENTS.equals(detector);
    }

    /** The values that were set. */
    public Map<String, String> values() {
        return values;
    }

    /** Returns this. Throws if these are the options of a pipeline. */
    Params ofDetector() {
        if (detector() == null) {
            throw new IllegalArgumentException("options are not the parameters of a detector: use Params.of(NAME)");
        }
        return this;
    }

    /** Returns this. Throws if these are not the options of incidents. */
    Params ofIncidents() {
        if (!isOfIncidents()) {
            throw new IllegalArgumentException("these are not the options of incidents: use Params.incidentOptions()");
        }
        return this;
    }

    /** Returns this. Throws if these are the parameters of a detector. */
    Params ofPipeline() {
        if (detector != null) {
            throw new IllegalArgumentException(
                    "the parameters of " + detector + " are not the options of a pipeline: use Params.options()");
        }
        return this;
    }

    /**
     * The memory that a detector with these parameters takes, in bytes, for rows of {@code columns}
     * numbers.
     */
    public long estimateBytes(int columns) {
        return Native.estimateBytes(ofDetector().detectorBytes(), names(), texts(), columns);
    }

    /**
     * Whether the detector keeps what it has learned when {@link Pipeline#addColumns} adds columns.
     * Otherwise it learns from the start again.
     */
    public boolean addsColumns() {
        return Native.addsColumns(ofDetector().detectorBytes(), names(), texts());
    }

    /** Collects what native code reports: the name of a table, then its parameters. */
    static final class Collector implements Entries {
        private final Map<String, String> values = new LinkedHashMap<>();
        private String table;

        @Override
        public void add(byte[][] texts, double[] numbers) {
            if (table == null) {
                table = Pipeline.text(texts[0]);
            } else {
                String value = texts[1] == null ? Double.toString(numbers[0]) : Pipeline.text(texts[1]);
                values.put(Pipeline.text(texts[0]), value);
            }
        }

        Params ofDetector() {
            return new Params(table, Collections.unmodifiableMap(values));
        }

        Params ofPipeline() {
            return new Params(null, Collections.unmodifiableMap(values));
        }
    }

    private Params checked() {
        if (isOfIncidents()) {
            Native.checkIncidentOptions(names(), texts());
        } else {
            Native.checkParams(detectorBytes(), names(), texts());
        }
        return this;
    }

    byte[] detectorBytes() {
        return detector == null ? null : detector.getBytes(StandardCharsets.UTF_8);
    }

    byte[][] names() {
        return utf8(values.keySet());
    }

    byte[][] texts() {
        return utf8(values.values());
    }

    static byte[][] utf8(Iterable<String> strings) {
        java.util.List<byte[]> all = new java.util.ArrayList<>();
        for (String string : strings) {
            all.add(string.getBytes(StandardCharsets.UTF_8));
        }
        return all.toArray(new byte[0][]);
    }

    @Override
    public String toString() {
        return (detector == null ? "pipeline" : detector) + values;
    }
}

package oif.flink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import oif.Params;
import oif.Pipeline;

/** The settings of a job. Serialized to the task managers. */
final class ScoreSettings<T> implements Serializable {
    private static final long serialVersionUID = 1;

    /** Options that need all keys in one process, or that Flink replaces. */
    private static final Map<String, String> NOT_HERE = Map.of(
            "alerts", "a budget for all keys needs them in one process; use alert_rate",
            "max_keys", "the cache decides how many models are in memory; use cache()",
            "memory_limit", "the cache decides how many models are in memory; use cache()",
            "silence", "silent keys are not reported on Flink; leave it out",
            "evicted", "Flink's state has the models that are not in memory; leave it out");

    /** No limit: the cache limits the number of models. */
    private static final double ANY_NUMBER_OF_KEYS = 1 << 29;

    RowOf<T> row;
    TimeOf<T> time = value -> Double.NaN;
    List<String> columns = List.of();
    String detector = Params.DEFAULT_DETECTOR;
    Map<String, String> parameters = Map.of();
    Map<String, String> options = Map.of();
    int explain;
    long cacheBytes = 256L << 20;
    long waitingRowsBytes = 64L << 20;
    long keySeconds; // 0: keys are never forgotten
    boolean basesOnly;
    boolean writesThrough;
    boolean mendsInfinite;

    static Map<String, String> texts(Map<String, ?> values) {
        Map<String, String> texts = new LinkedHashMap<>();
        values.forEach((name, value) -> texts.put(name, String.valueOf(value)));
        return texts;
    }

    /** Throws on the client what would otherwise fail on a task manager. */
    void check() {
        if (row == null || columns.isEmpty()) {
            throw new IllegalStateException("columns() was not called: it sets the numbers to learn");
        }
        for (String name : options.keySet()) {
            String why = NOT_HERE.get(name);
            if (why != null) {
                throw new IllegalArgumentException("option " + name + ": " + why);
            }
        }
        if (Set.copyOf(columns).size() != columns.size()) {
            throw new IllegalArgumentException("a column is named twice: " + columns);
        }
        newPipeline().close();
    }

    Pipeline newPipeline() {
        Params params = Params.of(detector).set(parameters);
        Params chosen = Params.options().set(options).set("max_keys", ANY_NUMBER_OF_KEYS);
        Pipeline pipeline = new Pipeline(params, columns.size(), chosen);
        pipeline.nameColumns(new ArrayList<>(columns));
        return pipeline;
    }
}

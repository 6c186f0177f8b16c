package oif.flink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import oif.Params;
import oif.Pipeline;

/** What a job asks for; travels to the task managers. */
final class ScoreSettings<T> implements Serializable {
    private static final long serialVersionUID = 1;

    /** What one pipeline decides about all its keys cannot be decided by several subtasks. */
    private static final Map<String, String> NOT_HERE = Map.of(
            "alerts", "a budget for all keys together needs them in one process; set alert_rate",
            "max_keys", "the cache decides how many models are in memory; use cache()",
            "memory_limit", "the cache decides how many models are in memory; use cache()",
            "silence", "keys that fall silent are not reported here; leave it out",
            "evicted", "models that are not in memory go on from Flink's state");

    /** More keys than a subtask can hold; the cache is what limits them. */
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

    /** Refuses on the client what would fail on a task manager. */
    void check() {
        if (row == null || columns.isEmpty()) {
            throw new IllegalStateException("columns() was not called: say which numbers of a value are learned");
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

package oif.flink;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.util.Collector;

/**
 * Scores a keyed stream with Flink's public API only. Each row is written to the state immediately.
 * Slower than {@link OifOperator}, with the same state: a job can switch from one to the other.
 */
final class OifFunction<K, T> extends KeyedProcessFunction<K, T, Scored<T>> {
    private static final long serialVersionUID = 1;

    private final ScoreSettings<T> settings;
    private final TypeSerializer<K> keySerializer;
    private transient Models<K, T> models;
    private transient KeyNames<K> names;
    private transient KeyState state;
    private transient RowChecks<T> checks;

    OifFunction(ScoreSettings<T> settings, TypeSerializer<K> keySerializer) {
        this.settings = settings;
        this.keySerializer = keySerializer;
    }

    @Override
    public void open(OpenContext context) {
        state = KeyState.of(getRuntimeContext());
        names = new KeyNames<>(keySerializer.duplicate());
        models = new Models<>(settings, taskManager());
        models.register(getRuntimeContext().getMetricGroup().addGroup("oif"));
        checks = new RowChecks<>(settings, getRuntimeContext().getMetricGroup().addGroup("oif"));
    }

    /** Null if a later version of Flink has another context. The memory of the models is then not checked. */
    private Configuration taskManager() {
        return getRuntimeContext() instanceof StreamingRuntimeContext context
                ? context.getTaskManagerRuntimeInfo().getConfiguration()
                : null;
    }

    @Override
    public void processElement(T value, Context context, Collector<Scored<T>> out) throws Exception {
        double[] row = checks.row(value);
        double seconds = settings.time.seconds(value);
        Models.Entry<K> entry = models.entryOf(context.getCurrentKey(), names.of(context.getCurrentKey()), state);
        Scored<T> scored = models.score(entry, value, seconds, row);
        models.remember(entry, seconds, row);
        note(entry, context);
        models.write(entry, state);
        out.collect(scored);
        models.evictWritten();
    }

    private void note(Models.Entry<K> entry, Context context) {
        if (settings.keySeconds == 0) {
            return;
        }
        entry.seen = context.timerService().currentProcessingTime();
        if (!entry.hasTimer) {
            context.timerService().registerProcessingTimeTimer(entry.seen + 1000 * settings.keySeconds);
            entry.hasTimer = true;
        }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Scored<T>> out) throws Exception {
        if (settings.keySeconds == 0) { // the timer is from a job with keyState()
            state.seen().clear();
            return;
        }
        Long seen = state.seen().value();
        long due = seen == null ? 0 : seen + 1000 * settings.keySeconds;
        if (due > context.timerService().currentProcessingTime()) {
            context.timerService().registerProcessingTimeTimer(due);
            return;
        }
        Models.Entry<K> entry = models.find(names.of(context.getCurrentKey()));
        if (entry != null) {
            models.drop(entry);
        }
        state.clear();
    }

    @Override
    public void close() {
        if (models != null) {
            models.close();
            models = null;
        }
    }
}

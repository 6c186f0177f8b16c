package oif.flink;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Scores a keyed stream. Writes rows to Flink's state at checkpoints, in one piece per key. {@link
 * OifFunction} writes every row immediately instead.
 *
 * <p>Flink calls {@code snapshotState} before it takes the snapshot of keyed state, so the checkpoint
 * includes what {@code snapshotState} writes.
 */
final class OifOperator<K, T> extends AbstractStreamOperator<Scored<T>>
        implements OneInputStreamOperator<T, Scored<T>>, Triggerable<K, VoidNamespace> {
    private static final long serialVersionUID = 1;

    private final ScoreSettings<T> settings;
    private transient Models<K, T> models;
    private transient KeyNames<K> names;
    private transient KeyState state;
    private transient InternalTimerService<VoidNamespace> timers;
    private transient RowChecks<T> checks;

    OifOperator(ScoreSettings<T> settings) {
        this.settings = settings;
    }

    @Override
    @SuppressWarnings("unchecked")
    public void open() throws Exception {
        super.open();
        state = KeyState.of(getRuntimeContext());
        names = new KeyNames<>((TypeSerializer<K>) getKeyedStateBackend().getKeySerializer());
        timers = getInternalTimerService(KeyState.TIMERS, VoidNamespaceSerializer.INSTANCE, this);
        models = new Models<>(
                settings, getContainingTask().getEnvironment().getTaskManagerInfo().getConfiguration());
        models.register(getMetricGroup().addGroup("oif"));
        checks = new RowChecks<>(settings, getMetricGroup().addGroup("oif"));
    }

    /** For tests. */
    Models<K, T> models() {
        return models;
    }

    // ---- Rows ----

    @Override
    public void processElement(StreamRecord<T> element) throws Exception {
        T value = element.getValue();
        double[] row = checks.row(value);
        double seconds = settings.time.seconds(value);
        @SuppressWarnings("unchecked")
        K key = (K) getCurrentKey();
        Models.Entry<K> entry = models.entryOf(key, names.of(key), state);
        Scored<T> scored = models.score(entry, value, seconds, row);
        models.remember(entry, seconds, row);
        note(entry);
        output.collect(element.replace(scored));
        makeRoom();
    }

    /** Remembers when the key was seen. A timer forgets the key later. */
    private void note(Models.Entry<K> entry) {
        if (settings.keySeconds == 0) {
            return;
        }
        entry.seen = timers.currentProcessingTime();
        if (!entry.hasTimer) {
            timers.registerProcessingTimeTimer(VoidNamespace.INSTANCE, entry.seen + 1000 * settings.keySeconds);
            entry.hasTimer = true;
        }
    }

    private void makeRoom() throws Exception {
        Models.Entry<K> evicted = models.toEvict();
        if (evicted == null && models.waitingBytes <= settings.waitingRowsBytes) {
            return;
        }
        Object current = getCurrentKey();
        for (; evicted != null; evicted = models.toEvict()) {
            setCurrentKey(evicted.key);
            models.writeEvicted(evicted, state);
            models.evict(evicted);
        }
        if (models.waitingBytes > settings.waitingRowsBytes) {
            writeAll();
        }
        setCurrentKey(current);
    }

    // ---- State ----

    private void write(Models.Entry<K> entry) throws Exception {
        setCurrentKey(entry.key);
        models.write(entry, state);
    }

    private void writeAll() throws Exception {
        for (Models.Entry<K> entry : models.entries()) {
            if (entry.stored.hasWaiting()) {
                write(entry);
            }
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        Object current = getCurrentKey();
        if (settings.basesOnly) {
            writeBases();
        } else {
            writeAll();
        }
        models.noteCheckpoint();
        if (current != null) {
            setCurrentKey(current);
        }
    }

    /** Writes bases of all keys, because keys whose models are not in memory may have rows too. */
    private void writeBases() throws Exception {
        for (Models.Entry<K> entry : models.entries()) {
            setCurrentKey(entry.key);
            models.writeBase(entry, state);
        }
        this.<K>getKeyedStateBackend()
                .applyToAllKeys(VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, KeyState.LOG, (key, log) -> {
                    KeyName name = names.of(key);
                    if (models.find(name) == null) {
                        setCurrentKey(key);
                        Models.Entry<K> entry = models.load(key, name, state);
                        models.writeBase(entry, state);
                        models.drop(entry);
                    }
                });
    }

    // ---- Quiet keys ----

    @Override
    public void onProcessingTime(InternalTimer<K, VoidNamespace> timer) throws Exception {
        if (settings.keySeconds == 0) { // the timer is from a job with keyState()
            state.seen().clear();
            return;
        }
        KeyName name = names.of(timer.getKey());
        Models.Entry<K> entry = models.find(name);
        Long written = entry == null ? state.seen().value() : Long.valueOf(entry.seen);
        long due = written == null ? 0 : written + 1000 * settings.keySeconds;
        if (due > timers.currentProcessingTime()) {
            timers.registerProcessingTimeTimer(VoidNamespace.INSTANCE, due);
            return;
        }
        if (entry != null) {
            models.drop(entry);
        }
        state.clear();
    }

    @Override
    public void onEventTime(InternalTimer<K, VoidNamespace> timer) {}

    @Override
    public void close() throws Exception {
        try {
            super.close();
        } finally {
            if (models != null) {
                models.close();
                models = null;
            }
        }
    }
}

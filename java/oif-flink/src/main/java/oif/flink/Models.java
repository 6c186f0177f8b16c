package oif.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import oif.Attribution;
import oif.Oif;
import oif.Pipeline;
import oif.Result;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;

/**
 * The models of a subtask that are in memory. They are a cache of Flink's state: any of them can be
 * dropped once its rows are written, and comes back as base + rows since, bit for bit.
 */
final class Models<K, T> implements AutoCloseable {
    /** A key whose model is in memory. */
    static final class Entry<K> {
        final K key;
        final KeyName name;
        final RowLog waiting; // rows that are not in the state yet
        boolean hasBase;
        long logBytes; // of the rows since the base, in the state or waiting
        long seen; // milliseconds
        boolean hasTimer;

        Entry(K key, KeyName name, int columns) {
            this.key = key;
            this.name = name;
            this.waiting = new RowLog(columns);
        }

        /**
         * Whether a new base takes fewer bytes than the rows since the last one. The first base of a
         * key comes earlier or later by its hash: keys that began together would otherwise all
         * write theirs in one checkpoint.
         */
        boolean needsBase(long modelBytes) {
            double due = hasBase ? 1 : 0.5 + (spread(name.hashCode()) >>> 1) / (double) Integer.MAX_VALUE;
            return logBytes >= due * modelBytes;
        }

        private static int spread(int hash) {
            return (hash * 0x9E3779B9) ^ (hash >>> 15);
        }
    }

    /** Another behavior than the library's, for tests; 0: none. */
    static int behaviorForTests;

    private final ScoreSettings<T> settings;
    private final Pipeline pipeline;
    private final int behavior;
    private final long emptyBytes; // of a pipeline without models
    private final LinkedHashMap<KeyName, Entry<K>> entries = new LinkedHashMap<>(16, 0.75f, true);
    private Entry<K> latest; // most rows have the key of the row before, or one of few

    // Other threads read them as metrics. They must not ask the pipeline, which may be at work, or closed.
    long hits, misses, evictions, replayedRows, waitingBytes, writtenBytes, writtenBases, checkpointBytes;
    private long modelBytes;
    private int liveModels;
    private long writtenBefore; // the last checkpoint

    /** Claims the memory of the models first, or refuses to start. */
    Models(ScoreSettings<T> settings, Configuration taskManager) {
        this.settings = settings;
        NativeMemory.claim(taskManager, settings.cacheBytes);
        try {
            this.pipeline = settings.newPipeline();
        } catch (RuntimeException | Error e) {
            NativeMemory.release(settings.cacheBytes);
            throw e;
        }
        this.behavior = behaviorForTests > 0 ? behaviorForTests : Oif.behavior();
        this.emptyBytes = pipeline.memoryBytes();
    }

    void register(MetricGroup group) {
        group.gauge("modelsLive", () -> liveModels);
        group.gauge("modelBytes", () -> modelBytes);
        group.gauge("cacheHits", () -> hits);
        group.gauge("cacheMisses", () -> misses);
        group.gauge("cacheEvictions", () -> evictions);
        group.gauge("replayedRows", () -> replayedRows);
        group.gauge("waitingRowBytes", () -> waitingBytes);
        group.gauge("stateBytesWritten", () -> writtenBytes);
        group.gauge("basesWritten", () -> writtenBases);
        group.gauge("checkpointBytes", () -> checkpointBytes);
    }

    private void count() {
        liveModels = entries.size();
        modelBytes = pipeline.memoryBytes() - emptyBytes;
    }

    /** Everything is written: what came since the last checkpoint is this one's. */
    void noteCheckpoint() {
        checkpointBytes = writtenBytes - writtenBefore;
        writtenBefore = writtenBytes;
    }

    Iterable<Entry<K>> entries() {
        return entries.values();
    }

    // ---- A key ----

    /** The key's entry; null if its model is not in memory. */
    Entry<K> find(KeyName name) {
        if (latest == null || !latest.name.equals(name)) {
            latest = entries.get(name);
        }
        return latest;
    }

    /** Brings a key's model into memory: its base, then the rows since; a new model without either. */
    Entry<K> load(K key, KeyName name, KeyState state) throws Exception {
        Entry<K> entry = new Entry<>(key, name, settings.columns.size());
        byte[] base = state.base().value();
        if (base != null) {
            pipeline.loadKey(name.bytes(), base);
            entry.hasBase = true;
        }
        for (byte[] piece : state.log().get()) {
            RowLog.Rows rows = RowLog.read(piece, settings.columns.size(), behavior);
            pipeline.replayRows(name.bytes(), rows.seconds(), rows.numbers());
            replayedRows += rows.seconds().length;
            entry.logBytes += rows.seconds().length * RowLog.rowBytes(settings.columns.size());
        }
        Long seen = settings.keySeconds > 0 ? state.seen().value() : null;
        entry.hasTimer = seen != null; // its timer is in the state as well
        entry.seen = seen == null ? 0 : seen;
        entries.put(name, entry);
        latest = entry;
        misses++;
        return entry;
    }

    /** Frees a model whose rows are written. */
    void drop(Entry<K> entry) {
        waitingBytes -= entry.waiting.bytes();
        entries.remove(entry.name);
        if (latest == entry) {
            latest = null;
        }
        if (pipeline.hasKey(entry.name.bytes())) {
            pipeline.removeKey(entry.name.bytes());
        }
        count();
    }

    /** The model to evict: the least recently seen, while they take too much memory and there are others. */
    Entry<K> toEvict() {
        count();
        if (liveModels < 2 || modelBytes <= settings.cacheBytes) {
            return null;
        }
        Iterator<Entry<K>> oldest = entries.values().iterator();
        return oldest.next();
    }

    // ---- Rows ----

    /** Scores a value with the model of its key. */
    Scored<T> score(Entry<K> entry, T value, double seconds, double[] row) {
        Result result = pipeline.process(entry.name.bytes(), seconds, row);
        List<Scored.Why> why = result.anomaly() && settings.explain > 0 ? reasons(pipeline, settings) : List.of();
        return new Scored<>(value, result, why);
    }

    static List<Scored.Why> reasons(Pipeline pipeline, ScoreSettings<?> settings) {
        List<Attribution> shares = new ArrayList<>(pipeline.explain());
        shares.sort(Comparator.comparingDouble(Attribution::share).reversed());
        List<Scored.Why> why = new ArrayList<>();
        for (Attribution part : shares.subList(0, Math.min(settings.explain, shares.size()))) {
            if (part.share() > 0) {
                why.add(new Scored.Why(settings.columns.get(part.column()), part.share(), part.direction(), part.reason()));
            }
        }
        return why;
    }

    /** A row was learned that the state does not have yet. */
    void remember(Entry<K> entry, double seconds, double[] row) {
        entry.waiting.add(seconds, row);
        entry.logBytes += RowLog.rowBytes(row.length);
        waitingBytes += RowLog.rowBytes(row.length);
    }

    /** Writes what the state of the current key, which is the entry's, lacks: rows, or a base once there are many. */
    void write(Entry<K> entry, KeyState state) throws Exception {
        write(entry, state, needsBase(entry));
    }

    /** Afterwards the state of the key has no rows. */
    void writeBase(Entry<K> entry, KeyState state) throws Exception {
        write(entry, state, entry.logBytes > 0);
    }

    private void write(Entry<K> entry, KeyState state, boolean isBaseDue) throws Exception {
        waitingBytes -= entry.waiting.bytes();
        if (isBaseDue) {
            byte[] base = pipeline.saveKey(entry.name.bytes());
            state.base().update(base);
            state.log().clear();
            entry.waiting.clear();
            entry.hasBase = true;
            entry.logBytes = 0;
            writtenBytes += base.length;
            writtenBases++;
        } else if (!entry.waiting.isEmpty()) {
            byte[] piece = entry.waiting.take(behavior);
            state.log().add(piece);
            writtenBytes += piece.length;
        }
        if (settings.keySeconds > 0) {
            state.seen().update(entry.seen);
        }
    }

    private boolean needsBase(Entry<K> entry) {
        return entry.needsBase(pipeline.keyMemoryBytes(entry.name.bytes()));
    }

    @Override
    public void close() {
        entries.clear();
        liveModels = 0;
        modelBytes = 0;
        pipeline.close();
        NativeMemory.release(settings.cacheBytes);
        Pipeline.trimNativeHeap();
    }
}

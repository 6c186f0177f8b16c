package oif.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import oif.Attribution;
import oif.Oif;
import oif.Pipeline;
import oif.Result;
import org.apache.flink.api.common.state.ListState;
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
        final byte[] name;
        final RowLog waiting; // rows that are not in the state yet
        boolean hasBase;
        long logBytes; // of the rows since the base, in the state or waiting
        int pieces; // that the log in the state has
        long seen; // milliseconds
        boolean hasTimer;

        // For EntryTable
        final int hash;
        Entry<K> next;
        long used, queued;

        Entry(K key, KeyName name, int columns) {
            this.key = key;
            this.name = name.bytes();
            this.hash = name.hashCode();
            this.waiting = new RowLog(columns);
        }

        /**
         * Whether a new base takes fewer bytes than the rows since the last one. The first base of a
         * key comes earlier or later by its hash: keys that began together would otherwise all
         * write theirs in one checkpoint.
         */
        boolean needsBase(long modelBytes) {
            double due = hasBase ? 1 : 0.5 + (spread(hash) >>> 1) / (double) Integer.MAX_VALUE;
            return logBytes >= due * modelBytes;
        }

        /**
         * Whether the pieces of the log should be joined: there are many, and they are short. Each
         * takes 17 bytes besides its rows, which quiet keys have one by one; those of busy keys are
         * long, and to write them again would cost more. By the hash again, so keys take turns.
         */
        boolean hasManyPieces(long rowBytes) {
            return pieces >= FEW_PIECES + (spread(hash) & (FEW_PIECES - 1)) && logBytes < pieces * LONG_PIECE_ROWS * rowBytes;
        }

        private static int spread(int hash) {
            return (hash * 0x9E3779B9) ^ (hash >>> 15);
        }
    }

    private static final int FEW_PIECES = 4;
    private static final int LONG_PIECE_ROWS = 64;

    /** Another behavior than the library's, for tests; 0: none. */
    static int behaviorForTests;

    private final ScoreSettings<T> settings;
    private final Pipeline pipeline;
    private final int behavior;
    private final long emptyBytes; // of a pipeline without models
    private final EntryTable<K> entries = new EntryTable<>();

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
        return entries;
    }

    // ---- A key ----

    /** The key's entry; null if its model is not in memory. */
    Entry<K> find(KeyName name) {
        return entries.find(name);
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
            entry.pieces++;
            entry.logBytes += rows.seconds().length * RowLog.rowBytes(settings.columns.size());
        }
        Long seen = settings.keySeconds > 0 ? state.seen().value() : null;
        entry.hasTimer = seen != null; // its timer is in the state as well
        entry.seen = seen == null ? 0 : seen;
        entries.add(entry);
        misses++;
        return entry;
    }

    /** Frees a model whose rows are written. */
    void drop(Entry<K> entry) {
        waitingBytes -= entry.waiting.bytes();
        entries.remove(entry);
        if (pipeline.hasKey(entry.name)) {
            pipeline.removeKey(entry.name);
        }
        count();
    }

    /** The model to evict: one not seen for long, while they take too much memory and there are others. */
    Entry<K> toEvict() {
        count();
        if (liveModels < 2 || modelBytes <= settings.cacheBytes) {
            return null;
        }
        return entries.oldest();
    }

    // ---- Rows ----

    /** Scores a value with the model of its key. */
    Scored<T> score(Entry<K> entry, T value, double seconds, double[] row) {
        Result result = pipeline.process(entry.name, seconds, row);
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
            byte[] base = pipeline.saveKey(entry.name);
            state.base().update(base);
            state.log().clear();
            entry.waiting.clear();
            entry.hasBase = true;
            entry.logBytes = 0;
            entry.pieces = 0;
            writtenBytes += base.length;
            writtenBases++;
        } else if (!entry.waiting.isEmpty()) {
            addPiece(entry, state.log());
        }
        if (settings.keySeconds > 0) {
            state.seen().update(entry.seen);
        }
    }

    private void addPiece(Entry<K> entry, ListState<byte[]> log) throws Exception {
        byte[] piece = entry.waiting.take(behavior);
        if (!settings.writesThrough && entry.hasManyPieces(RowLog.rowBytes(settings.columns.size()))) {
            List<byte[]> pieces = new ArrayList<>();
            log.get().forEach(pieces::add);
            pieces.add(piece);
            piece = RowLog.join(pieces);
            log.update(List.of(piece));
            entry.pieces = 1;
        } else {
            log.add(piece);
            entry.pieces++;
        }
        writtenBytes += piece.length;
    }

    private boolean needsBase(Entry<K> entry) {
        return entry.needsBase(pipeline.keyMemoryBytes(entry.name));
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

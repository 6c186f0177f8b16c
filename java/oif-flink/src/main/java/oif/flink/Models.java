package oif.flink;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import oif.Attribution;
import oif.BaseAndRows;
import oif.Oif;
import oif.Pipeline;
import oif.Result;
import oif.RowLayout;
import oif.StoredRowsException;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;

/**
 * The models of a subtask that are in memory. They are a cache of Flink's state, which has their {@link
 * BaseAndRows}: a model can be dropped once its rows are written.
 */
final class Models<K, T> implements AutoCloseable {
    /** A key whose model is in memory. */
    static final class Entry<K> {
        final K key;
        final byte[] name;
        final BaseAndRows stored; // rows that are not written to the state wait there
        int pieces; // of the log in the state
        long seen; // milliseconds; the time of the last row
        boolean hasTimer;

        // For EntryTable
        final int hash;
        Entry<K> next;
        long used; // when a row last asked for it
        long queued; // its place in the queue: when it was used, as far as the queue knows
        boolean isRemoved;

        Entry(K key, KeyName name, RowLayout layout) {
            this.key = key;
            this.name = name.bytes();
            this.hash = name.hashCode();
            this.stored = new BaseAndRows(layout);
        }

        /**
         * Whether a new base takes fewer bytes than the rows since the last one. The hash of the key
         * shifts its first base. Otherwise keys that started together would all write their bases in
         * the same checkpoint.
         */
        boolean needsBase(long modelBytes) {
            return stored.isBaseDueBySize(modelBytes, 0.5 + (spread(hash) >>> 1) / (double) Integer.MAX_VALUE);
        }

        /**
         * Whether the pieces of the log should be joined: there are many, and they are short. A piece
         * adds 17 bytes to its rows. Joining writes the whole log again, so it must be rare. With one
         * row per checkpoint, the log grows by a seventh between joins, and each row is written about 9
         * times. The hash spreads the joins of different keys over several checkpoints.
         */
        boolean hasManyPieces() {
            return pieces >= FEW_PIECES + (spread(hash) & (FEW_PIECES - 1)) && stored.rowsSince() < pieces * LONG_PIECE_ROWS;
        }

        private static int spread(int hash) {
            return (hash * 0x9E3779B9) ^ (hash >>> 15);
        }
    }

    private static final int FEW_PIECES = 4;
    private static final int LONG_PIECE_ROWS = 8;
    private static final int MANY_REPLAYED_ROWS = 1000;

    private final ScoreSettings<T> settings;
    private final Pipeline pipeline;
    private final RowLayout layout;
    private final long emptyBytes; // of a pipeline without models
    private final EntryTable<K> entries = new EntryTable<>();

    // Metrics. Other threads read these fields; they must not call the pipeline, which may be busy or closed.
    long hits, misses, evictions, replayedRows, waitingBytes, writtenBytes, writtenBases, checkpointBytes;
    private long modelBytes;
    private int liveModels;
    private long writtenBefore; // bytes, at the last checkpoint

    /** Fails if the task manager has not declared enough memory for the models. */
    Models(ScoreSettings<T> settings, Configuration taskManager) {
        this.settings = settings;
        NativeMemory.claim(taskManager, settings.cacheBytes);
        try {
            this.pipeline = settings.newPipeline();
        } catch (RuntimeException | Error e) {
            NativeMemory.release(settings.cacheBytes);
            throw e;
        }
        this.layout = RowLayout.pieces(settings.columns.size(), Oif.behavior());
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

    /** Called when everything is written. The bytes since the last checkpoint belong to this one. */
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

    /** The entry of the current key. Loads the model from the state if it is not in memory. */
    Entry<K> entryOf(K key, KeyName name, KeyState state) throws Exception {
        Entry<K> entry = entries.find(name);
        if (entry != null) {
            hits++;
            return entry;
        }
        misses++;
        return load(key, name, state);
    }

    /** Loads the model of a key: its base, then the rows since. Without a base and rows, the model is new. */
    Entry<K> load(K key, KeyName name, KeyState state) throws Exception {
        Entry<K> entry = new Entry<>(key, name, layout);
        byte[] base = state.base().value();
        if (base != null) {
            entry.stored.loadBase(pipeline, entry.name, base);
        }
        for (byte[] piece : state.log().get()) {
            replay(entry, piece);
        }
        replayedRows += entry.stored.replayedRows();
        Long seen = settings.keySeconds > 0 ? state.seen().value() : null;
        entry.hasTimer = seen != null; // the timer is part of Flink's state
        entry.seen = seen == null ? 0 : seen;
        entries.add(entry);
        return entry;
    }

    private void replay(Entry<K> entry, byte[] piece) {
        try {
            entry.stored.replay(pipeline, entry.name, piece);
        } catch (StoredRowsException refused) {
            throw new IllegalStateException(refused.getMessage() + remedy(refused.reason()), refused);
        }
        entry.pieces++;
    }

    static String remedy(StoredRowsException.Reason reason) {
        return switch (reason) {
            case BEHAVIOR -> ". Restore the job with the old version and basesOnly(true), stop it with a savepoint, "
                    + "and start this version from that savepoint";
            case COLUMNS -> "; the columns of a model cannot change: start over with another uid()";
            case FORMAT, DAMAGED -> "";
        };
    }

    /** Frees a model. Rows that are not written yet are lost. */
    void drop(Entry<K> entry) {
        waitingBytes -= entry.stored.waitingBytes();
        entries.remove(entry);
        if (pipeline.hasKey(entry.name)) {
            pipeline.removeKey(entry.name);
        }
        count();
    }

    /** The model to evict while the models exceed the cache; null if none. The last model is never evicted. */
    Entry<K> toEvict() {
        count();
        if (liveModels < 2 || modelBytes <= settings.cacheBytes) {
            return null;
        }
        return entries.oldest();
    }

    /** Evicts a model whose rows are written. */
    void evict(Entry<K> entry) {
        drop(entry);
        evictions++;
    }

    /** Evicts models of which every row is written. */
    void evictWritten() {
        for (Entry<K> evicted = toEvict(); evicted != null; evicted = toEvict()) {
            evict(evicted);
        }
    }

    // ---- Rows ----

    /** Scores a value with the model of its key. The model learns it. */
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
                why.add(new Scored.Why(settings.columns.get(part.column()), part));
            }
        }
        return why;
    }

    /** Adds a row that was learned to the rows to write. */
    void remember(Entry<K> entry, double seconds, double[] row) {
        long before = entry.stored.waitingBytes();
        entry.stored.add(seconds, row);
        waitingBytes += entry.stored.waitingBytes() - before;
    }

    /** Writes the waiting rows, or a base if one is due. The entry must be that of the current key. */
    void write(Entry<K> entry, KeyState state) throws Exception {
        write(entry, state, needsBase(entry));
    }

    /** Writes a base if there are rows since the last one. The log is empty afterwards. */
    void writeBase(Entry<K> entry, KeyState state) throws Exception {
        write(entry, state, entry.stored.rowsSince() > 0);
    }

    /**
     * Writes a model before its eviction. If its last load replayed many rows, the next load would
     * replay even more, so a base replaces the rows.
     */
    void writeEvicted(Entry<K> entry, KeyState state) throws Exception {
        write(entry, state, entry.stored.replayedRows() >= MANY_REPLAYED_ROWS || needsBase(entry));
    }

    private void write(Entry<K> entry, KeyState state, boolean isBaseDue) throws Exception {
        waitingBytes -= entry.stored.waitingBytes();
        if (isBaseDue) {
            byte[] base = entry.stored.takeBase(pipeline, entry.name);
            state.base().update(base);
            state.log().clear();
            entry.pieces = 0;
            writtenBytes += base.length;
            writtenBases++;
        } else if (entry.stored.hasWaiting()) {
            addPiece(entry, state.log());
        }
        if (entry.hasTimer) { // load() takes a value as the sign of a timer
            state.seen().update(entry.seen);
        }
    }

    private void addPiece(Entry<K> entry, ListState<byte[]> log) throws Exception {
        byte[] piece = entry.stored.takeRows();
        if (!settings.writesThrough && entry.hasManyPieces()) {
            List<byte[]> pieces = new ArrayList<>();
            log.get().forEach(pieces::add);
            pieces.add(piece);
            piece = RowLayout.join(pieces);
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

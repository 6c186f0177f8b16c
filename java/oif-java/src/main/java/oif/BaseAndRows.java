package oif;

import java.util.Arrays;

/**
 * The model of a key as a store has it: a base, which is a snapshot of the model, and the rows learned
 * since. The model in memory is a cache of the store. To restore it, load the base and replay the rows:
 * the same rows give the same model, bit for bit. A row is much smaller than a snapshot, so most writes
 * are rows.
 *
 * <pre>{@code
 * BaseAndRows stored = new BaseAndRows(RowLayout.numbered(2));
 * pipeline.process(key, seconds, row);
 * stored.add(seconds, row);
 * rows.put(place, stored.takeRows());
 * if (stored.isBaseDueByRows(1024)) {
 *     bases.put(key, stored.takeBase(pipeline, key));
 * }
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class BaseAndRows {
    private static final double[] NO_ROOM = {};

    private final RowLayout layout;
    private double[] waiting = NO_ROOM; // rows that were not taken; without rows it needs no heap
    private int used; // numbers of it
    private boolean hasBase;
    private long baseRows; // rows that the base contains, as far as the layout counts them
    private long rowsSince; // since the base, taken or waiting
    private long replayedRows;

    /** A key without a base and without rows. */
    public BaseAndRows(RowLayout layout) {
        this.layout = layout;
    }

    // ---- Restoring ----

    /** Loads a base that {@link #takeBase} returned. Throws OifException if its snapshot is damaged. */
    public void loadBase(Pipeline pipeline, byte[] key, byte[] stored) {
        RowLayout.Base base = layout.readBase(stored);
        pipeline.loadKey(key, base.snapshot());
        hasBase = true;
        baseRows = base.rows();
    }

    /**
     * Replays what {@link #takeRows} returned. Returns false, and replays nothing, if the base contains
     * the rows already. The last write before a crash was then a base.
     */
    public boolean replay(Pipeline pipeline, byte[] key, byte[] stored) {
        RowLayout.Rows rows = layout.readRows(stored, rows());
        if (rows == null) {
            return false;
        }
        pipeline.replayRows(key, rows.seconds(), rows.numbers());
        rowsSince += rows.seconds().length;
        replayedRows += rows.seconds().length;
        return true;
    }

    // ---- Rows ----

    /** Adds a row that the model has learned. It waits until {@link #takeRows} or {@link #takeBase}. */
    public void add(double seconds, double[] row) {
        int rowNumbers = 1 + layout.columns;
        if (used == waiting.length) {
            int rows = used / rowNumbers;
            waiting = Arrays.copyOf(waiting, (rows + Math.max(2, rows / 2)) * rowNumbers);
        }
        waiting[used] = seconds;
        System.arraycopy(row, 0, waiting, used + 1, layout.columns);
        used += rowNumbers;
        rowsSince++;
    }

    /** Whether rows wait. */
    public boolean hasWaiting() {
        return used > 0;
    }

    /** The heap of the waiting rows in bytes, with the room for more. */
    public long waitingBytes() {
        return (long) waiting.length * Double.BYTES;
    }

    /** Returns the waiting rows as bytes for the store. They no longer wait. */
    public byte[] takeRows() {
        byte[] stored = layout.writeRows(rows() - layout.count(used), waiting, used);
        clear();
        return stored;
    }

    private void clear() {
        used = 0;
        waiting = NO_ROOM;
    }

    /** The number of rows learned. Pieces do not count the rows of a base that was loaded. */
    public long rows() {
        return baseRows + rowsSince;
    }

    /** The rows since the base, stored or waiting. */
    public long rowsSince() {
        return rowsSince;
    }

    /** The size of the rows since the base in the store, without the heads of pieces or entries. */
    public long rowsSinceBytes() {
        return rowsSince * RowLayout.rowBytes(layout.columns);
    }

    /** The rows that were replayed to restore the model; 0 after a new base. */
    public long replayedRows() {
        return replayedRows;
    }

    // ---- Bases ----

    /** Whether a base is due because of the number of rows since. */
    public boolean isBaseDueByRows(long every) {
        return rowsSince >= every;
    }

    /**
     * Whether a base is due because it takes fewer bytes than the rows since. {@code first} shifts the
     * first base. With 0.5 to 1.5, chosen by the key, keys that started together do not all write
     * their bases at once.
     */
    public boolean isBaseDueBySize(long modelBytes, double first) {
        return rowsSinceBytes() >= (hasBase ? 1 : first) * modelBytes;
    }

    /** Returns a new base for the store. It replaces all rows of the key, also those that wait. */
    public byte[] takeBase(Pipeline pipeline, byte[] key) {
        byte[] stored = layout.writeBase(rows(), pipeline.saveKey(key));
        clear();
        hasBase = true;
        baseRows += rowsSince;
        rowsSince = 0;
        replayedRows = 0;
        return stored;
    }
}

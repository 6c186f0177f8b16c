package oif.flink;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Rows that a key has learned since its base, and their format as a piece of the log in Flink's state.
 *
 * <pre>
 * format  behavior  columns  count  { seconds number number ... } x count
 * byte    int        int      int    double
 * </pre>
 *
 * <p>The version of oif that restores a log replays it. The behavior number identifies the version
 * that scored the rows. A version that may score differently refuses them.
 */
final class RowLog {
    private static final byte FORMAT = 1;
    private static final int HEAD_BYTES = 1 + 3 * Integer.BYTES;

    private static final double[] NO_ROOM = {};

    private double[] numbers = NO_ROOM; // an entry without waiting rows needs no heap
    private int used;
    private final int rowNumbers;

    RowLog(int columns) {
        rowNumbers = 1 + columns;
    }

    void add(double seconds, double[] row) {
        if (used == numbers.length) {
            int rows = used / rowNumbers;
            numbers = Arrays.copyOf(numbers, (rows + Math.max(2, rows / 2)) * rowNumbers);
        }
        numbers[used] = seconds;
        System.arraycopy(row, 0, numbers, used + 1, row.length);
        used += rowNumbers;
    }

    boolean isEmpty() {
        return used == 0;
    }

    /** The heap in use, in bytes, with the room for more rows. */
    long heapBytes() {
        return (long) numbers.length * Double.BYTES;
    }

    /** The size of a row in the state. */
    static long rowBytes(int columns) {
        return (1L + columns) * Double.BYTES;
    }

    /** Returns the rows as a piece of the log and removes them. */
    byte[] take(int behavior) {
        ByteBuffer buffer = ByteBuffer.allocate(HEAD_BYTES + used * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(FORMAT).putInt(behavior).putInt(rowNumbers - 1).putInt(used / rowNumbers);
        for (int i = 0; i < used; i++) {
            buffer.putDouble(numbers[i]);
        }
        clear();
        return buffer.array();
    }

    /** Joins pieces of the same behavior and columns into one. */
    static byte[] join(List<byte[]> pieces) {
        int bytes = HEAD_BYTES;
        int rows = 0;
        for (byte[] piece : pieces) {
            bytes += piece.length - HEAD_BYTES;
            rows += littleEndian(piece).getInt(HEAD_BYTES - Integer.BYTES);
        }
        ByteBuffer joined = littleEndian(Arrays.copyOf(pieces.get(0), bytes));
        joined.putInt(HEAD_BYTES - Integer.BYTES, rows).position(pieces.get(0).length);
        for (byte[] piece : pieces.subList(1, pieces.size())) {
            joined.put(piece, HEAD_BYTES, piece.length - HEAD_BYTES);
        }
        return joined.array();
    }

    private static ByteBuffer littleEndian(byte[] piece) {
        return ByteBuffer.wrap(piece).order(ByteOrder.LITTLE_ENDIAN);
    }

    void clear() {
        used = 0;
        numbers = NO_ROOM;
    }

    /** The rows of a piece of the log. */
    record Rows(double[] seconds, double[] numbers) {}

    static Rows read(byte[] piece, int columns, int behavior) {
        ByteBuffer buffer = littleEndian(piece);
        byte format = piece.length < HEAD_BYTES ? 0 : buffer.get();
        if (format != FORMAT) {
            throw new IllegalStateException("the log has format " + format + ", which this version of oif does not support");
        }
        int written = buffer.getInt();
        int writtenColumns = buffer.getInt();
        int count = buffer.getInt();
        if (written != behavior) {
            throw new IllegalStateException("the state contains rows scored by oif with behavior " + written + "; this version has behavior "
                    + behavior + " and may score them differently. Restore the job with the old version and basesOnly(true), "
                    + "stop it with a savepoint, and start this version from that savepoint");
        }
        if (writtenColumns != columns) {
            throw new IllegalStateException("the state has rows of " + writtenColumns + " columns, but the job has " + columns
                    + " columns; the columns of a model cannot change: start over with another uid()");
        }
        if (buffer.remaining() != (long) count * rowBytes(columns)) {
            throw new IllegalStateException("a piece of the log is damaged: " + piece.length + " bytes for " + count + " rows");
        }
        Rows rows = new Rows(new double[count], new double[count * columns]);
        for (int i = 0, at = 0; i < count; i++) {
            rows.seconds[i] = buffer.getDouble();
            for (int column = 0; column < columns; column++) {
                rows.numbers[at++] = buffer.getDouble();
            }
        }
        return rows;
    }
}

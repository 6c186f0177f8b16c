package oif.flink;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Rows as a piece of the log in Flink's state: what a key has learned since its base.
 *
 * <pre>
 * format  behavior  columns  count  { seconds number number ... } x count
 * byte    int        int      int    double
 * </pre>
 *
 * <p>A log is replayed by the library that restores it. The behavior number says which rules gave
 * the rows their results, so that no other library replays them unnoticed.
 */
final class RowLog {
    private static final byte FORMAT = 1;
    private static final int HEAD_BYTES = 1 + 3 * Integer.BYTES;

    private static final double[] NO_ROOM = {};

    private double[] numbers = NO_ROOM; // models that only wait for rows take no heap for them
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

    /** What the rows take. */
    long bytes() {
        return (long) used * Double.BYTES;
    }

    /** What they take on the heap, with the room for more. */
    long heapBytes() {
        return (long) numbers.length * Double.BYTES;
    }

    /** What one row takes in the state. */
    static long rowBytes(int columns) {
        return (1L + columns) * Double.BYTES;
    }

    /** The rows as a piece of the log; afterwards there are none. */
    byte[] take(int behavior) {
        ByteBuffer buffer = ByteBuffer.allocate(HEAD_BYTES + used * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(FORMAT).putInt(behavior).putInt(rowNumbers - 1).putInt(used / rowNumbers);
        for (int i = 0; i < used; i++) {
            buffer.putDouble(numbers[i]);
        }
        clear();
        return buffer.array();
    }

    /** One piece of several, all of this behavior and these columns. */
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
            throw new IllegalStateException("a log of format " + format + ", which this version of oif does not know");
        }
        int written = buffer.getInt();
        int writtenColumns = buffer.getInt();
        int count = buffer.getInt();
        if (written != behavior) {
            throw new IllegalStateException("the state holds rows that oif with behavior " + written + " has scored, and this is behavior "
                    + behavior + ", which may score them differently. Restore with the version that wrote it, with basesOnly(true), "
                    + "stop with a savepoint, and go on from that with this version");
        }
        if (writtenColumns != columns) {
            throw new IllegalStateException("the state is about rows of " + writtenColumns + " numbers, and the job has " + columns
                    + " columns; models cannot change their columns: give the operator another uid to start over");
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

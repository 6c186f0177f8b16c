package oif;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import oif.StoredRowsException.Reason;

/**
 * The bytes of a base and of the rows since, as a store has them. {@link BaseAndRows} writes and reads
 * them. Stores have states of both layouts, so neither may change.
 */
public abstract sealed class RowLayout {
    final int columns;

    private RowLayout(int columns) {
        this.columns = columns;
    }

    /**
     * Rows in pieces of any length, for a store that changes the base and the pieces of a key together.
     * The base is the snapshot. A piece is little-endian:
     *
     * <pre>
     * format  behavior  columns  count  { seconds number number ... } x count
     * byte    int       int      int    double
     * </pre>
     *
     * <p>{@code behavior} is {@link Oif#behavior}. A version that may score the rows differently refuses
     * them.
     */
    public static RowLayout pieces(int columns, int behavior) {
        return new Pieces(columns, behavior);
    }

    /**
     * One entry per row, for a store whose entries are reused. Big-endian:
     *
     * <pre>
     * base   rows    snapshot                     rows: learned until the base
     *        long    bytes
     *
     * row    number  seconds number number ...    number: from 0, since the key was new
     *        long    double
     * </pre>
     *
     * <p>A row is valid if its number is the next one. Rows with lower numbers are contained in the base.
     */
    public static RowLayout numbered(int columns) {
        return new Numbered(columns);
    }

    /** The size of a row with this number of columns, without the head of its piece or entry. */
    public static long rowBytes(int columns) {
        return (1L + columns) * Double.BYTES;
    }

    /** Joins the pieces of a key into one. */
    public static byte[] join(List<byte[]> pieces) {
        return Pieces.joined(pieces);
    }

    /** A base: a snapshot, and the rows learned until then; 0 if the layout does not count them. */
    record Base(long rows, byte[] snapshot) {}

    /** Rows as {@link Pipeline#replayRows} takes them. */
    record Rows(double[] seconds, double[] numbers) {}

    abstract byte[] writeBase(long rows, byte[] snapshot);

    abstract Base readBase(byte[] stored);

    /** The bytes of rows, of which {@code first} is the number of the first one. */
    abstract byte[] writeRows(long first, double[] numbers, int used);

    /** Returns null for a row that the base contains. {@code next} is the number of the row to come. */
    abstract Rows readRows(byte[] stored, long next);

    final int count(int used) {
        return used / (1 + columns);
    }

    static byte[] put(ByteBuffer buffer, double[] numbers, int used) {
        for (int i = 0; i < used; i++) {
            buffer.putDouble(numbers[i]);
        }
        return buffer.array();
    }

    final Rows take(ByteBuffer buffer, int count) {
        Rows rows = new Rows(new double[count], new double[count * columns]);
        for (int i = 0, at = 0; i < count; i++) {
            rows.seconds[i] = buffer.getDouble();
            for (int column = 0; column < columns; column++) {
                rows.numbers[at++] = buffer.getDouble();
            }
        }
        return rows;
    }

    private static final class Pieces extends RowLayout {
        private static final byte FORMAT = 1;
        private static final int HEAD_BYTES = 1 + 3 * Integer.BYTES;

        private final int behavior;

        Pieces(int columns, int behavior) {
            super(columns);
            this.behavior = behavior;
        }

        @Override
        byte[] writeBase(long rows, byte[] snapshot) {
            return snapshot;
        }

        @Override
        Base readBase(byte[] stored) {
            return new Base(0, stored);
        }

        @Override
        byte[] writeRows(long first, double[] numbers, int used) {
            ByteBuffer buffer = littleEndian(new byte[HEAD_BYTES + used * Double.BYTES]);
            buffer.put(FORMAT).putInt(behavior).putInt(columns).putInt(count(used));
            return put(buffer, numbers, used);
        }

        @Override
        Rows readRows(byte[] stored, long next) {
            ByteBuffer buffer = littleEndian(stored);
            byte format = stored.length < HEAD_BYTES ? 0 : buffer.get();
            if (format != FORMAT) {
                throw new StoredRowsException(
                        Reason.FORMAT, "the log has format " + format + ", which this version of oif does not support");
            }
            int written = buffer.getInt();
            int writtenColumns = buffer.getInt();
            int count = buffer.getInt();
            if (written != behavior) {
                throw new StoredRowsException(Reason.BEHAVIOR, "the state contains rows scored by oif with behavior " + written
                        + "; this version has behavior " + behavior + " and may score them differently");
            }
            if (writtenColumns != columns) {
                throw new StoredRowsException(Reason.COLUMNS, "the state has rows of " + writtenColumns
                        + " columns, but the pipeline has " + columns + " columns");
            }
            if (buffer.remaining() != count * rowBytes(columns)) {
                throw new StoredRowsException(
                        Reason.DAMAGED, "a piece of the log is damaged: " + stored.length + " bytes for " + count + " rows");
            }
            return take(buffer, count);
        }

        static byte[] joined(List<byte[]> pieces) {
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

        private static ByteBuffer littleEndian(byte[] bytes) {
            return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    private static final class Numbered extends RowLayout {
        Numbered(int columns) {
            super(columns);
        }

        @Override
        byte[] writeBase(long rows, byte[] snapshot) {
            return ByteBuffer.allocate(Long.BYTES + snapshot.length).putLong(rows).put(snapshot).array();
        }

        @Override
        Base readBase(byte[] stored) {
            long rows = stored.length < Long.BYTES ? -1 : ByteBuffer.wrap(stored).getLong();
            if (rows < 0) {
                throw new StoredRowsException(Reason.DAMAGED, "a base is damaged: it has no number of rows");
            }
            return new Base(rows, Arrays.copyOfRange(stored, Long.BYTES, stored.length));
        }

        @Override
        byte[] writeRows(long first, double[] numbers, int used) {
            if (count(used) != 1) {
                throw new IllegalStateException(count(used) + " rows for an entry, which has one row");
            }
            return put(ByteBuffer.allocate(Long.BYTES + used * Double.BYTES).putLong(first), numbers, used);
        }

        @Override
        Rows readRows(byte[] stored, long next) {
            if (stored.length != Long.BYTES + rowBytes(columns)) {
                throw new StoredRowsException(
                        Reason.DAMAGED, "a row has " + stored.length + " bytes, and a row of " + columns + " columns has "
                                + (Long.BYTES + rowBytes(columns)) + ": it is damaged, or the number of columns has changed");
            }
            ByteBuffer buffer = ByteBuffer.wrap(stored);
            long number = buffer.getLong();
            if (number > next) {
                throw new StoredRowsException(
                        Reason.DAMAGED, "row " + number + " is stored where row " + next + " should be: the base before it is lost");
            }
            return number < next ? null : take(buffer, 1);
        }
    }
}

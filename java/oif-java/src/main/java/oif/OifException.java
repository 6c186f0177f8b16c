package oif;

import java.nio.charset.StandardCharsets;

/** A call of the library failed. Nothing has changed: a failing call has no effect. */
public final class OifException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What kind of failure it was. The names are those of {@code oif_status} in oif.h. */
    public enum Status {
        OK,
        END,
        /** A parameter is unknown or out of range. */
        PARAM,
        /** A value cannot be used, such as an infinity in a row. */
        VALUE,
        /** Not enough memory. */
        MEMORY,
        INPUT,
        READ,
        INVARIANT,
        WRITE,
        /** The bytes are not a snapshot, or a snapshot of something else. */
        KIND,
        /** The snapshot was written by a newer version of oif. */
        VERSION,
        /** The snapshot is cut off. */
        TRUNCATED,
        /** The snapshot is damaged. */
        CORRUPT,
        BUSY
    }

    private final Status status;
    private final long line;
    private final long column;

    /** Called by the native code: the message is UTF-8 and may hold bytes that are not. */
    OifException(int status, byte[] message, long line, long column) {
        super(new String(message, StandardCharsets.UTF_8));
        this.status = Status.values()[status];
        this.line = line;
        this.column = column;
    }

    public Status status() {
        return status;
    }

    /** The row of a block, from 1; 0 if unknown. */
    public long line() {
        return line;
    }

    /** The column of the row, from 1; 0 if unknown. */
    public long column() {
        return column;
    }
}

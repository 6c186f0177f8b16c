package oif;

import java.nio.charset.StandardCharsets;

/**
 * A call of the library failed. A failed call has no effect, with one exception: {@link
 * Pipeline#processRows} and {@link Pipeline#replayRows} process the rows before a bad row, whose
 * number is {@link #line}.
 */
public final class OifException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The kind of failure. The names are those of {@code oif_status} in oif.h. */
    public enum Status {
        /** Never thrown. */
        OK,
        /** Never thrown: the binding reads no text. */
        END,
        /** A parameter is unknown or out of range. */
        PARAM,
        /** A value cannot be used, such as an infinity in a row. */
        VALUE,
        /** Not enough memory, or a size that no machine can hold. */
        MEMORY,
        /** Never thrown: the binding reads no text. */
        INPUT,
        /** Never thrown: the binding reads no files. */
        READ,
        /** An invariant is broken: a defect of oif, or memory overwritten. */
        INVARIANT,
        /** Never thrown: the binding writes no files. */
        WRITE,
        /** The bytes are not a snapshot, or a snapshot of something else. */
        KIND,
        /** The snapshot was written by a newer version of oif. */
        VERSION,
        /** The snapshot is cut off. */
        TRUNCATED,
        /** The snapshot is damaged. */
        CORRUPT,
        /** Never thrown: the binding opens no state files. */
        BUSY
    }

    private final Status status;
    private final long line;
    private final long column;
    private final String causeName;

    /** Called by native code. The message is UTF-8, but may contain invalid bytes. */
    OifException(int status, byte[] message, long line, long column, String causeName) {
        super(new String(message, StandardCharsets.UTF_8));
        this.status = Status.values()[status];
        this.line = line;
        this.column = column;
        this.causeName = causeName;
    }

    /** The kind of failure. */
    public Status status() {
        return status;
    }

    /**
     * Why, more exactly than the status: {@code "infinite_value"}, {@code "unknown_parameter"},
     * {@code "wrong_checksum"}, and so on; {@code ""} if the status says it all. The names are those
     * of {@code oif_cause} in oif.h, in lower case. They stay, while messages may change.
     */
    public String causeName() {
        return causeName;
    }

    /** The number of the bad row in a block, from 1; 0 if unknown. */
    public long line() {
        return line;
    }

    /** The number of the bad column, from 1; 0 if unknown. */
    public long column() {
        return column;
    }
}

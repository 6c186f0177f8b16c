package oif;

/**
 * A stored base or stored rows cannot be used. The model of the key is not restored. {@link #reason}
 * identifies the failure; the program knows the remedy.
 */
public final class StoredRowsException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /** Why stored bytes cannot be used. */
    public enum Reason {
        /** The bytes have a format that this version does not know. */
        FORMAT,
        /** Another version of oif scored the rows, and this one may score them differently. */
        BEHAVIOR,
        /** The rows have another number of columns than the pipeline. */
        COLUMNS,
        /** The bytes are cut off or damaged, or the base before the rows is lost. */
        DAMAGED
    }

    private final Reason reason;

    StoredRowsException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Why the bytes cannot be used. */
    public Reason reason() {
        return reason;
    }
}

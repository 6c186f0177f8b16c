package oif;

/** What is learned instead of a column, or in addition to it. The order is that of oif_derive. */
public enum Derive {
    /** The column itself. */
    NONE,
    /** The value minus that of the previous row. */
    DIFF,
    /** The increase of a counter per second. */
    RATE,
    /** The natural logarithm. */
    LOG,
    /** A name, as a number of {@link Pipeline#category}: rare and new names are anomalies. */
    CATEGORY
}

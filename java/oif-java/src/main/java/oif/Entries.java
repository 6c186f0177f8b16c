package oif;

/** Gets the entries of a list from native code, one after another. */
@FunctionalInterface
interface Entries {
    /** Adds an entry. A text is null if there is none. */
    void add(byte[][] texts, double[] numbers);
}

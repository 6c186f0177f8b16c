package oif;

/**
 * A season of a key: after how much its rows repeat themselves.
 *
 * @param rows the period in rows; 0 if it is in seconds
 * @param seconds the period in seconds; 0 if it is in rows
 * @param wasFound whether the pipeline found it; otherwise an option gave it
 * @param strength 0 to 1, in the column where it is strongest; 0 while unknown
 * @param column the index of that learned column, from 0
 */
public record Season(double rows, double seconds, boolean wasFound, double strength, int column) {
    static Season from(double[] n) {
        return new Season(n[0], n[1], n[2] != 0, n[3], (int) n[4]);
    }
}

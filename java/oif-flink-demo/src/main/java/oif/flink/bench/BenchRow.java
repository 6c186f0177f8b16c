package oif.flink.bench;

/**
 * A row of the benchmark. A row is a function of its number, so benchmarks/keyed.c generates the same
 * rows.
 */
public class BenchRow {
    static final int COLUMNS = 10;

    public String key;
    public double[] numbers;

    public BenchRow() {}

    /** A row of a pseudo-random key. */
    static BenchRow of(long row, String[] keys) {
        return of(row, keys[(int) ((mix(16 * row + 15) >>> 33) % keys.length)]);
    }

    static BenchRow of(long row, String key) {
        BenchRow made = new BenchRow();
        made.key = key;
        made.numbers = new double[COLUMNS];
        for (int column = 0; column < COLUMNS; column++) {
            made.numbers[column] = (mix(16 * row + column) >>> 11) * 0x1p-53;
        }
        return made;
    }

    static String[] keys(int count) {
        String[] keys = new String[count];
        for (int i = 0; i < count; i++) {
            keys[i] = "key-" + i;
        }
        return keys;
    }

    private static long mix(long x) {
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L + 0x9E3779B97F4A7C15L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }
}

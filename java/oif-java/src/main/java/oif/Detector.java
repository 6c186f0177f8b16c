package oif;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * Learns rows and scores them.
 *
 * <pre>{@code
 * try (Detector detector = new Detector(Params.of("online-iforest"), 2)) {
 *     double score = detector.learnScore(new double[] {0.5, 7});
 * }
 * }</pre>
 *
 * <p>Threads that share a detector take turns: a call waits until the call of another thread has
 * returned. The order of their rows, and so the scores, then depends on which thread comes first.
 */
public final class Detector implements AutoCloseable {
    private final Handle handle;
    private final int columns;

    /** Creates a detector for rows of {@code columns} numbers. */
    public Detector(Params params, int columns) {
        this(Native.detectorNew(params.ofDetector().detectorBytes(), params.names(), params.texts(), columns));
    }

    private Detector(long address) {
        columns = Native.detectorColumns(address); // before the handle, which may free the address
        handle = new Handle(address, Native::detectorFree);
    }

    /** Loads a snapshot. The detector continues as the saved one would, bit for bit. */
    public static Detector load(byte[] snapshot) {
        return new Detector(Native.detectorLoad(snapshot));
    }

    /** Returns a snapshot of the detector. */
    public byte[] save() {
        return handle.ask(Native::detectorSave);
    }

    /** Loads a file that {@link #saveFile} or another program has written. */
    public static Detector loadFile(Path file) {
        return new Detector(Native.detectorLoadFile(Pipeline.utf8(file.toString())));
    }

    /** Saves a snapshot to a file. After a crash, the file has the new snapshot or the one before. */
    public void saveFile(Path file) {
        byte[] path = Pipeline.utf8(file.toString());
        handle.run(address -> Native.detectorSaveFile(address, path));
    }

    /** Returns a copy with everything that was learned. The copy uses one thread. */
    public Detector copy() {
        return new Detector(handle.ask(Native::detectorCopy));
    }

    /** Learns one row. NaN is a missing number. */
    public void learn(double... row) {
        long address = handle.take();
        try {
            Native.detectorLearn(address, checked(row));
        } finally {
            handle.release();
        }
    }

    /** Scores a row without learning it. */
    public double score(double... row) {
        long address = handle.take();
        try {
            return Native.detectorScore(address, checked(row));
        } finally {
            handle.release();
        }
    }

    /** Learns a row, then scores it. This is the order of the paper. */
    public double learnScore(double... row) {
        long address = handle.take();
        try {
            return Native.detectorLearnScore(address, checked(row));
        } finally {
            handle.release();
        }
    }

    /** Scores a row, then learns it. The row does not affect its own score. */
    public double scoreLearn(double... row) {
        long address = handle.take();
        try {
            return Native.detectorScoreLearn(address, checked(row));
        } finally {
            handle.release();
        }
    }

    /** Learns several rows in one call. {@code rows} contains them one after another. */
    public void learnRows(double[] rows) {
        countOf(rows);
        handle.run(address -> Native.detectorLearnRows(address, rows));
    }

    /** Scores several rows in one call, without learning them. */
    public double[] scoreRows(double[] rows) {
        double[] scores = new double[countOf(rows)];
        handle.run(address -> Native.detectorScoreRows(address, rows, scores));
        return scores;
    }

    /** Learns and scores several rows in one call. {@code rows} contains them one after another. */
    public double[] learnScoreRows(double[] rows) {
        double[] scores = new double[countOf(rows)];
        handle.run(address -> Native.detectorLearnScoreRows(address, rows, scores));
        return scores;
    }

    /** Scores and learns several rows in one call, each as {@link #scoreLearn}. */
    public double[] scoreLearnRows(double[] rows) {
        double[] scores = new double[countOf(rows)];
        handle.run(address -> Native.detectorScoreLearnRows(address, rows, scores));
        return scores;
    }

    private int countOf(double[] rows) {
        if (rows.length % columns != 0) {
            throw new IllegalArgumentException(rows.length + " numbers are not a multiple of " + columns + " columns");
        }
        return rows.length / columns;
    }

    /** Forgets all rows. The names of the columns and the threads stay. */
    public void reset() {
        handle.run(Native::detectorReset);
    }

    /**
     * How much each column contributes to the score of a row: shares that add up to 1, or are all 0 if no
     * single column matters. Costs one score per column.
     */
    public double[] explain(double... row) {
        return handle.ask(address -> Native.detectorExplain(address, checked(row)));
    }

    /** How many threads, 1 to 16, share the work on blocks of rows. The scores stay the same. */
    public void setThreads(int threads) {
        handle.run(address -> Native.detectorSetThreads(address, threads));
    }

    /** All parameters, also those that were not set. */
    public Params params() {
        Params.Collector found = new Params.Collector();
        handle.run(address -> Native.detectorParams(address, found));
        return found.ofDetector();
    }

    /** Figures about what was learned, such as leaves and their depths, by their names. */
    public Map<String, Double> describe() {
        Map<String, Double> figures = new LinkedHashMap<>();
        handle.run(address ->
                Native.detectorDescribe(address, (texts, n) -> figures.put(Pipeline.text(texts[0]), n[0])));
        return figures;
    }

    /** Names the columns. Copies and snapshots keep the names. */
    public void nameColumns(List<String> names) {
        byte[][] texts = Params.utf8(names); // native code reads as many as there are columns
        if (texts.length != columns) {
            throw new IllegalArgumentException(texts.length + " names for " + columns + " columns");
        }
        handle.run(address -> Native.detectorNameColumns(address, texts));
    }

    /** The name of a column; null if it has none. */
    public String columnName(int column) {
        if (column < 0 || column >= columns) {
            throw new IndexOutOfBoundsException("column " + column + " of " + columns);
        }
        byte[] name = handle.ask(address -> Native.detectorColumnName(address, column));
        return name == null ? null : Pipeline.text(name);
    }

    /** Asks about the detector in a turn of its own. */
    <T> T ask(LongFunction<T> question) {
        return handle.ask(question);
    }

    /** The number of columns. */
    public int columns() {
        return columns;
    }

    /** The number of rows learned. */
    public long rowsLearned() {
        return handle.ask(Native::detectorRows);
    }

    /** The native memory in use, in bytes. */
    public long memoryBytes() {
        return handle.ask(Native::detectorMemory);
    }

    /** Whether the detector has learned enough rows for meaningful scores. */
    public boolean isReady() {
        return handle.ask(Native::detectorReady);
    }

    /**
     * Frees the native memory. Waits for a call of another thread that is under way. Calls that wait, and
     * later ones, throw IllegalStateException; closing twice is allowed.
     */
    @Override
    public void close() {
        handle.close();
    }

    private double[] checked(double[] row) {
        if (row.length != columns) {
            throw new IllegalArgumentException("expected a row of " + columns + " columns, not " + row.length);
        }
        return row;
    }
}

package oif;

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

    /** Learns and scores several rows in one call. {@code rows} contains them one after another. */
    public double[] learnScoreRows(double[] rows) {
        if (rows.length % columns != 0) {
            throw new IllegalArgumentException(rows.length + " numbers are not a multiple of " + columns + " columns");
        }
        double[] scores = new double[rows.length / columns];
        handle.run(address -> Native.detectorLearnScoreRows(address, rows, scores));
        return scores;
    }

    /**
     * How much each column contributes to the score of a row: shares that add up to 1, or are all 0 if no
     * single column matters. Costs one score per column.
     */
    public double[] explain(double... row) {
        return handle.ask(address -> Native.detectorExplain(address, checked(row)));
    }

    /** How many threads, 1 to 16, share the work of {@link #learnScoreRows}. The scores stay the same. */
    public void setThreads(int threads) {
        handle.run(address -> Native.detectorSetThreads(address, threads));
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
            throw new IllegalArgumentException("a row of " + row.length + " numbers; the detector has " + columns + " columns");
        }
        return row;
    }
}

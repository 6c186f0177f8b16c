package oif;

import java.lang.ref.Reference;

/**
 * Learns rows and scores them. Not thread-safe.
 *
 * <pre>{@code
 * try (Detector detector = new Detector(Params.of("online-iforest"), 2)) {
 *     double score = detector.learnScore(new double[] {0.5, 7});
 * }
 * }</pre>
 */
public final class Detector implements AutoCloseable {
    private final Handle handle;
    private final int columns;

    /** Creates a detector for rows of {@code columns} numbers. */
    public Detector(Params params, int columns) {
        this(Native.detectorNew(params.detectorBytes(), params.names(), params.texts(), columns));
    }

    private Detector(long address) {
        handle = new Handle(this, address, Native::detectorFree);
        columns = Native.detectorColumns(address);
    }

    /** Loads a snapshot. The detector continues as the saved one would, bit for bit. */
    public static Detector load(byte[] snapshot) {
        return new Detector(Native.detectorLoad(snapshot));
    }

    /** Returns a snapshot of the detector. */
    public byte[] save() {
        try {
            return Native.detectorSave(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Learns one row. NaN is a missing number. */
    public void learn(double... row) {
        try {
            Native.detectorLearn(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Scores a row without learning it. */
    public double score(double... row) {
        try {
            return Native.detectorScore(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Learns a row, then scores it. This is the order of the paper. */
    public double learnScore(double... row) {
        try {
            return Native.detectorLearnScore(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Scores a row, then learns it. The row does not affect its own score. */
    public double scoreLearn(double... row) {
        try {
            return Native.detectorScoreLearn(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Learns and scores several rows in one call. {@code rows} contains them one after another. */
    public double[] learnScoreRows(double[] rows) {
        if (rows.length % columns != 0) {
            throw new IllegalArgumentException(rows.length + " numbers are not a multiple of " + columns + " columns");
        }
        double[] scores = new double[rows.length / columns];
        try {
            Native.detectorLearnScoreRows(handle.address(), rows, scores);
        } finally {
            Reference.reachabilityFence(this);
        }
        return scores;
    }

    /** The number of columns. */
    public int columns() {
        return columns;
    }

    /** The number of rows learned. */
    public long rowsLearned() {
        try {
            return Native.detectorRows(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The native memory in use, in bytes. */
    public long memoryBytes() {
        try {
            return Native.detectorMemory(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Whether the detector has learned enough rows for meaningful scores. */
    public boolean isReady() {
        try {
            return Native.detectorReady(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Frees the native memory. Later calls throw IllegalStateException; closing twice is allowed. */
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

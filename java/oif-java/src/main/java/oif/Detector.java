package oif;

import java.lang.ref.Reference;

/**
 * A detector: learns rows and scores them. Not for several threads at once.
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

    /** A detector for rows of {@code columns} numbers. */
    public Detector(Params params, int columns) {
        this(Native.detectorNew(params.detectorBytes(), params.names(), params.texts(), columns));
    }

    private Detector(long address) {
        handle = new Handle(this, address, Native::detectorFree);
        columns = Native.detectorColumns(address);
    }

    /** One that goes on where the saved one was, bit for bit. */
    public static Detector load(byte[] snapshot) {
        return new Detector(Native.detectorLoad(snapshot));
    }

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

    /** The score of a row, which is not learned. */
    public double score(double... row) {
        try {
            return Native.detectorScore(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Learns a row, then scores it: the order of the paper. */
    public double learnScore(double... row) {
        try {
            return Native.detectorLearnScore(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Scores a row, then learns it: what the row looked like before it was known. */
    public double scoreLearn(double... row) {
        try {
            return Native.detectorScoreLearn(handle.address(), checked(row));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Learns and scores rows that stand behind each other in {@code rows}, one call for all. */
    public double[] learnScoreRows(double[] rows) {
        if (rows.length % columns != 0) {
            throw new IllegalArgumentException(rows.length + " numbers are no whole rows of " + columns);
        }
        double[] scores = new double[rows.length / columns];
        try {
            Native.detectorLearnScoreRows(handle.address(), rows, scores);
        } finally {
            Reference.reachabilityFence(this);
        }
        return scores;
    }

    public int columns() {
        return columns;
    }

    /** How many rows it has learned. */
    public long rowsLearned() {
        try {
            return Native.detectorRows(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The native memory that it takes. */
    public long memoryBytes() {
        try {
            return Native.detectorMemory(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Whether enough was learned for scores to mean something. */
    public boolean isReady() {
        try {
            return Native.detectorReady(handle.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Frees the native memory. Later calls throw; closing twice is allowed. */
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

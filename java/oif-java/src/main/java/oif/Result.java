package oif;

/**
 * The result of one row.
 *
 * @param score the higher, the more anomalous; NaN while a shingle has too few rows
 * @param p fraction of recent scores at least that high
 * @param threshold higher scores are anomalous; infinite while too few are known
 * @param anomaly whether the row is anomalous
 * @param ready enough was learned; before that nothing is anomalous
 * @param learned the row was learned: it is part of what is normal now
 * @param hasNoModel there was no room for a model of this key: the score is NaN
 * @param episode where in an episode the row is
 * @param grade how bad it is
 * @param severity about one ordinary row in 10^severity scores as high
 * @param reason what is unusual about the row
 * @param pause seconds since the row before of its key; NaN if unknown
 */
public record Result(
        double score,
        double p,
        double threshold,
        boolean anomaly,
        boolean ready,
        boolean learned,
        boolean hasNoModel,
        Episode episode,
        Grade grade,
        double severity,
        Reason reason,
        double pause) {

    /** Anomalies that follow each other closely are one episode. */
    public enum Episode {
        NONE,
        BEGINS,
        LASTS,
        ENDS
    }

    /** How bad an anomaly is, by its severity. */
    public enum Grade {
        NONE,
        NOTE,
        WARNING,
        CRITICAL
    }

    /** What is unusual. */
    public enum Reason {
        VALUES,
        STUCK,
        SEASON,
        PARTNER,
        SILENCE,
        NEW_VALUE,
        RARE_VALUE
    }

    private static final Episode[] EPISODES = Episode.values();
    private static final Grade[] GRADES = Grade.values();
    private static final Reason[] REASONS = Reason.values();

    /** From the numbers that the native code writes, beginning at {@code at}. */
    static Result from(double[] numbers, int at) {
        return new Result(
                numbers[at],
                numbers[at + 1],
                numbers[at + 2],
                numbers[at + 3] != 0,
                numbers[at + 4] != 0,
                numbers[at + 5] != 0,
                numbers[at + 6] != 0,
                EPISODES[(int) numbers[at + 7]],
                GRADES[(int) numbers[at + 8]],
                numbers[at + 9],
                REASONS[(int) numbers[at + 10]],
                numbers[at + 11]);
    }
}

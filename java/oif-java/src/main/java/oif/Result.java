package oif;

import java.util.ArrayList;
import java.util.List;

/**
 * The result of one row.
 *
 * @param score what the detector says: higher means more anomalous; NaN until a shingle has enough rows;
 *     of several detectors, whose scores have no common scale, the severity
 * @param threshold higher severities are anomalous; infinite until ready
 * @param anomaly whether the row is anomalous
 * @param ready whether 48 rows of the key came before; until then no row is anomalous
 * @param learned whether the model learned the row, so it now counts as normal
 * @param hasNoModel whether there was no memory for a model of this key; the score is NaN
 * @param episode the position of the row in an episode
 * @param grade the severity as a grade
 * @param severity how rare such evidence is: one unit more is about a tenth as frequent; 0 until ready
 * @param reason what is unusual about the row
 * @param pause the seconds since the previous row of the key; NaN if unknown
 * @param rule the rule that held back the alert, or the row, from 1; 0 if none did
 */
public record Result(
        double score,
        double threshold,
        boolean anomaly,
        boolean ready,
        boolean learned,
        boolean hasNoModel,
        Episode episode,
        Grade grade,
        double severity,
        Reason reason,
        double pause,
        int rule) {

    /** Anomalies that follow each other closely form one episode. */
    public enum Episode {
        NONE,
        BEGINS,
        LASTS,
        ENDS
    }

    /** The grade of an anomaly, by its severity. */
    public enum Grade {
        NONE,
        NOTE,
        WARNING,
        CRITICAL
    }

    /** What is unusual about a row or a column. */
    public enum Reason {
        VALUES,
        JUMP,
        LEVEL,
        SPREAD,
        STUCK,
        MISSING,
        SEASON,
        PARTNER,
        SILENCE,
        NEW_VALUE,
        RARE_VALUE,
        FIRST_VALUE
    }

    private static final Episode[] EPISODES = Episode.values();
    private static final Grade[] GRADES = Grade.values();
    private static final Reason[] REASONS = Reason.values();

    /** Reads the numbers of several results. */
    static List<Result> listOf(double[] numbers) {
        List<Result> list = new ArrayList<>();
        for (int at = 0; at < numbers.length; at += Native.RESULT_NUMBERS) {
            list.add(from(numbers, at));
        }
        return list;
    }

    /** Reads the numbers that native code has written, from index {@code at}. */
    static Result from(double[] numbers, int at) {
        return new Result(
                numbers[at],
                numbers[at + 1],
                numbers[at + 2] != 0,
                numbers[at + 3] != 0,
                numbers[at + 4] != 0,
                numbers[at + 5] != 0,
                EPISODES[(int) numbers[at + 6]],
                GRADES[(int) numbers[at + 7]],
                numbers[at + 8],
                REASONS[(int) numbers[at + 9]],
                numbers[at + 10],
                (int) numbers[at + 11]);
    }
}

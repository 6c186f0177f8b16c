package oif;

/**
 * A past episode; why it began is by its first row.
 *
 * @param key its key; empty for rows without keys
 * @param number among the episodes of its key, from 1
 * @param firstRow among the rows of its key, from 1
 * @param firstSeconds the time of that row; NaN if unknown
 * @param severity of that row
 * @param column the learned column with the highest share; -1 if unknown
 * @param direction as in {@link Attribution}
 * @param change how far its value was outside what was expected; NaN if unknown
 * @param changeShare the same as a fraction of what was expected: 0.2 is 20%
 * @param reason what was unusual
 * @param isKeyCut whether the key is long, and only its first bytes are kept
 */
public record PastEpisode(
        String key,
        long number,
        long firstRow,
        double firstSeconds,
        double severity,
        int column,
        int direction,
        double change,
        double changeShare,
        Result.Reason reason,
        boolean isKeyCut) {

    static PastEpisode from(String key, double[] n) {
        return new PastEpisode(
                key,
                (long) n[0],
                (long) n[1],
                n[2],
                n[3],
                (int) n[4],
                (int) n[5],
                n[6],
                n[7],
                Result.Reason.values()[(int) n[8]],
                n[9] != 0);
    }
}

package oif;

/**
 * A key of a pipeline.
 *
 * @param key the key; empty for rows without keys
 * @param rows of this key that were processed
 * @param lastSeconds the latest time of a row; NaN if no row had one
 * @param memoryBytes the native memory of its model
 * @param isReady whether enough was learned
 * @param isInEpisode whether an episode is under way
 * @param isSilent whether {@link Pipeline#silent} has reported its current pause
 * @param isEvicted whether its model is not in memory; all of the above is then unknown
 */
public record KeyInfo(
        String key,
        long rows,
        double lastSeconds,
        long memoryBytes,
        boolean isReady,
        boolean isInEpisode,
        boolean isSilent,
        boolean isEvicted) {

    static KeyInfo from(String key, double[] n) {
        return new KeyInfo(key, (long) n[0], n[1], (long) n[2], n[3] != 0, n[4] != 0, n[5] != 0, n[6] != 0);
    }
}

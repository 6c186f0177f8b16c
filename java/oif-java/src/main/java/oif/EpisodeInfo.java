package oif;

/**
 * An episode of anomalies. Times are seconds since 1970, and NaN if unknown.
 *
 * @param number among the episodes of its key, from 1
 * @param firstRow among the rows of its key, from 1
 * @param firstSeconds the time of that row
 * @param lastSeconds the time of its last row so far
 * @param rows from the first to the last, including calm ones
 * @param anomalies among these rows
 * @param isOver whether it has ended
 * @param peakGrade the grade of its worst row
 * @param peakRow the worst row, by severity
 * @param peakScore its score
 * @param peakSeverity its severity
 * @param column the learned column with the highest share in that row; -1 unless {@link
 *     Pipeline#explain} was called right after it
 * @param direction as in {@link Attribution}
 * @param value of that column; NaN if missing
 * @param reason why that row is anomalous
 * @param size as in {@link Attribution}
 * @param usual as in {@link Attribution}
 */
public record EpisodeInfo(
        long number,
        long firstRow,
        double firstSeconds,
        double lastSeconds,
        long rows,
        long anomalies,
        boolean isOver,
        Result.Grade peakGrade,
        long peakRow,
        double peakScore,
        double peakSeverity,
        int column,
        int direction,
        double value,
        Result.Reason reason,
        double size,
        double usual) {

    static EpisodeInfo from(double[] n) {
        return new EpisodeInfo(
                (long) n[0],
                (long) n[1],
                n[2],
                n[3],
                (long) n[4],
                (long) n[5],
                n[6] != 0,
                Result.Grade.values()[(int) n[7]],
                (long) n[8],
                n[9],
                n[10],
                (int) n[11],
                (int) n[12],
                n[13],
                Result.Reason.values()[(int) n[14]],
                n[15],
                n[16]);
    }
}

package oif;

/**
 * The contribution of one column to the score of a row.
 *
 * @param column the index of the column, from 0
 * @param share 0 to 1; the shares of a row sum to 1, or are all 0
 * @param direction 1: higher than usual, -1: lower, 0: neither
 * @param reason what is unusual about the column
 * @param partner for {@link Result.Reason#PARTNER}: the column that this one no longer follows; otherwise -1
 * @param size of a jump, how much the value changed; of a level, how far it is from its level; of a
 *     spread, standard deviations; of what is stuck or missing, rows; otherwise NaN
 * @param usual the usual most of that; otherwise NaN
 */
public record Attribution(
        int column, double share, int direction, Result.Reason reason, int partner, double size, double usual) {
    static Attribution from(double[] numbers, int column) {
        int at = column * Native.ATTRIBUTION_NUMBERS;
        Result.Reason reason = Result.Reason.values()[(int) numbers[at + 2]];
        int partner = reason == Result.Reason.PARTNER ? (int) numbers[at + 3] : -1;
        return new Attribution(
                column, numbers[at], (int) numbers[at + 1], reason, partner, numbers[at + 4], numbers[at + 5]);
    }
}

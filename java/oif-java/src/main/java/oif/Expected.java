package oif;

/**
 * What was expected of one column in the last row.
 *
 * @param column the index of the learned column, from 0
 * @param value the value that came; NaN if it is missing
 * @param low the lowest value expected; NaN if unknown
 * @param high the highest value expected; NaN if unknown
 * @param basis what it was expected by: VALUES (recent rows), SEASON, PARTNER, JUMP (the row before), LEVEL or
 *     SPREAD (the level of the column)
 */
public record Expected(int column, double value, double low, double high, Result.Reason basis) {}

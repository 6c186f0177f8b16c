package oif;

/**
 * A learned column.
 *
 * @param column the column of the row that it comes from, from 0
 * @param derive how it is derived
 */
public record LearnedColumn(int column, Derive derive) {}

package oif;

import java.util.List;

/**
 * The judgement of a finished table.
 *
 * @param results one per row
 * @param chance in a table without anomalies, at most this share of the rows looks like one
 */
public record Table(List<Result> results, double chance) {}

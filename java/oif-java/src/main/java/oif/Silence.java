package oif;

/**
 * A key that was silent for too long.
 *
 * @param key the key; empty for rows without keys
 * @param since the time of its last row, in seconds since 1970
 * @param allowed the longest pause allowed, in seconds
 */
public record Silence(String key, double since, double allowed) {}

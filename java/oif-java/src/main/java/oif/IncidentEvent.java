package oif;

/**
 * The begin or the end of an episode.
 *
 * <pre>{@code
 * IncidentEvent.of("rack-1/host-7", seconds).withColumn("load").withSeverity(result.severity())
 * }</pre>
 *
 * @param stream where it is from; empty if there is only one
 * @param key the key; empty if there is none
 * @param column the main reason; empty if unknown
 * @param reason the main reason for people; empty if unknown
 * @param seconds the time of the data since 1970, or a number that grows with it, such as that of the
 *     row; NaN for that of the last event
 * @param severity at the end: the highest of the episode
 * @param episode its number among those of the key
 */
public record IncidentEvent(
        String stream, String key, String column, String reason, double seconds, double severity, long episode) {

    /** An event of a key at a time. */
    public static IncidentEvent of(String key, double seconds) {
        return new IncidentEvent("", key, "", "", seconds, 0, 0);
    }

    /** Returns a copy with another stream. */
    public IncidentEvent withStream(String other) {
        return new IncidentEvent(other, key, column, reason, seconds, severity, episode);
    }

    /** Returns a copy with another column. */
    public IncidentEvent withColumn(String other) {
        return new IncidentEvent(stream, key, other, reason, seconds, severity, episode);
    }

    /** Returns a copy with another reason. */
    public IncidentEvent withReason(String other) {
        return new IncidentEvent(stream, key, column, other, seconds, severity, episode);
    }

    /** Returns a copy with another severity. */
    public IncidentEvent withSeverity(double other) {
        return new IncidentEvent(stream, key, column, reason, seconds, other, episode);
    }

    /** Returns a copy with another episode. */
    public IncidentEvent withEpisode(long other) {
        return new IncidentEvent(stream, key, column, reason, seconds, severity, other);
    }
}

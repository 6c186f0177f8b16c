package oif;

import java.util.List;

/**
 * Episodes that began together. Times are seconds since 1970.
 *
 * @param number its number, from 1
 * @param members the episodes that belong to it
 * @param open those that have not ended
 * @param firstSeconds the earliest begin
 * @param lastSeconds the latest begin or end
 * @param severity the highest of all members
 * @param isOver whether it is over
 * @param worst the open member with the highest severity; of all if none is open
 * @param order the members in the order in which they were reported
 * @param shared what all members share
 */
public record Incident(
        long number,
        long members,
        long open,
        double firstSeconds,
        double lastSeconds,
        double severity,
        boolean isOver,
        Member worst,
        List<Member> order,
        List<Shared> shared) {

    /**
     * The incident that an episode belongs to.
     *
     * @param incident its number, from 1; 0 if there is none
     * @param isNew whether the episode begins the incident
     * @param joins whether the episode joins it; if neither, it was known already
     * @param isOver whether the episode was its last open one
     * @param peakBefore the highest severity of the incident before this event; 0 if there was none
     */
    public record Place(long incident, boolean isNew, boolean joins, boolean isOver, double peakBefore) {
        static Place from(double[] n) {
            return new Place((long) n[0], n[1] != 0, n[2] != 0, n[3] != 0, n[4]);
        }
    }

    /** An episode. {@code endSeconds} is NaN until it has ended. */
    public record Member(
            String stream,
            String key,
            String column,
            String reason,
            double seconds,
            double endSeconds,
            double severity,
            long episode) {
        static Member from(byte[][] texts, double[] n) {
            return new Member(
                    Pipeline.text(texts[0]),
                    Pipeline.text(texts[1]),
                    Pipeline.text(texts[2]),
                    Pipeline.text(texts[3]),
                    n[0],
                    n[1],
                    n[2],
                    (long) n[3]);
        }
    }

    /** What all members share: the column, or a part of the key. */
    public record Shared(boolean isColumn, String text) {
        static Shared from(byte[][] texts, double[] n) {
            return new Shared(n[0] != 0, Pipeline.text(texts[0]));
        }
    }

    static Incident from(long number, double[] n, List<Member> order, List<Shared> shared) {
        return new Incident(
                number,
                (long) n[0],
                (long) n[1],
                n[2],
                n[3],
                n[4],
                n[5] != 0,
                order.get((int) n[6]),
                List.copyOf(order),
                List.copyOf(shared));
    }
}

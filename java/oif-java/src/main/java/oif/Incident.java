package oif;

import java.util.List;

/**
 * Episodes that began together. Times are seconds since 1970.
 *
 * @param number its number, from 1
 * @param members the episodes that belong to it; {@code order} has those that were kept
 * @param open those kept that have not ended
 * @param firstSeconds the earliest begin
 * @param lastSeconds the latest begin or end
 * @param severity the highest of all members
 * @param isOver whether it is over
 * @param worst the member with the highest severity
 * @param order the members in the order in which they began
 * @param shared what the members share, more than chance explains: the most telling first
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
     * @param odds that the episode belongs to an incident that was there before
     */
    public record Place(long incident, boolean isNew, boolean joins, double odds) {
        static Place from(double[] n) {
            return new Place((long) n[0], n[1] != 0, n[2] != 0, n[3]);
        }
    }

    /** An episode. {@code endSeconds} is NaN until it has ended. */
    public record Member(
            String stream, String key, String column, double seconds, double endSeconds, double severity, long episode) {
        static Member from(byte[][] texts, double[] n) {
            return new Member(
                    Pipeline.text(texts[0]),
                    Pipeline.text(texts[1]),
                    Pipeline.text(texts[2]),
                    n[0],
                    n[1],
                    n[2],
                    (long) n[3]);
        }
    }

    /** What members can share. The order is that of oif_trait_kind. */
    public enum Trait {
        KEY_PART,
        COLUMN,
        STREAM
    }

    /** What members share: how many have it, and their share of all episodes that have it. */
    public record Shared(Trait kind, String text, long members, double share) {
        static Shared from(byte[][] texts, double[] n) {
            return new Shared(Trait.values()[(int) n[0]], Pipeline.text(texts[0]), (long) n[1], n[2]);
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

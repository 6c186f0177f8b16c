package oif;

/**
 * A rule that holds back episodes that were marked useless. {@link Pipeline#addRules} accepts it.
 *
 * @param rule its text
 * @param kindEpisodes past episodes of its kind: with the same column, direction and reason
 * @param kindHeld of these, those that it would have held back
 * @param kindUseless of these, those that were marked useless
 * @param trial what it would have done to all past episodes
 */
public record Proposal(String rule, int kindEpisodes, int kindHeld, int kindUseless, RuleTrial trial) {
    static Proposal from(String rule, double[] n) {
        return new Proposal(rule, (int) n[0], (int) n[1], (int) n[2], RuleTrial.from(n, 3));
    }
}

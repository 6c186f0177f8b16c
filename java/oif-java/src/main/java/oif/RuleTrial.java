package oif;

import java.util.ArrayList;
import java.util.List;

/**
 * What rules would have done to the past episodes.
 *
 * @param episodes all past ones
 * @param held those that the rules would have held back
 * @param uselessHeld of these, those marked useless
 * @param realHeld of these, those marked real: they would be lost
 * @param isHeld for each past episode, in their order; empty in a {@link Proposal}
 */
public record RuleTrial(int episodes, int held, int uselessHeld, int realHeld, List<Boolean> isHeld) {
    static final int NUMBERS = 4;

    static RuleTrial from(double[] numbers, int at) {
        List<Boolean> isHeld = new ArrayList<>();
        for (int i = at + NUMBERS; i < numbers.length; i++) {
            isHeld.add(numbers[i] != 0);
        }
        return new RuleTrial(
                (int) numbers[at],
                (int) numbers[at + 1],
                (int) numbers[at + 2],
                (int) numbers[at + 3],
                List.copyOf(isHeld));
    }
}

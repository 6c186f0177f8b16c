package oif;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The program of docs/java.md, which a test of the documents compares with this one. */
class GuideTest {
    private static void program(List<double[]> rows) {
        Params options = Params.options().set("alert_rate", 0.001);
        try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, options)) {
            for (double[] row : rows) {
                Result result = pipeline.process("pump-1", row);
                if (result.anomaly()) {
                    System.out.println(result.grade() + " " + pipeline.explain());
                }
            }
        }
    }

    @Test
    void theProgramRuns() {
        assertDoesNotThrow(() -> program(List.of(new double[] {1, 2}, new double[] {3, 4})));
    }
}

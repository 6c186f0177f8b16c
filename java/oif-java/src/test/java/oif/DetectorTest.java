package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DetectorTest {
    private static final int COLUMNS = 3;

    static double[] row(Random random) {
        return new double[] {random.nextGaussian(), random.nextGaussian(), random.nextInt(5)};
    }

    private static Detector detector() {
        return new Detector(Params.of("online-iforest").set("window_size", 256), COLUMNS);
    }

    @Test
    void aSnapshotGoesOnBitForBit() {
        Random random = new Random(1);
        try (Detector first = detector()) {
            for (int i = 0; i < 1000; i++) {
                first.learnScore(row(random));
            }
            try (Detector second = Detector.load(first.save())) {
                assertEquals(first.rowsLearned(), second.rowsLearned());
                for (int i = 0; i < 500; i++) {
                    double[] row = row(random);
                    assertEquals(first.learnScore(row), second.learnScore(row));
                }
            }
        }
    }

    @Test
    void blocksGiveTheSameScores() {
        Random random = new Random(2);
        double[] rows = new double[700 * COLUMNS];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = random.nextGaussian();
        }
        try (Detector one = detector();
                Detector block = detector()) {
            double[] scores = block.learnScoreRows(rows);
            for (int i = 0; i < scores.length; i++) {
                assertEquals(one.learnScore(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]), scores[i]);
            }
        }
    }

    @Test
    void scoreLearnScoresFirst() {
        Random random = new Random(3);
        try (Detector twin = detector();
                Detector tested = detector()) {
            for (int i = 0; i < 600; i++) {
                double[] row = row(random);
                double expected = twin.score(row);
                twin.learn(row);
                assertEquals(expected, tested.scoreLearn(row));
            }
        }
    }

    @Test
    void theColumnThatIsOutsideExplainsTheScore() {
        Random random = new Random(4);
        try (Detector detector = detector()) {
            detector.setThreads(2);
            double[] rows = new double[900 * COLUMNS];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = random.nextGaussian();
            }
            detector.learnScoreRows(rows);
            double[] shares = detector.explain(0, 30, 0);
            assertEquals(COLUMNS, shares.length);
            assertTrue(shares[1] > 0.9, Arrays.toString(shares));
            assertThrows(IllegalArgumentException.class, () -> detector.explain(1));
            assertThrows(OifException.class, () -> detector.setThreads(0));
        }
    }

    private static String causeOf(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(OifException.class, call).causeName();
    }

    @Test
    void failuresSayWhatIsWrongAndChangeNothing() {
        OifException unknown = assertThrows(OifException.class, () -> Params.of("forest"));
        assertEquals(OifException.Status.PARAM, unknown.status());
        assertTrue(unknown.getMessage().contains("rolling-iforest"), unknown.getMessage());
        assertEquals("unknown_detector", unknown.causeName());
        assertEquals("parameter_range", causeOf(() -> Params.of("online-iforest").set("num_trees", 0)));
        assertEquals("unknown_parameter", causeOf(() -> Params.of("online-iforest").set("trees", 10)));
        assertEquals("", causeOf(() -> new Detector(Params.of("online-iforest"), 0)));
        assertThrows(OifException.class, () -> new Detector(Params.of("online-iforest"), -1));
        try (Detector detector = detector()) {
            OifException infinite =
                    assertThrows(OifException.class, () -> detector.learn(1, Double.POSITIVE_INFINITY, 3));
            assertEquals(OifException.Status.VALUE, infinite.status());
            assertEquals("infinite_value", infinite.causeName());
            assertEquals(0, detector.rowsLearned());
            assertThrows(IllegalArgumentException.class, () -> detector.learn(1, 2));
            assertThrows(IllegalArgumentException.class, () -> detector.learnScoreRows(new double[4]));
            assertThrows(NullPointerException.class, () -> detector.learn((double[]) null));
        }
    }

    @Test
    void damagedSnapshotsAreRefused() {
        byte[] snapshot;
        try (Detector detector = detector()) {
            for (int i = 0; i < 300; i++) {
                detector.learn(i % 7, i % 5, i % 3);
            }
            snapshot = detector.save();
        }
        assertEquals("truncated_snapshot", causeOf(() -> Detector.load(new byte[0])));
        assertEquals("not_a_snapshot", causeOf(() -> Detector.load(new byte[100])));
        assertEquals("detector_snapshot", causeOf(() -> Pipeline.load(snapshot)));
        for (int at = 0; at < snapshot.length; at += 97) {
            byte[] damaged = snapshot.clone();
            damaged[at] ^= 0x40;
            assertThrows(OifException.class, () -> Detector.load(damaged));
            byte[] shorter = java.util.Arrays.copyOf(snapshot, at);
            assertThrows(OifException.class, () -> Detector.load(shorter));
        }
    }

    @Test
    void aClosedOneThrowsAndClosingTwiceIsAllowed() {
        Detector detector = detector();
        detector.close();
        detector.close();
        assertThrows(IllegalStateException.class, () -> detector.learn(1, 2, 3));
        assertThrows(IllegalStateException.class, detector::save);
    }

    @Test
    void forgottenOnesAreFreed() throws InterruptedException {
        long before = Handle.live();
        for (int i = 0; i < 50; i++) {
            detector().learn(1, 2, 3);
        }
        for (int i = 0; i < 100 && Handle.live() > before; i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertTrue(Handle.live() <= before, Handle.live() + " live, before " + before);
    }
}

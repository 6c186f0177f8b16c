package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class PipelineTest {
    private static final byte[] KEY = Pipeline.utf8("pump-\u00e4\ud83d\ude00");

    private static Pipeline pipeline() {
        return new Pipeline(
                Params.of("rolling-iforest"), 2, Params.options().set("alert_rate", 0.01).set("learn", "normal"));
    }

    private static double[] row(Random random) {
        return new double[] {random.nextGaussian(), random.nextGaussian()};
    }

    @Test
    void findsAnOutlierAndSaysWhy() {
        Random random = new Random(1);
        try (Pipeline pipeline = pipeline()) {
            for (int i = 0; i < 3000; i++) {
                pipeline.process(row(random));
            }
            Result result = pipeline.process(0, 50);
            assertTrue(result.anomaly() && result.ready());
            assertEquals(Result.Episode.BEGINS, result.episode());
            List<Attribution> reasons = pipeline.explain();
            assertEquals(2, reasons.size());
            assertTrue(reasons.get(1).share() > 0.9);
            assertEquals(1, reasons.get(1).direction());
            assertEquals(-1, reasons.get(1).partner(), "no column is a partner");
        }
    }

    @Test
    void theFirstValueOfAColumnIsReportedOnce() {
        Random random = new Random(4);
        try (Pipeline pipeline = pipeline()) {
            for (int i = 0; i < 3000; i++) {
                pipeline.process(random.nextGaussian(), Double.NaN);
            }
            Result result = pipeline.process(0, 50);
            assertTrue(result.anomaly());
            assertEquals(Result.Reason.FIRST_VALUE, result.reason());
            assertEquals(Result.Grade.NOTE, result.grade());
            assertEquals(Result.Reason.FIRST_VALUE, pipeline.explain().get(1).reason());
        }
    }

    @Test
    void aJumpIsReportedWithItsSizeAndTheUsualOne() {
        Random random = new Random(5);
        Params options = Params.options().set("find_season", "off").set("moves", "off");
        try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, options)) {
            for (int i = 0; i < 6000; i++) {
                pipeline.process(10 * Math.sin(i / 50.0) + 0.1 * random.nextGaussian(), random.nextGaussian());
            }
            Result result = pipeline.process(10 * Math.sin(6000 / 50.0) + 3, 0);
            assertTrue(result.anomaly() && result.severity() > result.threshold());
            assertEquals(Result.Reason.JUMP, result.reason());
            Attribution why = pipeline.explain().get(0);
            assertEquals(Result.Reason.JUMP, why.reason());
            assertEquals(3, why.size(), 1, "the change that was made");
            assertTrue(0 < why.usual() && why.usual() < 1, why.toString());
            assertTrue(Double.isNaN(pipeline.explain().get(1).size()), "the other column did not jump");
            EpisodeInfo episode = pipeline.episode("");
            assertEquals(why.size(), episode.size());
            assertEquals(why.usual(), episode.usual());
        }
    }

    @Test
    void aKeyCanBeMovedAndGoesOnBitForBit() {
        Random random = new Random(2);
        try (Pipeline from = pipeline();
                Pipeline to = pipeline()) {
            for (int i = 0; i < 900; i++) {
                from.process(KEY, i, row(random));
            }
            to.process("other", new double[] {1, 2});
            to.loadKey(KEY, from.saveKey(KEY));
            assertEquals(2, to.keys());
            for (int i = 900; i < 1500; i++) {
                double[] row = row(random);
                assertEquals(from.process(KEY, i, row), to.process(KEY, i, row));
            }
            to.removeKey(KEY);
            assertFalse(to.hasKey(KEY));
            assertThrows(OifException.class, () -> to.removeKey(KEY));
            assertThrows(OifException.class, () -> to.saveKey(KEY));
            assertThrows(OifException.class, () -> to.loadKey(KEY, new byte[10]));
        }
    }

    @Test
    void replayBringsAKeyToWhereItWas() {
        Random random = new Random(3);
        double[] rows = new double[2 * 1200], seconds = new double[1200];
        try (Pipeline one = pipeline();
                Pipeline block = pipeline();
                Pipeline replayed = pipeline()) {
            List<Result> results = new java.util.ArrayList<>();
            for (int i = 0; i < seconds.length; i++) {
                double[] row = row(random);
                System.arraycopy(row, 0, rows, 2 * i, 2);
                seconds[i] = 60 * i;
                results.add(one.process(KEY, seconds[i], row));
            }
            assertEquals(results, block.processRows(KEY, seconds, rows));
            replayed.replayRows(KEY, seconds, rows);
            assertArrayEquals(one.saveKey(KEY), replayed.saveKey(KEY));
        }
    }

    @Test
    void aBadRowOfABlockIsNamedAndThoseBeforeItCount() {
        try (Pipeline pipeline = pipeline()) {
            OifException bad = assertThrows(
                    OifException.class,
                    () -> pipeline.processRows(KEY, null, new double[] {1, 2, 3, Double.NEGATIVE_INFINITY, 5, 6}));
            assertEquals(2, bad.line());
            assertEquals(1, pipeline.rows());
            assertThrows(IllegalArgumentException.class, () -> pipeline.replayRows(KEY, new double[1], new double[4]));
            assertThrows(IllegalArgumentException.class, () -> pipeline.replayRows(KEY, null, new double[3]));
        }
    }

    @Test
    void longKeysAndManyColumnsWork() {
        byte[] key = new byte[60000];
        try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 200, Params.options())) {
            double[] row = new double[200];
            pipeline.process(key, Double.NaN, row);
            assertEquals(1, pipeline.keys());
            assertThrows(OifException.class, () -> pipeline.process(new byte[70000], 0, row));
        }
    }

    @Test
    void timesOfAKeyAreNotColumns() {
        Instant time = Instant.ofEpochSecond(1_700_000_000, 500_000_000);
        try (Pipeline bytes = pipeline();
                Pipeline instants = pipeline();
                Pipeline seconds = pipeline()) {
            for (int i = 0; i < 3; i++) {
                Result expected = bytes.process(KEY, 1_700_000_000.5 + 60 * i, new double[] {1, i});
                assertEquals(i == 0 ? Double.NaN : 60, expected.pause());
                assertEquals(expected, instants.process("pump-\u00e4\ud83d\ude00", time.plusSeconds(60 * i), 1, i));
                assertEquals(
                        expected,
                        seconds.process("pump-\u00e4\ud83d\ude00", 1_700_000_000.5 + 60 * i, new double[] {1, i}));
            }
            IllegalArgumentException wrong =
                    assertThrows(IllegalArgumentException.class, () -> seconds.process("key", new double[] {1.7e9, 1, 2}));
            assertTrue(wrong.getMessage().contains("process(key, seconds, row)"), wrong.getMessage());
            assertThrows(NullPointerException.class, () -> instants.process("key", (Instant) null, 1, 2));
            NullPointerException none =
                    assertThrows(NullPointerException.class, () -> instants.process((String) null, time, 1, 2));
            assertEquals("the key is null", none.getMessage());
        }
    }

    /** Otherwise {@code process("key", seconds, 1, 2)} learns the time as a column. */
    @Test
    void numbersAfterAKeyAreAnArray() {
        for (Method method : Pipeline.class.getMethods()) {
            Class<?>[] types = method.getParameterTypes();
            boolean hasTime = types.length > 1 && types[1] == Instant.class;
            if (method.getName().equals("process") && types[0] != double[].class && !hasTime) {
                assertFalse(method.isVarArgs(), method.toString());
            }
        }
    }

    @Test
    void messagesAreAboutJava() {
        List<Executable> wrong = List.of(
                () -> new Detector(Params.options(), 2),
                () -> new Detector(Params.incidentOptions(), 2),
                () -> new Detector(Params.of("rolling-iforest"), 0),
                () -> new Pipeline(Params.options(), 2, Params.options()),
                () -> new Pipeline(Params.of("rolling-iforest"), 2, Params.of("rolling-iforest")),
                () -> new Pipeline(Params.of("rolling-iforest"), -1, Params.options()),
                () -> new Incidents(Params.options()),
                () -> Params.of("no-such-detector"),
                () -> Params.of("incidents"),
                () -> Params.of(""),
                () -> Params.options().set("no_such_option", 1),
                () -> Params.incidentOptions().set("alert_rate", 0.1),
                () -> Params.options().set("alert_rate", (String) null));
        for (Executable each : wrong) {
            String message = assertThrows(RuntimeException.class, each).getMessage();
            assertFalse(message.contains("oif_"), message);
        }
    }

    @Test
    void parametersOfTheWrongKindAreRefused() {
        Params detector = Params.of("rolling-iforest");
        Params options = Params.options();
        assertThrows(NullPointerException.class, () -> Params.of(null));
        assertThrows(IllegalArgumentException.class, () -> new Detector(options, 2));
        assertThrows(IllegalArgumentException.class, () -> new Pipeline(options, 2, options));
        IllegalArgumentException wrong = assertThrows(IllegalArgumentException.class, () -> new Pipeline(detector, 2, detector));
        assertTrue(wrong.getMessage().contains("Params.options()"), wrong.getMessage());
    }

    @Test
    void aBlockOfManyKeysGivesTheResultsOfItsRows() {
        Random random = new Random(7);
        int count = 3000;
        List<String> keys = new ArrayList<>();
        double[] seconds = new double[count];
        double[] rows = new double[2 * count];
        for (int i = 0; i < count; i++) {
            keys.add(i % 3 == 0 ? "" : "pümp-" + i % 5);
            seconds[i] = 1.7e9 + i;
            rows[2 * i] = random.nextGaussian();
            rows[2 * i + 1] = i % 97 == 0 ? 50 : random.nextGaussian();
        }
        try (Pipeline single = pipeline();
                Pipeline block = pipeline()) {
            block.setThreads(2);
            List<Result> results = block.processRows(keys, seconds, rows);
            for (int i = 0; i < count; i++) {
                double[] row = {rows[2 * i], rows[2 * i + 1]};
                assertEquals(single.process(keys.get(i), seconds[i], row), results.get(i), "row " + i);
            }
            assertTrue(results.stream().anyMatch(Result::anomaly));
            assertArrayEquals(single.save(), block.save());
            assertEquals(List.of(), block.processRows(List.of(), null, new double[0]));
            assertThrows(IllegalArgumentException.class, () -> block.processRows(List.of("a"), null, rows));
            rows[21] = Double.POSITIVE_INFINITY;
            assertEquals(11, assertThrows(OifException.class, () -> block.processRows(keys, null, rows)).line());
            assertThrows(OifException.class, () -> block.setThreads(99));
            assertThrows(OifException.class, () -> block.setThreads(-1));
        }
    }

    /** Native code that reads a null array would crash the JVM. */
    @Test
    void noArrayIsAnError() {
        double[] row = new double[2];
        try (Pipeline pipeline = pipeline()) {
            assertThrows(NullPointerException.class, () -> pipeline.process((byte[]) null, 0, row));
            assertThrows(NullPointerException.class, () -> pipeline.process(KEY, 0, null));
            assertThrows(NullPointerException.class, () -> pipeline.hasKey(null));
            assertThrows(NullPointerException.class, () -> pipeline.saveKey(null));
            assertThrows(NullPointerException.class, () -> pipeline.loadKey(KEY, null));
        }
        assertThrows(NullPointerException.class, () -> Pipeline.load(null));
        assertThrows(NullPointerException.class, () -> Detector.load(null));
    }

    @Test
    void namesAreKept() {
        try (Pipeline pipeline = pipeline()) {
            assertNull(pipeline.columnName(0));
            pipeline.nameColumns(List.of("flow", "pr\u00e9ssure"));
            try (Pipeline loaded = Pipeline.load(pipeline.save())) {
                assertEquals("pr\u00e9ssure", loaded.columnName(1));
            }
            assertThrows(IllegalArgumentException.class, () -> pipeline.nameColumns(List.of("flow")));
            assertThrows(IndexOutOfBoundsException.class, () -> pipeline.columnName(2));
        }
    }
}

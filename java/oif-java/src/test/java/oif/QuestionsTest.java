package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies, files, tables, more columns, and what detectors and pipelines can be asked about. */
class QuestionsTest {
    private static final double HOUR = 3600;

    private static Detector detector() {
        return new Detector(Params.of("online-iforest").set("window_size", 64).set("num_trees", 8), 2);
    }

    private static Pipeline pipeline(Params options) {
        return new Pipeline(Params.of("online-iforest").set("window_size", 64).set("num_trees", 8), 2, options);
    }

    private static double[] rows(int count, int seed) {
        Random random = new Random(seed);
        double[] rows = new double[2 * count];
        Arrays.setAll(rows, i -> random.nextGaussian());
        return rows;
    }

    // ---- Detectors ----

    @Test
    void blocksAreTheSameAsSingleRows() {
        double[] rows = rows(300, 1);
        try (Detector single = detector();
                Detector block = detector()) {
            for (int i = 0; i < 600; i += 2) {
                single.learn(rows[i], rows[i + 1]);
            }
            block.learnRows(rows);
            assertArrayEquals(single.save(), block.save());
            double[] scores = block.scoreRows(rows);
            assertEquals(single.score(rows[4], rows[5]), scores[2]);
            double[] then = block.scoreLearnRows(rows);
            for (int i = 0; i < 300; i++) {
                assertEquals(single.scoreLearn(rows[2 * i], rows[2 * i + 1]), then[i]);
            }
            assertThrows(IllegalArgumentException.class, () -> block.scoreRows(new double[3]));
        }
    }

    @Test
    void aCopyAndAFileContinueWhereTheDetectorWas(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("modèle");
        try (Detector detector = detector()) {
            detector.learnRows(rows(100, 2));
            detector.saveFile(file);
            try (Detector copy = detector.copy();
                    Detector loaded = Detector.loadFile(file)) {
                assertEquals(100, copy.rowsLearned());
                assertEquals(detector.score(1, 2), copy.score(1, 2));
                assertEquals(detector.score(1, 2), loaded.score(1, 2));
                copy.reset();
                assertEquals(0, copy.rowsLearned());
                assertEquals(100, detector.rowsLearned());
            }
        }
        Files.writeString(file, "no snapshot");
        assertEquals("not_a_snapshot", assertThrows(OifException.class, () -> Detector.loadFile(file)).causeName());
    }

    @Test
    void aDetectorKnowsItsParametersNamesAndFigures() {
        try (Detector detector = detector()) {
            Params params = detector.params();
            assertEquals("online-iforest", params.detector());
            assertEquals("64.0", params.values().get("window_size"));
            try (Detector same = new Detector(params, 2)) {
                same.learn(1, 2);
                detector.learn(1, 2);
                assertArrayEquals(detector.save(), same.save());
            }
            assertEquals(detector.memoryBytes(), params.estimateBytes(2));
            assertNull(detector.columnName(1));
            detector.nameColumns(List.of("flow", "pressure"));
            assertEquals("pressure", detector.columnName(1));
            assertThrows(IllegalArgumentException.class, () -> detector.nameColumns(List.of("flow")));
            assertThrows(IndexOutOfBoundsException.class, () -> detector.columnName(2));
            Map<String, Double> figures = detector.describe();
            assertFalse(figures.isEmpty());
        }
    }

    @Test
    void theLibraryListsItsDetectors() {
        List<DetectorInfo> all = Oif.detectors();
        assertEquals(Params.DEFAULT_DETECTOR, all.get(0).name());
        for (DetectorInfo each : all) {
            assertFalse(each.summary().isEmpty() || each.paper().isEmpty() || each.choose().isEmpty(), each.name());
            assertTrue(Params.of(each.name()).estimateBytes(3) > 0);
        }
        assertTrue(Params.of("rolling-iforest").addsColumns());
        assertEquals(
                "parameter_range",
                assertThrows(OifException.class, () -> Params.of("sdo").set("seed", -1)).causeName());
    }

    // ---- Pipelines ----

    @Test
    void aPipelineIsCopiedSavedAndLoaded(@TempDir Path folder) {
        Path file = folder.resolve("state");
        try (Pipeline pipeline = pipeline(Params.options())) {
            pipeline.processRows(Pipeline.utf8("a"), null, rows(200, 3));
            pipeline.saveFile(file);
            try (Pipeline copy = pipeline.copy();
                    Pipeline loaded = Pipeline.loadFile(file)) {
                Result expected = pipeline.process("a", new double[] {1, 2});
                assertEquals(expected, copy.process("a", new double[] {1, 2}));
                assertEquals(expected, loaded.process("a", new double[] {1, 2}));
            }
        }
        Path missing = folder.resolve("missing");
        assertEquals("system", assertThrows(OifException.class, () -> Pipeline.loadFile(missing)).causeName());
    }

    @Test
    void aPipelineContinuesADetectorThatLearnedHistory() {
        try (Detector history = detector()) {
            history.learnRows(rows(300, 4));
            double score = history.score(1, 2);
            try (Pipeline live = Pipeline.around(history, Params.options(), "a")) {
                assertEquals(2, live.columns());
                assertEquals(score, live.process("a", new double[] {1, 2}).score());
            }
            assertEquals(score, history.score(1, 2), "the detector is still the caller's");
            Params shingle = Params.options().set("shingle", 3);
            assertThrows(OifException.class, () -> Pipeline.around(history, shingle, "a"));
        }
    }

    @Test
    void aTableIsJudgedAsAWhole() {
        double[] rows = rows(60, 5);
        rows[80] = 40;
        try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, Params.options())) {
            Table table = pipeline.processTable(null, rows);
            assertEquals(60, table.results().size());
            assertTrue(table.results().get(40).anomaly(), table.results().get(40).toString());
            assertTrue(table.chance() > 0 && table.chance() < 1, "chance " + table.chance());
            assertEquals(60, pipeline.rows());
            assertThrows(OifException.class, () -> pipeline.processTable(null, rows), "it has processed rows");
        }
    }

    @Test
    void columnsAreAddedToAPipelineWithRows() {
        try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, Params.options())) {
            pipeline.nameColumns(List.of("flow", "pressure"));
            pipeline.processRows(Pipeline.utf8("a"), null, rows(50, 6));
            assertThrows(OifException.class, () -> pipeline.addColumns(1, List.of("flow")), "the name is taken");
            assertEquals(2, pipeline.columns());
            pipeline.addColumns(2, List.of("bytes", "heat"), Derive.RATE, Derive.NONE);
            assertEquals(4, pipeline.columns());
            assertEquals("heat", pipeline.columnName(3));
            assertEquals(new LearnedColumn(2, Derive.RATE), pipeline.learnedColumns().get(2));
            assertThrows(IllegalArgumentException.class, () -> pipeline.process("a", new double[] {1, 2}));
            assertEquals(51, rowsAfter(pipeline, 1, 2, 3, 4));
            assertThrows(IllegalArgumentException.class, () -> pipeline.addColumns(0, null));
            assertThrows(IllegalArgumentException.class, () -> pipeline.addColumns(2, List.of("one")));
        }
    }

    private static long rowsAfter(Pipeline pipeline, double... row) {
        pipeline.process("a", row);
        return pipeline.rows();
    }

    @Test
    void limitsAndWhatTheyCostAreKnown() {
        try (Pipeline pipeline = pipeline(Params.options().set("max_keys", 1))) {
            assertNull(pipeline.recentKey());
            pipeline.process("a", new double[] {1, 2});
            assertEquals("a", pipeline.recentKey());
            assertTrue(pipeline.process("b", new double[] {1, 2}).hasNoModel());
            assertEquals(new PipelineCounts(0, 1, 0, 0, 0, ""), pipeline.counts());
        }
        Params keep = Params.options().set("max_keys", 1).set("evicted", "keep");
        try (Pipeline pipeline = pipeline(keep)) {
            pipeline.process("a", new double[] {1, 2});
            pipeline.process("b", new double[] {1, 2});
            PipelineCounts counts = pipeline.counts();
            assertEquals(1, counts.evictions());
            assertEquals(1, counts.lost());
            assertFalse(counts.whyLost().isEmpty());
        }
        try (Pipeline pipeline = pipeline(Params.options())) {
            pipeline.process("a", new double[] {1, 2});
            pipeline.limitMemory(1);
            assertTrue(pipeline.process("b", new double[] {1, 2}).hasNoModel());
            assertThrows(IllegalArgumentException.class, () -> pipeline.limitMemory(-1));
        }
    }

    @Test
    void optionsAreKnownAndSomeCanChange() {
        try (Pipeline pipeline = pipeline(Params.options().set("alert_rate", 0.02).set("learn", "normal"))) {
            assertEquals("0.02", pipeline.options().values().get("alert_rate"));
            assertEquals("normal", pipeline.options().values().get("learn"));
            assertEquals("online-iforest", pipeline.params().detector());
            pipeline.change("alert_rate", 0.5);
            assertEquals("0.5", pipeline.options().values().get("alert_rate"));
        }
        assertTrue(Pipeline.isChangeable("alert_rate"));
        assertFalse(Pipeline.isChangeable("shingle"));
        Rule.check("mute column=x");
        assertEquals(2, assertThrows(OifException.class, () -> Rule.check("mute column=x\nmut")).line());
    }

    @Test
    void aProgramKeepsItsOwnNamesAndBytes() {
        try (Pipeline pipeline = pipeline(Params.options())) {
            assertEquals(new Roles(null, null), pipeline.roles());
            assertEquals(0, pipeline.attachment().length);
            pipeline.nameRoles(new Roles("host,disk", null));
            pipeline.attach(new byte[] {1, 0, 2});
            try (Pipeline loaded = Pipeline.load(pipeline.save())) {
                assertEquals(new Roles("host,disk", null), loaded.roles());
                assertArrayEquals(new byte[] {1, 0, 2}, loaded.attachment());
                loaded.attach(new byte[0]);
                assertEquals(0, loaded.attachment().length);
            }
        }
    }

    @Test
    void silencesAndSeasonsAreForeseen() {
        try (Pipeline pipeline = pipeline(Params.options().set("silence", 60).set("season_rows", 24))) {
            assertEquals(Double.POSITIVE_INFINITY, pipeline.nextSilence());
            for (int i = 0; i < 24 * 10; i++) {
                pipeline.process("a", i * HOUR / 60, new double[] {i % 24, 1});
            }
            double last = (24 * 10 - 1) * HOUR / 60;
            assertEquals(last + 60, pipeline.nextSilence());
            assertEquals(last + 1060, pipeline.silenceAfter("a", last + 1000));
            assertEquals(List.of(), pipeline.silent(last + 60));
            assertEquals("a", pipeline.silent(last + 61).get(0).key());
            Season season = pipeline.seasons("a").get(0);
            assertEquals(24, season.rows());
            assertFalse(season.wasFound());
            assertEquals(List.of(), pipeline.seasons("b"));
        }
    }
}

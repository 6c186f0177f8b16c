package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rules, feedback, episodes, silence, what was expected, and derived columns. */
class AlertsTest {
    private static final double START = 1_700_000_000;

    private static Pipeline pipeline(String... names) {
        Params options = Params.options().set("learn", "normal").set("moves", "off").set("find_season", "off");
        Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), names.length, options);
        pipeline.nameColumns(List.of(names));
        return pipeline;
    }

    /**
     * Rows of one key, a minute apart. After the first 2000, every 500th row has a value that is not normal.
     * Returns how many of these are alerts.
     */
    private static int alerts(Pipeline pipeline, String key, int from, int to, double outlier) {
        Random random = new Random(from);
        int alerts = 0;
        for (int i = from; i < to; i++) {
            boolean isOutlier = i > 2000 && i % 500 == 0;
            double latency = isOutlier ? outlier : 100 + random.nextGaussian();
            Result result = pipeline.process(key, START + 60 * i, new double[] {latency, random.nextGaussian()});
            alerts += isOutlier && result.anomaly() ? 1 : 0;
        }
        return alerts;
    }

    // ---- Rules ----

    @Test
    void aRuleHoldsBackAlertsAndCountsThem() {
        try (Pipeline free = pipeline("latency", "load");
                Pipeline ruled = pipeline("latency", "load")) {
            ruled.setRules(Rule.onlyHigh("latency"), "", "# a comment");
            assertEquals(7, alerts(free, "", 0, 6000, 20));
            assertEquals(0, alerts(ruled, "", 0, 6000, 20));
            Result held = ruled.process("", START + 400_000, new double[] {20, 0});
            assertEquals(1, held.rule());
            assertFalse(held.anomaly());
            Rule rule = ruled.rules().get(0);
            assertEquals("mute column=latency direction=low", rule.text());
            assertTrue(rule.held() >= 7, rule.toString());
            assertEquals(START + 400_000, rule.lastSeconds());
            ruled.addRules("mute reason=stuck");
            assertEquals(2, ruled.rules().size());
            assertEquals(rule, ruled.rules().get(0), "the counts stay");
            try (Pipeline loaded = Pipeline.load(ruled.save())) {
                assertEquals(ruled.rules(), loaded.rules());
            }
            ruled.setRules();
            assertEquals(List.of(), ruled.rules());
            assertTrue(ruled.process("", START + 500_000, new double[] {20, 0}).anomaly());
        }
    }

    @Test
    void shortFormsOfRulesAreRules() {
        assertEquals("mute column=a direction=low\nmute column=disk_* direction=low", Rule.onlyHigh("a", "disk_*"));
        assertEquals("mute column=a direction=high", Rule.onlyLow("a"));
        try (Pipeline pipeline = pipeline("free space, \"GB\"", "load#1")) {
            pipeline.setRules(
                    Rule.onlyLow("free space, \"GB\""),
                    Rule.minChangePercent("load#1", 20),
                    Rule.minChange("load#1", 1e-5),
                    Rule.minChange("free*", 5));
            assertEquals(4, pipeline.rules().size());
        }
    }

    @Test
    void aLineThatIsNoRuleIsNamedAndChangesNothing() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            pipeline.setRules("mute reason=stuck");
            OifException bad = assertThrows(
                    OifException.class, () -> pipeline.setRules("mute reason=jump", "mute column=no_such_column"));
            assertEquals(2, bad.line());
            assertThrows(OifException.class, () -> pipeline.addRules("hush"));
            assertThrows(OifException.class, () -> pipeline.setRules(Rule.minChange("load", Double.NaN)));
            assertThrows(NullPointerException.class, () -> pipeline.setRules((String[]) null));
            assertEquals(List.of("mute reason=stuck"), pipeline.rules().stream().map(Rule::text).toList());
        }
    }

    // ---- Feedback ----

    @Test
    void aPastEpisodeBecomesARule() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            assertThrows(OifException.class, () -> pipeline.propose("web-1", 1));
            assertFalse(pipeline.keepsEpisodes());
            pipeline.keepEpisodes(true);
            assertTrue(pipeline.keepsEpisodes());
            alerts(pipeline, "web-1", 0, 5000, 20);
            List<PastEpisode> past = pipeline.pastEpisodes();
            List<PastEpisode> low =
                    past.stream().filter(each -> each.column() == 0 && each.direction() < 0).toList();
            assertTrue(low.size() >= 4, past.toString());
            assertEquals("web-1", low.get(0).key());
            assertTrue(low.get(0).change() > 50 && low.get(0).changeShare() > 0.5, low.toString());
            String rule = pipeline.propose("web-1", low.get(0).number());
            assertTrue(rule.startsWith("mute column=latency direction=low change<"), rule);
            pipeline.addRules(rule);
            assertEquals(rule, pipeline.rules().get(0).text());
            try (Pipeline loaded = Pipeline.load(pipeline.save())) {
                assertEquals(pipeline.pastEpisodes(), loaded.pastEpisodes());
            }
            OifException unknown =
                    assertThrows(OifException.class, () -> pipeline.propose("web-9", 1));
            assertEquals("unknown_episode", unknown.causeName());
            assertThrows(OifException.class, () -> pipeline.propose("web-1", -1));
        }
    }

    // ---- Episodes, silence, what was expected ----

    @Test
    void anEpisodeKnowsItsWorstRow() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            assertNull(pipeline.episode("a"));
            alerts(pipeline, "a", 0, 2000, 0);
            assertTrue(pipeline.process("a", START + 60 * 2000, new double[] {300, 0}).anomaly());
            pipeline.explain();
            EpisodeInfo episode = pipeline.episode("a");
            assertEquals(2001, episode.peakRow());
            assertEquals(0, episode.column());
            assertEquals(1, episode.direction());
            assertEquals(300, episode.value());
            assertFalse(episode.isOver());
            assertEquals(START + 60 * 2000, episode.lastSeconds());
            assertNull(pipeline.episode(new byte[] {1}));

            Expected expected = pipeline.expected().get(0);
            assertEquals(300, expected.value());
            assertTrue(95 < expected.low() && expected.high() < 105 && expected.low() < expected.high(), expected.toString());
            assertEquals(episode.reason(), expected.basis());
            KeyInfo key = pipeline.listKeys().get(0);
            assertTrue(key.isInEpisode() && key.isReady());
            assertEquals("a", key.key());
            assertEquals(2001, key.rows());
        }
    }

    @Test
    void beforeTheFirstRowNothingIsKnown() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            assertEquals(2, pipeline.expected().size());
            assertEquals(Double.NaN, pipeline.expected().get(0).low());
            assertEquals(List.of(), pipeline.listKeys());
            assertEquals(List.of(), pipeline.silent(START));
        }
    }

    @Test
    void aSilentKeyIsReportedOnce() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            alerts(pipeline, "a", 0, 100, 0);
            alerts(pipeline, "b", 0, 110, 0);
            List<Silence> silent = pipeline.silent(START + 60 * 111);
            assertEquals(List.of("a"), silent.stream().map(Silence::key).toList());
            assertEquals(START + 60 * 99, silent.get(0).since());
            assertEquals(List.of(), pipeline.silent(START + 60 * 111));
            pipeline.change("silence", 1e6);
            assertEquals(List.of(), pipeline.silent(START + 60 * 200));
            pipeline.change("learn", "none");
            assertThrows(OifException.class, () -> pipeline.change("shingle", 2));
            assertThrows(OifException.class, () -> pipeline.change("no_such_option", 2));
        }
    }

    /** References of the JVM are few; each entry must give its own back. */
    @Test
    void aListMayBeLong() {
        try (Pipeline pipeline = pipeline("latency", "load")) {
            IntStream.range(0, 5000).forEach(i -> pipeline.process("key-" + i, START, new double[] {1, 2}));
            assertEquals(5000, pipeline.listKeys().stream().map(KeyInfo::key).distinct().count());
        }
    }

    // ---- Columns ----

    @Test
    void columnsAreDerived() {
        try (Pipeline pipeline = pipeline("bytes", "user", "size")) {
            pipeline.derive(0, Derive.RATE, false);
            pipeline.derive(1, Derive.CATEGORY, false);
            pipeline.derive(2, Derive.LOG, true);
            assertEquals(
                    List.of(
                            new LearnedColumn(0, Derive.RATE),
                            new LearnedColumn(1, Derive.CATEGORY),
                            new LearnedColumn(2, Derive.NONE),
                            new LearnedColumn(2, Derive.LOG)),
                    pipeline.learnedColumns());
            Random random = new Random(6);
            for (int i = 0; i < 3000; i++) {
                double user = Pipeline.category("user-" + i % 3);
                pipeline.process("", START + 60 * i, new double[] {600.0 * i, user, 1 + random.nextDouble()});
            }
            double[] last = {600.0 * 3000, Pipeline.category("r\u00f6\u00f6t"), 1.5};
            Result result = pipeline.process("", START + 60 * 3000, last);
            assertEquals(Result.Reason.NEW_VALUE, result.reason());
            assertEquals(4, pipeline.explain().size());
            assertEquals(10, pipeline.expected().get(0).value());
            assertThrows(OifException.class, () -> pipeline.derive(0, Derive.LOG, false), "rows were processed");
            assertThrows(IndexOutOfBoundsException.class, () -> pipeline.derive(3, Derive.LOG, false));
            assertThrows(IndexOutOfBoundsException.class, () -> pipeline.derive(-1, Derive.LOG, false));
        }
        assertEquals(Double.NaN, Pipeline.category(""));
    }
}

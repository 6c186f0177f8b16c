package oif.flink;

import static org.junit.jupiter.api.Assertions.*;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import oif.BaseAndRows;
import oif.Oif;
import oif.RowLayout;
import oif.flink.Rows.Reading;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** The operator and the function in Flink's test harness: state, eviction, rescaling, forgetting. */
class OperatorTest {
    private static final int MAX_PARALLELISM = 16;
    private static final int ROWS = 12_000;
    private static final int KEYS = 40;
    private static final int CHECKPOINT_BYTES = 64 << 20; // Flink's default, 5 MB, is less than 40 whole models

    private static final class Harness extends KeyedOneInputStreamOperatorTestHarness<String, Reading, Scored<Reading>> {
        private static final long serialVersionUID = 1;

        Harness(OneInputStreamOperator<Reading, Scored<Reading>> operator, int parallelism, int subtask, String offHeap)
                throws Exception {
            super(operator, reading -> reading.key, Types.STRING, environment(parallelism, subtask, offHeap));
            setCheckpointStorage(new JobManagerCheckpointStorage(CHECKPOINT_BYTES));
        }

        private static MockEnvironment environment(int parallelism, int subtask, String offHeap) {
            Configuration configuration = new Configuration();
            configuration.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, MemorySize.parse(offHeap));
            return new MockEnvironmentBuilder()
                    .setTaskName("oif")
                    .setMaxParallelism(MAX_PARALLELISM)
                    .setParallelism(parallelism)
                    .setSubtaskIndex(subtask)
                    .setTaskManagerRuntimeInfo(new TestingTaskManagerRuntimeInfo(configuration))
                    .build();
        }

        /** Processes the rows whose keys belong to the subtask. */
        void feed(List<Reading> readings, int parallelism, int subtask) throws Exception {
            for (Reading reading : readings) {
                if (subtaskOf(reading.key, parallelism) == subtask) {
                    processElement(reading, 0);
                }
            }
        }
    }

    private static int subtaskOf(String key, int parallelism) {
        return org.apache.flink.runtime.state.KeyGroupRangeAssignment.assignKeyToParallelOperator(
                key, MAX_PARALLELISM, parallelism);
    }

    private static OneInputStreamOperator<Reading, Scored<Reading>> operator(ScoreSettings<Reading> settings) {
        return settings.writesThrough
                ? new KeyedProcessOperator<>(new OifFunction<>(settings, Types.STRING.createSerializer(
                        new org.apache.flink.api.common.serialization.SerializerConfigImpl())))
                : new OifOperator<>(settings);
    }

    /**
     * Processes the rows in parts. Each part has its own parallelism and starts from the checkpoint of
     * the part before. Returns all results, sorted.
     */
    private static List<String> run(List<Reading> readings, ScoreSettings<Reading> settings, int... parallelisms)
            throws Exception {
        return run(readings, part -> settings, parallelisms);
    }

    private static List<String> run(
            List<Reading> readings, IntFunction<ScoreSettings<Reading>> settingsOf, int... parallelisms) throws Exception {
        List<String> texts = new ArrayList<>();
        OperatorSubtaskState state = null;
        int before = 1;
        for (int part = 0; part < parallelisms.length; part++) {
            List<Reading> rows = readings.subList(
                    readings.size() * part / parallelisms.length, readings.size() * (part + 1) / parallelisms.length);
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (int subtask = 0; subtask < parallelisms[part]; subtask++) {
                try (Harness harness = new Harness(operator(settingsOf.apply(part)), parallelisms[part], subtask, "8g")) {
                    harness.setup();
                    if (state != null) {
                        harness.initializeState(AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, MAX_PARALLELISM, before, parallelisms[part], subtask));
                    }
                    harness.open();
                    harness.feed(rows.subList(0, rows.size() / 2), parallelisms[part], subtask);
                    harness.snapshot(1, 1); // never restored; splits the rows into two pieces
                    harness.feed(rows.subList(rows.size() / 2, rows.size()), parallelisms[part], subtask);
                    states.add(harness.snapshot(2, 2));
                    harness.extractOutputValues().forEach(scored -> texts.add(Rows.text(scored)));
                }
            }
            state = AbstractStreamOperatorTestHarness.repackageState(states.toArray(new OperatorSubtaskState[0]));
            before = parallelisms[part];
        }
        Collections.sort(texts);
        return texts;
    }

    private static List<String> expected(List<Reading> readings) {
        List<String> texts = Rows.reference(readings);
        Collections.sort(texts);
        return texts;
    }

    @Test
    void rescalingKeepsEveryBit() throws Exception {
        List<Reading> readings = Rows.make(ROWS, KEYS, 1);
        assertEquals(expected(readings), run(readings, Rows.settings(), 1, 2, 3, 1));
    }

    @Test
    void aCacheFarTooSmallKeepsEveryBit() throws Exception {
        List<Reading> readings = Rows.make(ROWS / 4, KEYS, 2);
        ScoreSettings<Reading> settings = Rows.settings();
        settings.cacheBytes = 1;
        assertEquals(expected(readings), run(readings, settings, 1, 2));
        settings.writesThrough = true;
        assertEquals(expected(readings), run(readings, settings, 1, 2));
    }

    @Test
    void rowsThatWaitAreBounded() throws Exception {
        List<Reading> readings = Rows.make(ROWS / 4, KEYS, 3);
        ScoreSettings<Reading> settings = Rows.settings();
        settings.waitingRowsBytes = 1000;
        assertEquals(expected(readings), run(readings, settings, 1, 1));
        OifOperator<String, Reading> operator = new OifOperator<>(settings);
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.open();
            for (Reading reading : readings) {
                harness.processElement(reading, 0);
                assertTrue(operator.models().waitingBytes <= 1000, operator.models().waitingBytes + " bytes wait");
            }
        }
    }

    @Test
    void theFunctionAndTheOperatorShareTheirState() throws Exception {
        List<Reading> readings = Rows.make(ROWS, KEYS, 4);
        ScoreSettings<Reading> through = Rows.settings();
        through.writesThrough = true;
        assertEquals(expected(readings), run(readings, part -> part % 2 == 0 ? through : Rows.settings(), 2, 1, 2));
    }

    /** Negative control: without the rows since the base, the results differ. */
    @Test
    void aLostPieceOfTheLogIsSeen() throws Exception {
        List<Reading> readings = Rows.make(ROWS, KEYS, 5);
        try (Harness first = new Harness(operator(Rows.settings()), 1, 0, "8g");
                Harness second = new Harness(operator(Rows.settings()), 1, 0, "8g")) {
            first.open();
            first.feed(readings.subList(0, ROWS / 2), 1, 0);
            OperatorSubtaskState early = first.snapshot(1, 1);
            first.feed(readings.subList(ROWS / 2, ROWS / 2 + 100), 1, 0);
            second.initializeState(early);
            second.open();
            second.feed(readings.subList(ROWS / 2 + 100, ROWS), 1, 0);
            List<String> all = Rows.reference(readings);
            List<String> texts = second.extractOutputValues().stream().map(Rows::text).toList();
            assertNotEquals(all.subList(ROWS / 2 + 100, ROWS), texts);
        }
    }

    /** A version of oif with another behavior number loads bases, and refuses rows. */
    @Test
    void basesOnlyLeavesNoRows() throws Exception {
        List<Reading> readings = Rows.make(ROWS, KEYS, 6);
        OperatorSubtaskState withRows = snapshotOf(readings.subList(0, ROWS / 2), Rows.settings());
        ScoreSettings<Reading> bases = Rows.settings();
        bases.basesOnly = true;
        bases.cacheBytes = 200_000; // most keys are not in memory at the savepoint
        OperatorSubtaskState withBases;
        try (Harness harness = new Harness(operator(bases), 1, 0, "8g")) {
            harness.initializeState(withRows);
            harness.open();
            harness.feed(readings.subList(ROWS / 2, ROWS / 2 + 500), 1, 0);
            withBases = harness.snapshot(1, 1);
        }
        assertTrue(keysWithRows(withRows) > 0);
        assertEquals(0, keysWithRows(withBases));
        int from = ROWS / 2 + 500;
        assertEquals(Rows.reference(readings).subList(from, ROWS), rest(readings, from, withBases));
    }

    private static long keysWithRows(OperatorSubtaskState state) throws Exception {
        OifOperator<String, Reading> operator = new OifOperator<>(Rows.settings());
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.initializeState(state);
            harness.open();
            return operator.getKeyedStateBackend().getKeys(KeyState.LOG.getName(), VoidNamespace.INSTANCE).count();
        }
    }

    /** What the operator says when its state has a piece of rows of another layout. */
    private static String refusal(RowLayout layout) throws Exception {
        BaseAndRows rows = new BaseAndRows(layout);
        rows.add(1, new double[] {1, 2, 3, 4});
        Reading reading = Rows.make(1, 1, 1).get(0);
        OifOperator<String, Reading> operator = new OifOperator<>(Rows.settings());
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.open();
            operator.setCurrentKey(reading.key);
            KeyState.of(operator.getRuntimeContext()).log().add(rows.takeRows());
            return assertThrows(IllegalStateException.class, () -> harness.processElement(reading, 0)).getMessage();
        }
    }

    @Test
    void rowsOfAnotherBehaviorOrOtherColumnsAreRefusedWithARemedy() throws Exception {
        String behavior = refusal(RowLayout.pieces(3, Oif.behavior() + 1));
        assertTrue(behavior.contains("may score them differently. Restore the job") && behavior.contains("basesOnly(true)"), behavior);
        String columns = refusal(RowLayout.pieces(4, Oif.behavior()));
        assertTrue(columns.contains("rows of 4 columns") && columns.contains("another uid()"), columns);
    }

    /** The cache metrics count rows, and a savepoint is not a row. */
    @Test
    void basesOnlyCountsNoMisses() throws Exception {
        OperatorSubtaskState withRows = snapshotOf(Rows.make(ROWS / 2, KEYS, 6), Rows.settings());
        ScoreSettings<Reading> bases = Rows.settings();
        bases.basesOnly = true;
        OifOperator<String, Reading> operator = new OifOperator<>(bases);
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.initializeState(withRows);
            harness.open();
            harness.snapshot(1, 1);
            assertEquals(keysWithRows(withRows), operator.models().writtenBases);
            assertEquals(0, operator.models().misses);
        }
    }

    private static OperatorSubtaskState snapshotOf(List<Reading> readings, ScoreSettings<Reading> settings) throws Exception {
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            harness.feed(readings, 1, 0);
            return harness.snapshot(1, 1);
        }
    }

    private static List<String> rest(List<Reading> readings, int from, OperatorSubtaskState state) throws Exception {
        try (Harness harness = new Harness(operator(Rows.settings()), 1, 0, "8g")) {
            harness.initializeState(state);
            harness.open();
            harness.feed(readings.subList(from, ROWS), 1, 0);
            return harness.extractOutputValues().stream().map(Rows::text).toList();
        }
    }

    @Test
    void quietKeysAreForgotten() throws Exception {
        for (boolean writesThrough : new boolean[] {false, true}) {
            ScoreSettings<Reading> settings = Rows.settings();
            settings.keySeconds = 60;
            settings.writesThrough = writesThrough;
            List<Reading> readings = Rows.make(400, 2, 7);
            List<Reading> mine = readings.stream().filter(r -> r.key.equals("key-0")).toList();
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.open();
                harness.setProcessingTime(1000);
                harness.feed(readings, 1, 0);
                harness.snapshot(1, 1);
                harness.setProcessingTime(50_000);
                harness.processElement(mine.get(0), 0); // key-0 is seen again, key-1 is not
                harness.setProcessingTime(62_000);
                harness.snapshot(2, 2);
                int entries = harness.numKeyedStateEntries();
                assertTrue(entries > 0 && entries <= 3, entries + " entries: only key-0 is left");
                harness.setProcessingTime(120_000);
                assertEquals(0, harness.numKeyedStateEntries());
                harness.getOutput().clear();
                harness.feed(mine, 1, 0); // as if it had never been seen
                List<String> texts = harness.extractOutputValues().stream().map(Rows::text).toList();
                assertEquals(Rows.reference(mine), texts);
            }
        }
    }

    /** A savepoint with bases only loads quiet keys. This does not count as seeing them. */
    @Test
    void basesOnlyKeepsWhenAKeyWasSeen() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.keySeconds = 60;
        OperatorSubtaskState withRows;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            harness.setProcessingTime(1000);
            harness.processElement(Rows.make(1, 1, 8).get(0), 0);
            harness.setProcessingTime(50_000);
            harness.processElement(Rows.make(1, 1, 8).get(0), 0);
            withRows = harness.snapshot(1, 1);
        }
        settings.basesOnly = true;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.initializeState(withRows);
            harness.open();
            harness.setProcessingTime(51_000);
            harness.snapshot(1, 1);
            harness.setProcessingTime(62_000); // the timer of the first row is due, and the key was seen at 50,000
            assertTrue(harness.numKeyedStateEntries() > 0);
            harness.setProcessingTime(111_000);
            assertEquals(0, harness.numKeyedStateEntries());
        }
    }

    /** The function and the operator use the same timer service, so each fires the timers of the other. */
    @Test
    void quietKeysAreForgottenAfterASwitch() throws Exception {
        for (boolean writesThrough : new boolean[] {false, true}) {
            ScoreSettings<Reading> settings = Rows.settings();
            settings.keySeconds = 60;
            settings.writesThrough = writesThrough;
            OperatorSubtaskState state;
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.open();
                harness.setProcessingTime(1000);
                harness.feed(Rows.make(100, 3, 9), 1, 0);
                state = harness.snapshot(1, 1);
            }
            settings.writesThrough = !writesThrough;
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.initializeState(state);
                harness.open();
                harness.setProcessingTime(2000);
                harness.feed(Rows.make(1, 1, 9), 1, 0);
                assertTrue(harness.numKeyedStateEntries() > 0, "not forgotten yet");
                harness.setProcessingTime(61_000); // the timers of the first job are due
                harness.setProcessingTime(63_000); // and that of the key that was seen again
                assertEquals(0, harness.numKeyedStateEntries(), "after writeThrough " + writesThrough);
            }
        }
    }

    /** A job gets keyState() and basesOnly() at once. Its savepoint must not claim timers that do not exist. */
    @Test
    void basesOnlyInventsNoTimers() throws Exception {
        OperatorSubtaskState state = snapshotOf(Rows.make(50, 1, 9), Rows.settings());
        ScoreSettings<Reading> settings = Rows.settings();
        settings.keySeconds = 60;
        settings.basesOnly = true;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.initializeState(state);
            harness.open();
            state = harness.snapshot(1, 1);
        }
        settings.basesOnly = false;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.initializeState(state);
            harness.open();
            harness.setProcessingTime(1000);
            harness.feed(Rows.make(1, 1, 9), 1, 0);
            assertEquals(1, harness.numProcessingTimeTimers());
            harness.setProcessingTime(62_000);
            assertEquals(0, harness.numKeyedStateEntries());
        }
    }

    /** Timers of a job with keyState() have no effect in a job without it. */
    @Test
    void keysAreKeptOnceKeyStateIsGone() throws Exception {
        for (boolean writesThrough : new boolean[] {false, true}) {
            ScoreSettings<Reading> settings = Rows.settings();
            settings.writesThrough = writesThrough;
            settings.keySeconds = 60;
            OperatorSubtaskState state;
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.open();
                harness.setProcessingTime(1000);
                harness.feed(Rows.make(100, 1, 9), 1, 0);
                state = harness.snapshot(1, 1);
            }
            settings.keySeconds = 0;
            OperatorSubtaskState kept;
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.initializeState(state);
                harness.open();
                harness.setProcessingTime(200_000);
                assertTrue(harness.numKeyedStateEntries() > 0, "kept");
                kept = harness.snapshot(2, 2);
            }
            settings.keySeconds = 60; // back again: a key is forgotten after its next row
            try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
                harness.initializeState(kept);
                harness.open();
                harness.setProcessingTime(300_000);
                harness.feed(Rows.make(1, 1, 9), 1, 0);
                harness.setProcessingTime(361_000);
                assertEquals(0, harness.numKeyedStateEntries());
            }
        }
    }

    /** A key has one timer, no matter how often its model is evicted. */
    @Test
    void oneTimerPerKey() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.keySeconds = 3600;
        settings.cacheBytes = 1;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            for (int i = 0; i < 50; i++) {
                harness.setProcessingTime(1000 * i);
                harness.processElement(new Reading("key-" + i % 2, i, new double[] {1, 2, 3}), 0);
            }
            assertEquals(2, harness.numProcessingTimeTimers());
        }
    }

    /** Single rows, each followed by an eviction, do not fill the state with headers of pieces. */
    @Test
    void aQuietKeyTakesLittleMoreThanItsRows() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.keySeconds = 3600;
        settings.cacheBytes = 1;
        int keys = 50;
        long rowBytes = RowLayout.rowBytes(3);
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            List<Reading> readings = new ArrayList<>();
            for (int row = 0; row < 40; row++) {
                for (int key = 0; key < keys; key++) {
                    readings.add(new Reading("key-" + key, row, new double[] {row % 7, key, 1}));
                }
            }
            harness.feed(readings, 1, 0);
            long bytes = harness.snapshot(1, 1).getStateSize();
            long extra = bytes / keys - 40 * rowBytes;
            assertTrue(extra < 200, extra + " bytes per key besides its rows");
            assertEquals(Rows.reference(readings), harness.extractOutputValues().stream().map(Rows::text).toList());
        }
    }

    /** Joining the pieces of a log writes the whole log again. */
    @Test
    void joiningPiecesIsRare() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.parameters = Map.of("window_size", "2048"); // no base is due yet
        settings.cacheBytes = 1;
        int rows = 600;
        OifOperator<String, Reading> operator = new OifOperator<>(settings);
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.open();
            for (int row = 0; row < rows; row++) {
                for (int key = 0; key < 2; key++) {
                    harness.processElement(new Reading("key-" + key, row, new double[] {row % 7, key, 1}), 0);
                }
            }
            assertEquals(0, operator.models().writtenBases);
            long times = operator.models().writtenBytes / (2 * rows * RowLayout.rowBytes(3));
            assertTrue(times <= 12, "each row is written " + times + " times");
        }
    }

    /** A model that is evicted again and again does not replay the same rows each time. */
    @Test
    void manyRowsAreReplayedOnce() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.parameters = Map.of("window_size", "2048");
        settings.cacheBytes = 1;
        Reading busy = new Reading("busy", 1, new double[] {1, 2, 3});
        Reading other = new Reading("other", 1, new double[] {1, 2, 3});
        OifOperator<String, Reading> operator = new OifOperator<>(settings);
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.open();
            for (int row = 0; row < 1500; row++) {
                harness.processElement(busy, 0);
            }
            for (int visit = 0; visit < 5; visit++) {
                harness.processElement(other, 0); // evicts the other model
                harness.processElement(busy, 0);
            }
            assertEquals(1, operator.models().writtenBases);
            assertTrue(operator.models().replayedRows < 1600, operator.models().replayedRows + " rows replayed");
        }
    }

    @Test
    void memoryThatIsNotDeclaredIsRefused() throws Exception {
        for (boolean writesThrough : new boolean[] {false, true}) {
            ScoreSettings<Reading> settings = Rows.settings();
            settings.writesThrough = writesThrough;
            try (Harness harness = new Harness(operator(settings), 1, 0, "10m")) {
                IllegalStateException refused = assertThrows(IllegalStateException.class, harness::open);
                assertTrue(refused.getMessage().contains("taskmanager.memory.task.off-heap.size: "), refused.getMessage());
            }
        }
    }

    /** Several operators of a job share the memory of a task manager. */
    @Test
    void memoryOfSeveralOperatorsIsAddedUp() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        settings.cacheBytes = 40 << 20;
        for (int i = 0; i < 2; i++) { // the second time too: a closed operator no longer counts
            try (Harness first = new Harness(operator(settings), 1, 0, "60m");
                    Harness second = new Harness(operator(settings), 1, 0, "60m")) {
                first.open();
                IllegalStateException refused = assertThrows(IllegalStateException.class, second::open);
                assertTrue(refused.getMessage().contains("taskmanager.memory.task.off-heap.size: 97m"), refused.getMessage());
            }
        }
    }

    /** Other threads read gauges at any time, even after the operator is closed. */
    @Test
    void metricsDoNotTouchTheModels() throws Exception {
        Map<String, Gauge<?>> gauges = new HashMap<>();
        MetricGroup group = new UnregisteredMetricsGroup() {
            @Override
            public <N, G extends Gauge<N>> G gauge(String name, G gauge) {
                gauges.put(name, gauge);
                return gauge;
            }
        };
        ScoreSettings<Reading> settings = Rows.settings();
        settings.cacheBytes = 1;
        OifOperator<String, Reading> operator = new OifOperator<>(settings);
        try (Harness harness = new Harness(operator, 1, 0, "8g")) {
            harness.open();
            operator.models().register(group);
            harness.feed(Rows.make(1000, 5, 10), 1, 0);
            harness.snapshot(1, 1);
            assertEquals(1000L, number(gauges, "cacheHits") + number(gauges, "cacheMisses"));
            assertEquals(number(gauges, "cacheEvictions") + 1, number(gauges, "cacheMisses"));
            for (String name : List.of("modelsLive", "modelBytes", "replayedRows", "stateBytesWritten", "checkpointBytes")) {
                assertTrue(number(gauges, name) > 0, name);
            }
            assertEquals(0L, number(gauges, "waitingRowBytes"));
        }
        gauges.forEach((name, gauge) -> assertDoesNotThrow(gauge::getValue, name));
        assertEquals(0L, number(gauges, "modelsLive"));
        assertEquals(0L, number(gauges, "modelBytes"));
    }

    private static long number(Map<String, Gauge<?>> gauges, String name) {
        return ((Number) gauges.get(name).getValue()).longValue();
    }

    /** Java encodes all invalid strings alike, but each needs its own model. */
    @Test
    void differentKeysHaveDifferentNames() throws Exception {
        KeyNames<String> names = new KeyNames<>(Types.STRING.createSerializer(
                new org.apache.flink.api.common.serialization.SerializerConfigImpl()));
        assertArrayEquals(new byte[] {'a', (byte) 0xC3, (byte) 0xA4}, names.of("a\u00e4").bytes());
        assertNotEquals(names.of("?"), names.of("\ud800"));
        assertNotEquals(names.of("\ud801"), names.of("\ud800"));
        assertEquals(names.of("\ud800x"), names.of("\ud800x"));
    }

    @Test
    void badRowsSayWhatIsWrong() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        Reading infinite = new Reading("key", 1, new double[] {1, Double.POSITIVE_INFINITY, 3});
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            Exception refused = assertThrows(IllegalArgumentException.class, () -> harness.processElement(infinite, 0));
            assertTrue(refused.getMessage().contains("column pressure"), refused.getMessage());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> harness.processElement(new Reading("key", 1, new double[] {1}), 0));
        }
        settings.mendsInfinite = true;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            harness.processElement(infinite, 0);
            assertEquals(1, harness.extractOutputValues().size());
            assertEquals(Double.POSITIVE_INFINITY, infinite.numbers[1]); // the value itself does not change
        }
    }

    @Test
    void fewBytesPerQuietKey() throws Exception {
        ScoreSettings<Reading> settings = Rows.settings();
        int keys = 2000;
        try (Harness harness = new Harness(operator(settings), 1, 0, "8g")) {
            harness.open();
            for (int i = 0; i < keys; i++) {
                harness.processElement(new Reading("key-" + i, i, new double[] {1, 2, 3}), 0);
            }
            long bytes = harness.snapshot(1, 1).getStateSize();
            assertTrue(bytes < keys * (200 + RowLayout.rowBytes(3)), bytes / keys + " bytes per key");
        }
    }
}

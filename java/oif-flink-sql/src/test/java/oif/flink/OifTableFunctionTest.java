package oif.flink;

import static org.junit.jupiter.api.Assertions.*;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import oif.Params;
import oif.Pipeline;
import oif.Result;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;

/** Queries on a cluster in this process. */
class OifTableFunctionTest {
    private static final int ROWS = 3000;
    private static final TypeInformation<Row> TYPE = Types.ROW_NAMED(
            new String[] {"pump", "row", "seconds", "flow", "pressure"},
            Types.STRING, Types.LONG, Types.DOUBLE, Types.DOUBLE, Types.DOUBLE);

    static Row reading(long row) {
        SplittableRandom random = new SplittableRandom(row * 0x9E3779B97F4A7C15L + 1);
        String pump = "pump-" + random.nextInt(20);
        double flow = random.nextDouble() + (random.nextInt(300) == 0 ? 5 : 0);
        return Row.of(pump, row, 1e9 + row, flow, random.nextInt(50) == 0 ? null : random.nextDouble());
    }

    /** Fails once: after the first checkpoint with rows, or near the end if there was none. */
    static final class FailsOnce implements MapFunction<Row, Row>, CheckpointListener {
        static final AtomicInteger failures = new AtomicInteger();
        private static final long serialVersionUID = 1;
        private boolean hasSeen;
        private boolean isSaved;

        @Override
        public Row map(Row row) {
            long number = row.<Long>getFieldAs("row");
            hasSeen |= number > 100;
            if ((isSaved || number > ROWS * 3 / 4) && failures.compareAndSet(0, 1)) {
                throw new IllegalStateException("on purpose");
            }
            return row;
        }

        @Override
        public void notifyCheckpointComplete(long id) {
            isSaved = hasSeen;
        }
    }

    private static List<String> expected() {
        List<String> texts = new ArrayList<>();
        try (Pipeline pipeline = new Pipeline(
                Params.of("online-iforest").set("window_size", 128), 2, Params.options().set("alert_rate", 0.01))) {
            for (long row = 0; row < ROWS; row++) {
                Row r = reading(row);
                Double pressure = r.<Double>getFieldAs(4);
                double[] numbers = {r.<Double>getFieldAs(3), pressure == null ? Double.NaN : pressure};
                Result result = pipeline.process(Pipeline.utf8(r.getFieldAs(0)), r.<Double>getFieldAs(2), numbers);
                texts.add(row + " " + r.getField(0) + " " + result.score() + " " + result.threshold() + " "
                        + result.anomaly() + " " + result.grade());
            }
        }
        texts.sort(null);
        return texts;
    }

    private static StreamTableEnvironment tables(String backend) {
        Configuration settings = new Configuration();
        settings.setString("state.backend.type", backend);
        settings.setString("execution.checkpointing.interval", "100 ms");
        settings.setString("restart-strategy.type", "fixed-delay");
        settings.setString("restart-strategy.fixed-delay.delay", "10 ms");
        StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(2, settings);
        GeneratorFunction<Long, Row> generator = OifTableFunctionTest::reading;
        DataGeneratorSource<Row> source = new DataGeneratorSource<>(generator, ROWS, RateLimiterStrategy.perSecond(ROWS / 2), TYPE);
        DataStream<Row> rows = job.fromSource(source, WatermarkStrategy.noWatermarks(), "readings")
                .setParallelism(1)
                .map(new FailsOnce())
                .returns(TYPE)
                .setParallelism(1);
        StreamTableEnvironment tables = StreamTableEnvironment.create(job);
        tables.createTemporaryView("readings", rows);
        tables.createTemporarySystemFunction("oif", OifTableFunction.class);
        return tables;
    }

    private static List<String> query(StreamTableEnvironment tables, String cache) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<Row> rows = tables.executeSql("SELECT * FROM oif("
                        + "input => TABLE readings PARTITION BY pump, numbers => DESCRIPTOR(flow, pressure), "
                        + "row_time => DESCRIPTOR(seconds), detector => 'online-iforest', "
                        + "parameters => MAP['window_size', '128'], options => MAP['alert_rate', '0.01']" + cache + ")")
                .collect()) {
            rows.forEachRemaining(r -> texts.add(r.getField("row") + " " + r.getField("pump") + " " + r.getField("score") + " "
                    + r.getField("threshold") + " " + r.getField("anomaly") + " " + r.getField("grade")));
        }
        texts.sort(null);
        return texts;
    }

    @Test
    void afterAFailureAQueryGivesTheResultsOfOneProcess() throws Exception {
        FailsOnce.failures.set(0);
        assertEquals(expected(), query(tables("hashmap"), ""));
        assertEquals(1, FailsOnce.failures.get(), "the job must fail once");
    }

    /** Almost every row loads a model from the state. Flink's time-to-live must not affect it. */
    @Test
    void aCacheOfOneModelOnRocksDb() throws Exception {
        FailsOnce.failures.set(0);
        StreamTableEnvironment tables = tables("rocksdb");
        tables.getConfig().set("table.exec.state.ttl", "1 ms");
        assertEquals(expected(), query(tables, ", cache_mebibytes => 0"));
        assertEquals(1, FailsOnce.failures.get(), "the job must fail once");
    }
}

package oif.flink;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/**
 * A benchmark, not a test: scores the same rows with the operator, with writeThrough() and with SQL.
 * Prints the processor time of the whole process per row, including the source.
 *
 * <pre>SqlRate ROWS KEYS</pre>
 */
public final class SqlRate {
    private static final TypeInformation<Row> TYPE = Types.ROW_NAMED(
            new String[] {"pump", "flow", "pressure", "temperature"}, Types.STRING, Types.DOUBLE, Types.DOUBLE, Types.DOUBLE);

    private SqlRate() {}

    private static DataStream<Row> readings(StreamExecutionEnvironment job, long rows, int keys) {
        GeneratorFunction<Long, Row> generator = row -> {
            SplittableRandom random = new SplittableRandom(row);
            return Row.of("pump-" + random.nextInt(keys), random.nextDouble(), random.nextDouble(), random.nextDouble());
        };
        return job.fromSource(new DataGeneratorSource<>(generator, rows, TYPE), WatermarkStrategy.noWatermarks(), "readings");
    }

    private static void run(String how, String backend, long rows, int keys) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("state.backend.type", backend);
        settings.setString("execution.checkpointing.interval", "2 s");
        settings.setString("execution.checkpointing.storage", "filesystem"); // memory storage is limited to 5 MB
        settings.setString("execution.checkpointing.dir", Files.createTempDirectory("oif-rate").toUri().toString());
        settings.setString("restart-strategy.type", "disable");
        settings.setString("taskmanager.memory.task.off-heap.size", "1g");
        StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(1, settings);
        DataStream<Row> readings = readings(job, rows, keys);
        if (how.equals("sql")) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(job);
            tables.createTemporaryView("readings", readings);
            tables.createTemporarySystemFunction("oif", OifTableFunction.class);
            tables.toDataStream(tables.sqlQuery("SELECT * FROM oif(input => TABLE readings PARTITION BY pump, "
                            + "numbers => DESCRIPTOR(flow, pressure, temperature), detector => 'online-iforest', "
                            + "parameters => MAP['window_size', '256'])"))
                    .sinkTo(new DiscardingSink<>());
        } else if (how.equals("no model")) {
            readings.keyBy(r -> (String) r.getField(0)).map(r -> r).returns(TYPE).sinkTo(new DiscardingSink<>());
        } else {
            OifScore<String, Row> score = OifScore.of(readings.keyBy(r -> (String) r.getField(0)))
                    .columns(List.of("flow", "pressure", "temperature"), r -> new double[] {
                        (Double) r.getField(1), (Double) r.getField(2), (Double) r.getField(3)
                    })
                    .detector("online-iforest", Map.of("window_size", 256))
                    .cache(MemorySize.ofMebiBytes(256));
            (how.equals("operator") ? score : score.writeThrough()).apply().sinkTo(new DiscardingSink<>());
        }
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long begin = System.nanoTime();
        job.execute();
        System.out.printf(
                "%-13s %-8s %d keys: %.2f us CPU per row, %.0f rows/s%n",
                how, backend, keys, (system.getProcessCpuTime() - cpu) / 1e3 / rows, rows / ((System.nanoTime() - begin) / 1e9));
    }

    public static void main(String[] arguments) throws Exception {
        long rows = Long.parseLong(arguments[0]);
        int keys = Integer.parseInt(arguments[1]);
        run("operator", "hashmap", rows / 10, keys); // warm-up
        run("sql", "hashmap", rows / 10, keys);
        for (String backend : List.of("hashmap", "rocksdb")) {
            for (String how : List.of("no model", "operator", "write-through", "sql")) {
                run(how, backend, rows, keys);
            }
        }
    }
}

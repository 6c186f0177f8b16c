package oif.flink.demo;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Synthetic readings of pumps. Now and then the pressure of a pump drops. A reading is a function of
 * its number, so the job and its reference process the same rows even after a failure.
 *
 * <pre>Pumps ROWS PUMPS FILE.csv   writes the readings for oif score</pre>
 */
public final class Pumps {
    private static final long FAULT_EVERY = 5000;
    private static final long FAULT_ROWS = 20;

    private Pumps() {}

    static Reading reading(long row, int pumps) {
        SplittableRandom random = new SplittableRandom(row * 0x9E3779B97F4A7C15L + 1);
        int pump = random.nextInt(pumps);
        double flow = 10 + pump % 7 + random.nextDouble();
        double pressure = 3 + flow / 10 + random.nextDouble() / 10;
        double temperature = 40 + random.nextDouble() * 2;
        boolean isFaulty = row % FAULT_EVERY > FAULT_EVERY - FAULT_ROWS * pumps / 4 && pump % 50 == 3;
        return new Reading(row, "pump-" + pump, 1_700_000_000 + row / 10.0, flow, isFaulty ? 1 : pressure, temperature);
    }

    /** One source subtask, because the rows of a pump must arrive in one order. */
    static DataStream<Reading> stream(StreamExecutionEnvironment job, long rows, int pumps, double rowsPerSecond) {
        return Source.of(job, rows, pumps, rowsPerSecond);
    }

    /** A class of its own, so main runs without Flink. */
    private static final class Source {
        static DataStream<Reading> of(StreamExecutionEnvironment job, long rows, int pumps, double rowsPerSecond) {
            GeneratorFunction<Long, Reading> generator = row -> reading(row, pumps);
            DataGeneratorSource<Reading> source = new DataGeneratorSource<>(
                    generator, rows, RateLimiterStrategy.perSecond(rowsPerSecond), Types.POJO(Reading.class));
            return job.fromSource(source, WatermarkStrategy.noWatermarks(), "pumps").setParallelism(1).uid("pumps");
        }
    }

    public static void main(String[] arguments) throws IOException {
        long rows = Long.parseLong(arguments[0]);
        int pumps = Integer.parseInt(arguments[1]);
        try (BufferedWriter file = Files.newBufferedWriter(Path.of(arguments[2]))) {
            file.write("row,pump,time,flow,pressure,temperature\n");
            for (long row = 0; row < rows; row++) {
                Reading r = reading(row, pumps);
                file.write(r.row + "," + r.pump + "," + r.time + "," + r.flow + "," + r.pressure + "," + r.temperature + "\n");
            }
        }
    }
}

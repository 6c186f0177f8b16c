package oif.flink.demo;

import java.util.List;
import oif.flink.OifScore;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The first job of docs/flink.md, which shows the lines of main. It ends after 40,000 rows. */
public final class FirstJob {
    private FirstJob() {}

    public static void main(String[] arguments) throws Exception {
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        job.enableCheckpointing(10_000); // milliseconds
        DataStream<Reading> readings = Pumps.stream(job, 40_000, 20, 10_000); // your source
        OifScore.of(readings.keyBy(r -> r.pump))
                .columns(List.of("flow", "pressure", "temperature"), r -> new double[] {r.flow, r.pressure, r.temperature})
                .explain(1)
                .cache(MemorySize.ofMebiBytes(64))
                .apply()
                .filter(scored -> scored.anomaly)
                .print();
        job.execute("pumps");
    }
}

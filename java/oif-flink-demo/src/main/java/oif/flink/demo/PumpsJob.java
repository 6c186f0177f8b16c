package oif.flink.demo;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oif.flink.OifScore;
import oif.flink.Scored;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * Scores pumps and writes every result to files, exactly once.
 *
 * <pre>--rows N --pumps N --rate ROWS_PER_SECOND --output FOLDER [--cache SIZE] [--write-through yes]
 * [--bases-only yes] [--detector NAME] [--forgetful yes]</pre>
 */
public final class PumpsJob {
    private PumpsJob() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>(Map.of(
                "rows", "100000", "pumps", "200", "rate", "20000", "cache", "64m", "detector", "online-iforest", "write-through", "no",
                "bases-only", "no", "forgetful", "no"));
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            options.put(arguments[i].substring(2), arguments[i + 1]);
        }
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Reading> readings = Pumps.stream(
                job,
                Long.parseLong(options.get("rows")),
                Integer.parseInt(options.get("pumps")),
                Double.parseDouble(options.get("rate")));
        DataStream<String> lines = options.get("forgetful").equals("yes")
                ? readings.keyBy(r -> r.pump).process(new Forgetful(options))
                : score(readings, options).map(PumpsJob::line).returns(Types.STRING);
        lines.sinkTo(FileSink.forRowFormat(new Path(options.get("output")), new SimpleStringEncoder<String>())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build()) // results appear with each checkpoint
                        .build())
                .uid("files");
        job.execute("pumps");
    }

    private static DataStream<Scored<Reading>> score(DataStream<Reading> readings, Map<String, String> options) {
        OifScore<String, Reading> score = OifScore.of(readings.keyBy(r -> r.pump))
                .columns(List.of("flow", "pressure", "temperature"), r -> new double[] {r.flow, r.pressure, r.temperature})
                .time(r -> r.time)
                .detector(options.get("detector"), Map.of())
                .explain(1)
                .cache(MemorySize.parse(options.get("cache")))
                .keyState(Duration.ofDays(1))
                .basesOnly(options.get("bases-only").equals("yes"));
        return (options.get("write-through").equals("yes") ? score.writeThrough() : score).apply();
    }

    private static String line(Scored<Reading> scored) {
        return scored.value.row + "," + scored.score + "," + scored.threshold + "," + (scored.anomaly ? 1 : 0);
    }
}

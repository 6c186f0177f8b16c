package oif.flink.demo;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * Scores pumps and writes every result to files, exactly once.
 *
 * <pre>--rows N --pumps N --rate ROWS_PER_SECOND --output FOLDER, and the options of {@link PumpScores}</pre>
 */
public final class PumpsJob {
    private PumpsJob() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> defaults = new HashMap<>(Map.of("rows", "100000", "pumps", "200", "rate", "20000"));
        defaults.putAll(PumpScores.DEFAULTS);
        Map<String, String> options = Options.read(arguments, defaults);
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Reading> readings = Pumps.stream(
                job,
                Long.parseLong(options.get("rows")),
                Integer.parseInt(options.get("pumps")),
                Double.parseDouble(options.get("rate")));
        PumpScores.lines(readings, options)
                .sinkTo(FileSink.forRowFormat(new Path(options.get("output")), new SimpleStringEncoder<String>())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build()) // results appear with each checkpoint
                        .build())
                .uid("files");
        job.execute("pumps");
    }
}

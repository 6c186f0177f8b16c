package oif.flink.demo;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import oif.flink.OifScore;
import oif.flink.Scored;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Turns readings into lines of results, for the jobs of the tests.
 *
 * <pre>[--cache SIZE] [--detector NAME] [--write-through yes] [--bases-only yes] [--forgetful yes]</pre>
 */
public final class PumpScores {
    /** The defaults of the options. */
    public static final Map<String, String> DEFAULTS =
            Map.of("cache", "64m", "detector", "online-iforest", "write-through", "no", "bases-only", "no", "forgetful", "no");

    private PumpScores() {}

    public static DataStream<String> lines(DataStream<Reading> readings, Map<String, String> options) {
        return options.get("forgetful").equals("yes")
                ? readings.keyBy(r -> r.pump).process(new Forgetful(options))
                : score(readings, options)
                        .map(scored -> scored.value.result(scored.score, scored.threshold, scored.anomaly))
                        .returns(Types.STRING);
    }

    private static DataStream<Scored<Reading>> score(DataStream<Reading> readings, Map<String, String> options) {
        OifScore<String, Reading> score = OifScore.of(readings.keyBy(r -> r.pump))
                .columns(List.of("flow", "pressure", "temperature"), Reading::numbers)
                .time(r -> r.time)
                .detector(options.get("detector"), Map.of())
                .explain(1)
                .cache(MemorySize.parse(options.get("cache")))
                .keyState(Duration.ofDays(1))
                .basesOnly(options.get("bases-only").equals("yes"));
        return (options.get("write-through").equals("yes") ? score.writeThrough() : score).apply();
    }
}

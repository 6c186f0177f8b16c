package oif.flink.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import oif.flink.OifScore;
import oif.flink.Scored;
import oif.flink.demo.Options;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The job that benchmarks/flink.py measures.
 *
 * <pre>--rows N --keys N --first-rows N --report FOLDER [--window N] [--cache SIZE] [--model none]
 * [--quiet-keys N --passes N]</pre>
 *
 * <p>With quiet keys, the job first makes that many passes over all of them. Afterwards only {@code
 * --keys} of them have rows.
 */
public final class BenchJob {
    private BenchJob() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = Options.read(
                arguments,
                Map.of("rows", "100000", "keys", "100", "first-rows", "10000", "window", "256", "cache", "256m", "model", "yes",
                        "quiet-keys", "0", "passes", "0"));
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        KeyedStream<BenchRow, String> rows = rows(job, options).keyBy(row -> row.key);
        String report = options.get("report");
        long firstRows = Long.parseLong(options.get("first-rows"));
        if (options.get("model").equals("none")) {
            rows.transform("probe", Types.VOID, new Probe<>(row -> row.numbers[0], report, firstRows));
        } else {
            score(rows, options).transform("probe", Types.VOID, new Probe<>(scored -> scored.score, report, firstRows));
        }
        job.execute("bench");
    }

    private static DataStream<BenchRow> rows(StreamExecutionEnvironment job, Map<String, String> options) {
        int keyCount = Integer.parseInt(options.get("keys"));
        int quietCount = Integer.parseInt(options.get("quiet-keys"));
        long quietRows = quietCount * Long.parseLong(options.get("passes"));
        String[] keys = BenchRow.keys(keyCount);
        String[] quiet = BenchRow.keys(quietCount);
        GeneratorFunction<Long, BenchRow> generator =
                row -> row < quietRows ? BenchRow.of(row, quiet[(int) (row % quiet.length)]) : BenchRow.of(row, keys);
        DataGeneratorSource<BenchRow> source =
                new DataGeneratorSource<>(generator, Long.parseLong(options.get("rows")), Types.POJO(BenchRow.class));
        return job.fromSource(source, WatermarkStrategy.noWatermarks(), "rows").setParallelism(1);
    }

    private static DataStream<Scored<BenchRow>> score(KeyedStream<BenchRow, String> rows, Map<String, String> options) {
        List<String> names = IntStream.range(0, BenchRow.COLUMNS).mapToObj(i -> "c" + i).toList();
        return OifScore.of(rows)
                .columns(names, row -> row.numbers)
                .detector("online-iforest", Map.of("window_size", options.get("window")))
                .cache(MemorySize.parse(options.get("cache")))
                .keyState(Duration.ofDays(7))
                .apply();
    }
}

package oif.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import oif.flink.OifScore;
import oif.flink.Scored;
import oif.flink.demo.Forgetful;
import oif.flink.demo.Reading;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Scores a topic of pump readings and writes every result to another topic, in transactions.
 *
 * <pre>--broker HOST:PORT --input TOPIC --output TOPIC [--cache SIZE] [--detector NAME] [--forgetful yes]</pre>
 *
 * <p>The topic is partitioned by pump, so the readings of a pump come in one order.
 */
public final class FlinkTopicJob {
    private FlinkTopicJob() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options =
                new HashMap<>(Map.of("cache", "64m", "detector", "online-iforest", "forgetful", "no"));
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            options.put(arguments[i].substring(2), arguments[i + 1]);
        }
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Reading> readings = job.fromSource(source(options), WatermarkStrategy.noWatermarks(), "readings")
                .uid("readings")
                .map(Lines::reading)
                .returns(Types.POJO(Reading.class));
        DataStream<String> lines = options.get("forgetful").equals("yes")
                ? readings.keyBy(r -> r.pump).process(new Forgetful(options))
                : score(readings, options).map(FlinkTopicJob::line).returns(Types.STRING);
        lines.sinkTo(sink(options)).uid("results");
        job.execute("topic to topic");
    }

    private static KafkaSource<String> source(Map<String, String> options) {
        return KafkaSource.<String>builder()
                .setBootstrapServers(options.get("broker"))
                .setTopics(options.get("input"))
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
    }

    /** The transactions of a job that was lost are aborted by the one that takes over: both have the same prefix. */
    private static KafkaSink<String> sink(Map<String, String> options) {
        return KafkaSink.<String>builder()
                .setBootstrapServers(options.get("broker"))
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(options.get("output"))
                .setProperty("transaction.timeout.ms", "600000") // longer than the longest time between two checkpoints
                .setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
                        .setTopic(options.get("output"))
                        .setValueSerializationSchema(new SimpleStringSchema())
                        .build())
                .build();
    }

    private static DataStream<Scored<Reading>> score(DataStream<Reading> readings, Map<String, String> options) {
        return OifScore.of(readings.keyBy(r -> r.pump))
                .columns(List.of("flow", "pressure", "temperature"), r -> new double[] {r.flow, r.pressure, r.temperature})
                .time(r -> r.time)
                .detector(options.get("detector"), Map.of())
                .cache(MemorySize.parse(options.get("cache")))
                .apply();
    }

    private static String line(Scored<Reading> scored) {
        return scored.value.row + "," + scored.score + "," + scored.threshold + "," + (scored.anomaly ? 1 : 0);
    }
}

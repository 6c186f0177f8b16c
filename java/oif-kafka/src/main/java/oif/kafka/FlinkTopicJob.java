package oif.kafka;

import java.util.Map;
import oif.flink.demo.Options;
import oif.flink.demo.PumpScores;
import oif.flink.demo.Reading;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
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
 * <pre>--broker HOST:PORT --input TOPIC --output TOPIC, and the options of {@link PumpScores}</pre>
 *
 * <p>The topic is partitioned by pump, so the readings of a pump arrive in one order.
 */
public final class FlinkTopicJob {
    private FlinkTopicJob() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = Options.read(arguments, PumpScores.DEFAULTS);
        StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Reading> readings = job.fromSource(source(options), WatermarkStrategy.noWatermarks(), "readings")
                .uid("readings")
                .map(Lines::reading)
                .returns(Types.POJO(Reading.class));
        PumpScores.lines(readings, options).sinkTo(sink(options)).uid("results");
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

    /** A restarted job has the same prefix, so it aborts the transactions of the failed one. */
    private static KafkaSink<String> sink(Map<String, String> options) {
        return KafkaSink.<String>builder()
                .setBootstrapServers(options.get("broker"))
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(options.get("output"))
                .setProperty("transaction.timeout.ms", "600000") // longer than the time between two checkpoints
                .setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
                        .setTopic(options.get("output"))
                        .setValueSerializationSchema(new SimpleStringSchema())
                        .build())
                .build();
    }
}

package oif.kafka;

import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import oif.Params;
import oif.Result;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Scores a topic of pump readings with Kafka Streams. The record key is the pump.
 *
 * <pre>StreamsApp BROKER INPUT OUTPUT FOLDER [MODELS_PER_TASK]</pre>
 */
public final class StreamsApp {
    private StreamsApp() {}

    public static void main(String[] arguments) throws InterruptedException {
        int maxModels = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 10_000;
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(arguments[1], Consumed.with(Serdes.String(), Serdes.String()))
                .process(OifProcessor.supplier(new Pumps(), Params.of("online-iforest"), 3, Params.options(), maxModels))
                .to(arguments[2], Produced.with(Serdes.String(), Serdes.String()));
        try (KafkaStreams streams = new KafkaStreams(builder.build(), settings(arguments))) {
            Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
            streams.setUncaughtExceptionHandler(error -> {
                error.printStackTrace();
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.setStateListener((now, before) -> {
                if (now == KafkaStreams.State.ERROR) {
                    Runtime.getRuntime().halt(1);
                }
            });
            streams.start();
            new CountDownLatch(1).await(); // until the process is stopped
        }
    }

    private static Properties settings(String[] arguments) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "oif-" + arguments[2]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 1000);
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 6000);
        return settings;
    }

    private static final class Pumps implements OifProcessor.Values<String, String> {
        @Override
        public double[] row(String value) {
            return Lines.reading(value).numbers();
        }

        @Override
        public double seconds(String value) {
            return Lines.reading(value).time;
        }

        @Override
        public String scored(String value, Result result) {
            return Lines.reading(value).result(result.score(), result.threshold(), result.anomaly());
        }
    }
}

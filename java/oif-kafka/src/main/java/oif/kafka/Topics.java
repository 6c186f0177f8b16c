package oif.kafka;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Creates, fills and reads topics for the tests.
 *
 * <pre>
 * Topics create BROKER PARTITIONS TOPIC...
 * Topics feed BROKER TOPIC ROWS.csv FROM TO RATE        rows FROM to TO - 1, RATE per second; the second column is the key
 * Topics read BROKER TOPIC ROWS SECONDS FILE            committed records, at least ROWS
 * </pre>
 */
public final class Topics {
    private Topics() {}

    public static void main(String[] arguments) throws Exception {
        String broker = arguments[1];
        switch (arguments[0]) {
            case "create" -> create(broker, Integer.parseInt(arguments[2]), List.of(arguments).subList(3, arguments.length));
            case "feed" -> feed(broker, arguments);
            case "read" -> read(broker, arguments);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void create(String broker, int partitions, List<String> names) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker))) {
            List<NewTopic> topics = names.stream().map(name -> new NewTopic(name, partitions, (short) 1)).toList();
            admin.createTopics(topics).all().get(60, TimeUnit.SECONDS);
        }
    }

    /** The records of a key go to one partition in the order of the file, as the producer is idempotent. */
    private static void feed(String broker, String[] arguments) throws IOException, InterruptedException {
        long from = Long.parseLong(arguments[4]);
        long to = Long.parseLong(arguments[5]);
        long rate = Long.parseLong(arguments[6]);
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker);
        settings.put("linger.ms", "5");
        try (KafkaProducer<String, String> producer =
                        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
                BufferedReader rows = Files.newBufferedReader(Path.of(arguments[3]))) {
            for (long i = 0; i <= from; i++) { // the first line is the header
                rows.readLine();
            }
            long begin = System.nanoTime();
            for (long i = from; i < to; i++) {
                String row = rows.readLine();
                producer.send(new ProducerRecord<>(arguments[2], row.split(",", 3)[1], row));
                long early = (i - from) * 1_000_000_000L / rate - (System.nanoTime() - begin);
                if (early > 10_000_000) {
                    Thread.sleep(early / 1_000_000);
                }
            }
        }
    }

    private static void read(String broker, String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[3]);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[4]));
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker);
        settings.put("isolation.level", "read_committed");
        try (KafkaConsumer<String, String> consumer =
                        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                BufferedWriter file = Files.newBufferedWriter(Path.of(arguments[5]), StandardCharsets.UTF_8)) {
            List<TopicPartition> partitions = new ArrayList<>();
            consumer.partitionsFor(arguments[2]).forEach(p -> partitions.add(new TopicPartition(p.topic(), p.partition())));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long count = 0;
            while (!isDone(consumer, partitions, count, wanted, deadline)) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    file.write(record.value() + "\n");
                    count++;
                }
            }
            System.out.println(count + " records");
        }
    }

    /** Whether all partitions are read to their end and the records suffice, or the time is over. */
    private static boolean isDone(
            KafkaConsumer<String, String> consumer, List<TopicPartition> partitions, long count, long wanted, long deadline) {
        if (System.nanoTime() > deadline) {
            return true;
        }
        if (count < wanted) {
            return false;
        }
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        return partitions.stream().allMatch(each -> consumer.position(each) >= ends.get(each));
    }
}

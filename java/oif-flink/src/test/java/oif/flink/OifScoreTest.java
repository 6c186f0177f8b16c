package oif.flink;

import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import oif.OifException;
import oif.flink.Rows.Reading;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;

/** Whole jobs on a cluster in this process. */
class OifScoreTest {
    private static KeyedStream<Reading, String> keyed(StreamExecutionEnvironment job, List<Reading> readings) {
        return job.fromData(readings, Types.POJO(Reading.class)).setParallelism(1).keyBy(reading -> reading.key);
    }

    private static OifScore<String, Reading> score(KeyedStream<Reading, String> stream) {
        return OifScore.of(stream)
                .columns(Rows.COLUMNS, reading -> reading.numbers)
                .time(reading -> reading.time)
                .detector("online-iforest", Rows.PARAMETERS)
                .options(Rows.OPTIONS)
                .explain(2);
    }

    @Test
    void aJobGivesTheResultsOfOneProcess() throws Exception {
        List<Reading> readings = Rows.make(6000, 20, 11);
        List<String> expected = Rows.reference(readings);
        Collections.sort(expected);
        for (boolean writesThrough : new boolean[] {false, true}) {
            StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(2);
            job.enableCheckpointing(100);
            OifScore<String, Reading> score =
                    score(keyed(job, readings)).cache(MemorySize.ofMebiBytes(1)).keyState(Duration.ofHours(1));
            List<String> texts = new ArrayList<>();
            try (CloseableIterator<Scored<Reading>> results =
                    (writesThrough ? score.writeThrough() : score).apply().executeAndCollect()) {
                results.forEachRemaining(scored -> texts.add(Rows.text(scored)));
            }
            Collections.sort(texts);
            assertEquals(expected, texts);
        }
    }

    @Test
    void whatCannotWorkIsRefusedBeforeTheJobStarts() {
        StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(1);
        KeyedStream<Reading, String> stream = keyed(job, Rows.make(10, 2, 12));
        assertThrows(IllegalStateException.class, () -> OifScore.of(stream).apply());
        assertThrows(OifException.class, () -> score(stream).detector("forest", Map.of()).apply());
        assertThrows(OifException.class, () -> score(stream).options(Map.of("alert_rate", 7)).apply());
        IllegalArgumentException budget =
                assertThrows(IllegalArgumentException.class, () -> score(stream).options(Map.of("alerts", 5)).apply());
        assertTrue(budget.getMessage().contains("alert_rate"), budget.getMessage());
        assertThrows(IllegalArgumentException.class, () -> score(stream).options(Map.of("max_keys", 5)).apply());
        assertThrows(IllegalArgumentException.class, () -> score(stream).options(Map.of("silence", 60)).apply());
        assertThrows(IllegalArgumentException.class, () -> score(stream).waitingRows(MemorySize.parse("2g")));
        assertThrows(IllegalArgumentException.class, () -> score(stream).keyState(Duration.ofMillis(10)));
        assertThrows(
                IllegalArgumentException.class,
                () -> OifScore.of(stream).columns(List.of("a", "a"), r -> r.numbers).apply());
        assertThrows(IllegalStateException.class, () -> score(stream).writeThrough().basesOnly(true).apply());
    }
}

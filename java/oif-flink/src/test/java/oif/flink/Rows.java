package oif.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import oif.Params;
import oif.Pipeline;

/** Rows of several keys, and their results in one process. */
final class Rows {
    static final List<String> COLUMNS = List.of("flow", "pressure", "temperature");
    static final Map<String, ?> PARAMETERS = Map.of("window_size", 128, "num_trees", 16);
    static final Map<String, ?> OPTIONS = Map.of("alert_rate", 0.01);

    private Rows() {}

    /** A row of a key. A POJO. */
    public static class Reading {
        public String key;
        public double time;
        public double[] numbers;

        public Reading() {}

        Reading(String key, double time, double[] numbers) {
            this.key = key;
            this.time = time;
            this.numbers = numbers;
        }
    }

    static List<Reading> make(int count, int keys, long seed) {
        Random random = new Random(seed);
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double[] numbers = {random.nextGaussian(), random.nextInt(7), 20 + random.nextDouble()};
            if (random.nextInt(200) == 0) {
                numbers[random.nextInt(3)] += 30;
            }
            if (random.nextInt(100) == 0) {
                numbers[random.nextInt(3)] = Double.NaN;
            }
            readings.add(new Reading("key-" + random.nextInt(keys), 1e9 + i, numbers));
        }
        return readings;
    }

    static ScoreSettings<Reading> settings() {
        ScoreSettings<Reading> settings = new ScoreSettings<>();
        settings.columns = COLUMNS;
        settings.row = reading -> reading.numbers;
        settings.time = reading -> reading.time;
        settings.detector = "online-iforest";
        settings.parameters = ScoreSettings.texts(PARAMETERS);
        settings.options = ScoreSettings.texts(OPTIONS);
        settings.explain = 2;
        return settings;
    }

    /** A result as text, with every bit of its numbers. */
    static String text(Scored<Reading> scored) {
        return scored.value.key + " " + scored.value.time + " " + Double.toHexString(scored.score) + " "
                + Double.toHexString(scored.threshold) + " " + scored.anomaly + " "
                + scored.episode + " " + scored.grade + " " + Double.toHexString(scored.severity) + " " + scored.why;
    }

    /** The results of one pipeline in one process, without Flink. */
    static List<String> reference(List<Reading> readings) {
        ScoreSettings<Reading> settings = settings();
        List<String> texts = new ArrayList<>();
        try (Pipeline pipeline = new Pipeline(
                Params.of(settings.detector).set(settings.parameters), COLUMNS.size(), Params.options().set(settings.options))) {
            for (Reading reading : readings) {
                oif.Result result = pipeline.process(Pipeline.utf8(reading.key), reading.time, reading.numbers);
                List<Scored.Why> why = result.anomaly() ? Models.reasons(pipeline, settings) : List.of();
                texts.add(text(new Scored<>(reading, result, why)));
            }
        }
        return texts;
    }
}

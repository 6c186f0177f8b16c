import com.amazon.randomcutforest.RandomCutForest;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Scores rows with AWS's Random Cut Forest: each row is scored, then learned. tools/measure/aws_forest.py runs it.
 *
 * <pre>java -cp JAR:FOLDER RandomCutForestScores COLUMNS ROWS SCORES TREES SAMPLE DECAY SEED REPEATS</pre>
 *
 * ROWS is a file of native doubles and nothing else, SCORES gets one native double for each row. Prints the processor
 * seconds of the one thread in the fastest of REPEATS runs, each with a new forest: the later ones are compiled.
 */
public final class RandomCutForestScores {
    private static float[][] read(Path path, int columns) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.nativeOrder());
        float[][] rows = new float[bytes.remaining() / (Double.BYTES * columns)][columns];
        for (float[] row : rows) {
            for (int j = 0; j < columns; j++) {
                row[j] = (float) bytes.getDouble(); // the forest has floats inside
            }
        }
        return rows;
    }

    private static void write(Path path, double[] scores) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Double.BYTES * scores.length).order(ByteOrder.nativeOrder());
        for (double score : scores) {
            bytes.putDouble(score);
        }
        Files.write(path, bytes.array());
    }

    private static double scoreThenLearn(RandomCutForest forest, float[][] rows, double[] scores) {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < rows.length; i++) {
            scores[i] = forest.getAnomalyScore(rows[i]);
            forest.update(rows[i]);
        }
        return (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before) / 1e9;
    }

    public static void main(String[] arguments) throws IOException {
        int columns = Integer.parseInt(arguments[0]);
        float[][] rows = read(Path.of(arguments[1]), columns);
        double[] scores = new double[rows.length];
        double best = Double.POSITIVE_INFINITY;
        for (int run = 0; run < Integer.parseInt(arguments[7]); run++) {
            RandomCutForest forest = RandomCutForest.builder()
                    .dimensions(columns)
                    .numberOfTrees(Integer.parseInt(arguments[3]))
                    .sampleSize(Integer.parseInt(arguments[4]))
                    .timeDecay(Double.parseDouble(arguments[5]))
                    .randomSeed(Long.parseLong(arguments[6]))
                    .parallelExecutionEnabled(false)
                    .build();
            best = Math.min(best, scoreThenLearn(forest, rows, scores));
        }
        write(Path.of(arguments[2]), scores);
        System.out.println(best);
    }
}

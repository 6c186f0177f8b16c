import com.amazon.randomcutforest.config.TransformMethod;
import com.amazon.randomcutforest.parkservices.AnomalyDescriptor;
import com.amazon.randomcutforest.parkservices.ThresholdedRandomCutForest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Scores rows with AWS's thresholded Random Cut Forest, which also decides which are anomalies: tools/measure/aws_forest.py.
 *
 * <pre>java -cp JARS:FOLDER ThresholdedForestScores COLUMNS SHINGLE ROWS SCORES SEED</pre>
 *
 * ROWS is a file of native doubles and nothing else, all finite. SCORES gets two native doubles for each row: the
 * score, and the anomaly grade, above 0 for an anomaly. Columns are normalised, as they have different units, and the
 * forest makes the shingles (the last SHINGLE rows together). Everything else is the package's default.
 */
public final class ThresholdedForestScores {
    private static double[][] read(Path path, int columns) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.nativeOrder());
        double[][] rows = new double[bytes.remaining() / (Double.BYTES * columns)][columns];
        for (double[] row : rows) {
            bytes.asDoubleBuffer().get(row);
            bytes.position(bytes.position() + Double.BYTES * columns);
        }
        return rows;
    }

    private static ByteBuffer scores(ThresholdedRandomCutForest forest, double[][] rows) {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Double.BYTES * rows.length).order(ByteOrder.nativeOrder());
        for (int i = 0; i < rows.length; i++) {
            AnomalyDescriptor found = forest.process(rows[i], i);
            bytes.putDouble(found.getRCFScore());
            bytes.putDouble(found.getAnomalyGrade());
        }
        return bytes;
    }

    public static void main(String[] arguments) throws IOException {
        int columns = Integer.parseInt(arguments[0]);
        int shingle = Integer.parseInt(arguments[1]);
        ThresholdedRandomCutForest forest = ThresholdedRandomCutForest.builder()
                .dimensions(columns * shingle)
                .shingleSize(shingle)
                .internalShinglingEnabled(true)
                .transformMethod(TransformMethod.NORMALIZE)
                .randomSeed(Long.parseLong(arguments[4]))
                .build();
        Files.write(Path.of(arguments[3]), scores(forest, read(Path.of(arguments[2]), columns)).array());
    }
}

package oif;

/**
 * What a limit on keys or memory has cost.
 *
 * @param evictions how often a key lost its model to another key
 * @param unmodelledRows the rows whose key got no model, since the pipeline was created or loaded
 * @param restarts how often an evicted key came back and got a new model; an estimate
 * @param kept the keys with a model in the evicted models file
 * @param lost the models that should have been kept, and were lost
 * @param whyLost the reason for the last one; "" if there is none
 */
public record PipelineCounts(
        long evictions, long unmodelledRows, long restarts, long kept, long lost, String whyLost) {
    static PipelineCounts from(double[] n, byte[] whyLost) {
        return new PipelineCounts(
                (long) n[0], (long) n[1], (long) n[2], (long) n[3], (long) n[4], Pipeline.text(whyLost));
    }
}

package oif;

/** The native methods of oif_jni.c. Handles are addresses; {@link Handle} makes sure that they are valid. */
final class Native {
    /** How many numbers a result has, in the order of {@link Result#from}. */
    static final int RESULT_NUMBERS = 12;

    /** How many numbers an attribution has: share, direction, reason, partner. */
    static final int ATTRIBUTION_NUMBERS = 4;

    static {
        NativeLibrary.load();
    }

    private Native() {}

    static native byte[] version();

    static native int behavior();

    /** Throws if a name or value is invalid. {@code detector} is null for the options of a pipeline. */
    static native void checkParams(byte[] detector, byte[][] names, byte[][] values);

    static native long detectorNew(byte[] detector, byte[][] names, byte[][] values, int columns);

    static native void detectorFree(long detector);

    static native void detectorLearn(long detector, double[] row);

    static native double detectorScore(long detector, double[] row);

    static native double detectorLearnScore(long detector, double[] row);

    static native double detectorScoreLearn(long detector, double[] row);

    static native void detectorLearnScoreRows(long detector, double[] rows, double[] scores);

    static native int detectorColumns(long detector);

    static native long detectorRows(long detector);

    static native long detectorMemory(long detector);

    static native boolean detectorReady(long detector);

    static native byte[] detectorSave(long detector);

    static native long detectorLoad(byte[] snapshot);

    static native long pipelineNew(
            byte[] detector, byte[][] names, byte[][] values, int columns, byte[][] optionNames, byte[][] optionValues);

    static native void pipelineFree(long pipeline);

    static native void pipelineProcess(long pipeline, byte[] key, double seconds, double[] row, double[] result);

    /** Processes rows of one key. {@code results} is null if the results are not needed. */
    static native void pipelineProcessRows(long pipeline, byte[] key, double[] seconds, double[] rows, double[] results);

    static native double[] pipelineExplain(long pipeline);

    static native void pipelineNameColumns(long pipeline, byte[][] names);

    static native byte[] pipelineColumnName(long pipeline, int column);

    static native int pipelineColumns(long pipeline);

    static native long pipelineRows(long pipeline);

    static native long pipelineKeys(long pipeline);

    static native long pipelineMemory(long pipeline);

    /** The memory of a key's model in bytes; -1 if there is no model. */
    static native long pipelineKeyMemory(long pipeline, byte[] key);

    static native void pipelineRemoveKey(long pipeline, byte[] key);

    static native byte[] pipelineSaveKey(long pipeline, byte[] key);

    static native void pipelineLoadKey(long pipeline, byte[] key, byte[] snapshot);

    static native byte[] pipelineSave(long pipeline);

    static native long pipelineLoad(byte[] snapshot);

    static native void trimHeap();
}

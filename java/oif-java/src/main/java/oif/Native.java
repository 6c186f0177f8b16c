package oif;

/** The calls into oif_jni.c. Handles are addresses; the caller keeps their owner alive. */
final class Native {
    /** The numbers of one result, in the order of {@link Result#from}. */
    static final int RESULT_NUMBERS = 12;

    /** The numbers of one attribution: share, direction, reason, partner. */
    static final int ATTRIBUTION_NUMBERS = 4;

    static {
        NativeLibrary.load();
    }

    private Native() {}

    static native byte[] version();

    static native int behavior();

    /** Throws unless all names and values fit; {@code detector} is null for the options of a pipeline. */
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

    /** Rows of one key; {@code results} may be null where nobody asks for them. */
    static native void pipelineProcessRows(long pipeline, byte[] key, double[] seconds, double[] rows, double[] results);

    static native double[] pipelineExplain(long pipeline);

    static native void pipelineNameColumns(long pipeline, byte[][] names);

    static native byte[] pipelineColumnName(long pipeline, int column);

    static native int pipelineColumns(long pipeline);

    static native long pipelineRows(long pipeline);

    static native long pipelineKeys(long pipeline);

    static native long pipelineMemory(long pipeline);

    /** The bytes of a key's model; -1 if there is none. */
    static native long pipelineKeyMemory(long pipeline, byte[] key);

    static native void pipelineRemoveKey(long pipeline, byte[] key);

    static native byte[] pipelineSaveKey(long pipeline, byte[] key);

    static native void pipelineLoadKey(long pipeline, byte[] key, byte[] snapshot);

    static native byte[] pipelineSave(long pipeline);

    static native long pipelineLoad(byte[] snapshot);

    static native void trimHeap();
}

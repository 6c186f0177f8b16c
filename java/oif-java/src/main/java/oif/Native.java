package oif;

/** The native methods of oif_jni.c. Handles are addresses; {@link Handle} makes sure that they are valid. */
final class Native {
    /** How many numbers a result has, in the order of {@link Result#from}. */
    static final int RESULT_NUMBERS = 12;

    /** How many numbers an attribution has: share, direction, reason, partner, size, usual. */
    static final int ATTRIBUTION_NUMBERS = 6;

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

    static native void detectorLearnRows(long detector, double[] rows);

    static native void detectorScoreRows(long detector, double[] rows, double[] scores);

    static native void detectorLearnScoreRows(long detector, double[] rows, double[] scores);

    static native void detectorScoreLearnRows(long detector, double[] rows, double[] scores);

    static native void detectorSetThreads(long detector, int threads);

    /** The share of each column. */
    static native double[] detectorExplain(long detector, double[] row);

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

    /** {@code text} has the keys of all rows one after another, {@code lengths} their bytes. */
    static native void pipelineProcessKeys(
            long pipeline, byte[] text, int[] lengths, double[] seconds, double[] rows, double[] results);

    /** Judges a finished table. Returns the chance of {@link Table}. */
    static native double pipelineProcessTable(long pipeline, double[] seconds, double[] rows, double[] results);

    static native void pipelineSetThreads(long pipeline, int threads);

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

    // ---- Columns, episodes, silence: jni_alerts.c ----

    static native void pipelineDerive(long pipeline, int column, int kind, boolean keep);

    static native void pipelineLearned(long pipeline, Entries entries);

    static native double category(byte[] text);

    static native void pipelineExpected(long pipeline, Entries entries);

    /** Null if the key has had no episode. */
    static native double[] pipelineEpisode(long pipeline, byte[] key);

    static native void pipelineSilent(long pipeline, double seconds, Entries entries);

    static native void pipelineKeyInfos(long pipeline, Entries entries);

    static native void pipelineChange(long pipeline, byte[] name, byte[] value);

    // ---- Rules and feedback: jni_alerts.c ----

    static native void pipelineSetRules(long pipeline, byte[] text);

    static native void pipelineAddRules(long pipeline, byte[] text);

    static native void pipelineRules(long pipeline, Entries entries);

    static native void pipelineKeepEpisodes(long pipeline, boolean keep);

    static native boolean pipelineKeepsEpisodes(long pipeline);

    static native void pipelinePastEpisodes(long pipeline, Entries entries);

    static native byte[] pipelinePropose(long pipeline, byte[] key, long number);

    // ---- Incidents: jni_incidents.c ----

    static native void checkIncidentOptions(byte[][] names, byte[][] values);

    static native long incidentsNew(byte[][] names, byte[][] values);

    static native void incidentsFree(long incidents);

    static native double[] incidentsReport(
            long incidents,
            boolean begins,
            byte[] stream,
            byte[] key,
            byte[] column,
            byte[] reason,
            double seconds,
            double severity,
            long episode);

    /** 0 past the last. */
    static native long incidentsNumber(long incidents, int index);

    /** Null if there is no such incident. */
    static native double[] incidentsInfo(long incidents, long number);

    static native void incidentsMembers(long incidents, long number, Entries entries);

    static native void incidentsShared(long incidents, long number, Entries entries);

    static native byte[] incidentsSave(long incidents);

    static native long incidentsLoad(byte[] snapshot);

    // ---- Copies, files, more columns: jni_copies.c ----

    static native long detectorCopy(long detector);

    static native void detectorSaveFile(long detector, byte[] path);

    static native long detectorLoadFile(byte[] path);

    static native long pipelineCopy(long pipeline);

    static native long pipelineAround(long detector, byte[][] optionNames, byte[][] optionValues, byte[] key);

    static native void pipelineSaveFile(long pipeline, byte[] path);

    static native long pipelineLoadFile(byte[] path);

    /** {@code names} is null if the columns have none; {@code kinds} has one per new column. */
    static native void pipelineAddColumns(long pipeline, byte[][] names, int[] kinds);

    // ---- Questions: jni_questions.c ----

    static native void detectorInfos(Entries entries);

    static native boolean addsColumns(byte[] detector, byte[][] names, byte[][] values);

    static native long estimateBytes(byte[] detector, byte[][] names, byte[][] values, int columns);

    static native void detectorParams(long detector, Entries entries);

    static native void detectorDescribe(long detector, Entries entries);

    static native void detectorReset(long detector);

    static native void detectorNameColumns(long detector, byte[][] names);

    static native byte[] detectorColumnName(long detector, int column);

    static native void pipelineParams(long pipeline, Entries entries);

    static native void pipelineOptions(long pipeline, Entries entries);

    static native boolean isChangeable(byte[] option);

    /** In the order of {@link PipelineCounts}. */
    static native double[] pipelineCounts(long pipeline);

    static native byte[] pipelineWhyLost(long pipeline);

    static native void pipelineLimitMemory(long pipeline, long bytes);

    static native double pipelineNextSilence(long pipeline);

    static native double pipelineSilenceAfter(long pipeline, byte[] key, double seconds);

    /** Null if no row was processed. */
    static native byte[] pipelineRecentKey(long pipeline);

    static native void pipelineSeasons(long pipeline, byte[] key, Entries entries);

    /** Both may be null. */
    static native void pipelineNameRoles(long pipeline, byte[] key, byte[] time);

    static native void pipelineRoles(long pipeline, Entries entries);

    static native void pipelineAttach(long pipeline, byte[] bytes);

    static native byte[] pipelineAttachment(long pipeline);

    static native void checkRules(byte[] text);

    // ---- Snapshots ----

    static native byte[] pipelineSave(long pipeline);

    static native long pipelineLoad(byte[] snapshot);

    static native void trimHeap();
}

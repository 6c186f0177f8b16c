package oif;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns rows into alerts: one model per key, a threshold, episodes, and the reasons for an anomaly.
 * The results are those of {@code oif score}, bit for bit.
 *
 * <pre>{@code
 * Params options = Params.options().set("alert_rate", 0.001);
 * try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, options)) {
 *     Result result = pipeline.process("host-1", 0.5, 7);
 *     if (result.anomaly()) {
 *         System.out.println(pipeline.explain());
 *     }
 * }
 * }</pre>
 *
 * <p>A key is an array of bytes; the key of a string is its UTF-8. A stream without keys uses the key "".
 *
 * <p>Threads that share a pipeline take turns: a call waits until the call of another thread has
 * returned. If they send rows of the same key, the results depend on which thread comes first. {@link
 * #explain} explains the last row of any thread, so a program that shares a pipeline needs a lock of
 * its own around both calls.
 */
public final class Pipeline implements AutoCloseable {
    private static final byte[] NO_KEY = {};

    private final Handle handle;
    private final int columns;
    private final double[] numbers = new double[Native.RESULT_NUMBERS];

    /** Creates a pipeline for rows of {@code columns} numbers. */
    public Pipeline(Params params, int columns, Params options) {
        this(Native.pipelineNew(
                params.ofDetector().detectorBytes(),
                params.names(),
                params.texts(),
                columns,
                options.ofPipeline().names(),
                options.texts()));
    }

    private Pipeline(long address) {
        columns = Native.pipelineColumns(address); // before the handle, which may free the address
        handle = new Handle(address, Native::pipelineFree);
    }

    /** Loads a snapshot. The pipeline continues as the saved one would, bit for bit. */
    public static Pipeline load(byte[] snapshot) {
        return new Pipeline(Native.pipelineLoad(snapshot));
    }

    /** Returns a snapshot of the pipeline with all its models. */
    public byte[] save() {
        long address = handle.take();
        try {
            return Native.pipelineSave(address);
        } finally {
            handle.release();
        }
    }

    // ---- Rows ----

    /** Processes a row of a stream without keys. NaN is a missing number. */
    public Result process(double... row) {
        return process(NO_KEY, Double.NaN, row);
    }

    /** Processes a row of a key, without a time. A number before the row would be its first column. */
    public Result process(String key, double... row) {
        return process(utf8(key), Double.NaN, row);
    }

    /** Processes a row of a key at a time. */
    public Result process(String key, Instant time, double... row) {
        return process(utf8(key), time.getEpochSecond() + time.getNano() / 1e9, row);
    }

    /** Processes a row of a key. {@code seconds} is its time since 1970; NaN if unknown. */
    public Result process(String key, double seconds, double[] row) {
        return process(utf8(key), seconds, row);
    }

    /** Processes a row of a key. {@code seconds} is its time since 1970; NaN if unknown. */
    public Result process(byte[] key, double seconds, double[] row) {
        long address = handle.take();
        try {
            Native.pipelineProcess(address, key, seconds, checked(row), numbers);
            return Result.from(numbers, 0); // before the next thread writes its numbers
        } finally {
            handle.release();
        }
    }

    /**
     * Processes several rows of one key in one call. {@code rows} contains them one after another;
     * {@code seconds} has one time per row, or is null.
     */
    public List<Result> processRows(byte[] key, double[] seconds, double[] rows) {
        double[] results = new double[Math.multiplyExact(rowCount(seconds, rows), Native.RESULT_NUMBERS)];
        processRows(key, seconds, rows, results);
        List<Result> list = new ArrayList<>();
        for (int at = 0; at < results.length; at += Native.RESULT_NUMBERS) {
            list.add(Result.from(results, at));
        }
        return list;
    }

    /** Processes rows without returning results, to restore the model of a key. */
    public void replayRows(byte[] key, double[] seconds, double[] rows) {
        rowCount(seconds, rows);
        processRows(key, seconds, rows, null);
    }

    private void processRows(byte[] key, double[] seconds, double[] rows, double[] results) {
        long address = handle.take();
        try {
            Native.pipelineProcessRows(address, key, seconds, rows, results);
        } finally {
            handle.release();
        }
    }

    /** Explains the score of the last row processed. Returns one entry per learned column. */
    public List<Attribution> explain() {
        double[] shares;
        long address = handle.take();
        try {
            shares = Native.pipelineExplain(address);
        } finally {
            handle.release();
        }
        List<Attribution> list = new ArrayList<>();
        for (int column = 0; column < shares.length / Native.ATTRIBUTION_NUMBERS; column++) {
            list.add(Attribution.from(shares, column));
        }
        return list;
    }

    // ---- Keys ----

    /** Whether the key has a model. */
    public boolean hasKey(byte[] key) {
        return keyMemoryBytes(key) >= 0;
    }

    /** The native memory of a key's model in bytes; -1 if there is no model. */
    public long keyMemoryBytes(byte[] key) {
        long address = handle.take();
        try {
            return Native.pipelineKeyMemory(address, key);
        } finally {
            handle.release();
        }
    }

    /** Removes a key and frees its model. The next row of the key starts a new model. */
    public void removeKey(byte[] key) {
        long address = handle.take();
        try {
            Native.pipelineRemoveKey(address, key);
        } finally {
            handle.release();
        }
    }

    /** Returns a snapshot of one key: its model, score history and episodes. */
    public byte[] saveKey(byte[] key) {
        long address = handle.take();
        try {
            return Native.pipelineSaveKey(address, key);
        } finally {
            handle.release();
        }
    }

    /** Loads a key that a pipeline with the same settings saved. Replaces the model that the key has. */
    public void loadKey(byte[] key, byte[] snapshot) {
        long address = handle.take();
        try {
            Native.pipelineLoadKey(address, key, snapshot);
        } finally {
            handle.release();
        }
    }

    /** The number of keys with a model. */
    public long keys() {
        long address = handle.take();
        try {
            return Native.pipelineKeys(address);
        } finally {
            handle.release();
        }
    }

    // ---- Columns, sizes ----

    /** Names the columns. Snapshots keep the names. */
    public void nameColumns(List<String> names) {
        byte[][] texts = Params.utf8(names); // native code reads as many as there are columns
        if (texts.length != columns) {
            throw new IllegalArgumentException(texts.length + " names for " + columns + " columns");
        }
        long address = handle.take();
        try {
            Native.pipelineNameColumns(address, texts);
        } finally {
            handle.release();
        }
    }

    /** The name of a column; null if it has none. */
    public String columnName(int column) {
        if (column < 0 || column >= columns) {
            throw new IndexOutOfBoundsException("column " + column + " of " + columns);
        }
        byte[] name;
        long address = handle.take();
        try {
            name = Native.pipelineColumnName(address, column);
        } finally {
            handle.release();
        }
        return name == null ? null : new String(name, StandardCharsets.UTF_8);
    }

    /** The number of columns. */
    public int columns() {
        return columns;
    }

    /** The number of rows processed. */
    public long rows() {
        long address = handle.take();
        try {
            return Native.pipelineRows(address);
        } finally {
            handle.release();
        }
    }

    /** The native memory in use, in bytes. */
    public long memoryBytes() {
        long address = handle.take();
        try {
            return Native.pipelineMemory(address);
        } finally {
            handle.release();
        }
    }

    /**
     * Frees the native memory. Later calls throw IllegalStateException; closing twice is allowed.
     *
     * @throws IllegalStateException if another thread is in a call at this moment. Nothing is freed; end
     *     that thread first, then close again
     */
    @Override
    public void close() {
        handle.close();
    }

    /** The bytes of a key that is a string. */
    public static byte[] utf8(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns freed native memory to the system. Otherwise the C library keeps it, and it counts
     * against the memory limit of a container. Takes milliseconds: call it at the end of a job, not per
     * row.
     */
    public static void trimNativeHeap() {
        Native.trimHeap();
    }

    private int rowCount(double[] seconds, double[] rows) {
        if (rows.length % columns != 0) {
            throw new IllegalArgumentException(rows.length + " numbers are not a multiple of " + columns + " columns");
        }
        if (seconds != null && seconds.length != rows.length / columns) {
            throw new IllegalArgumentException(seconds.length + " times for " + rows.length / columns + " rows");
        }
        return rows.length / columns;
    }

    private double[] checked(double[] row) {
        if (row.length != columns) {
            throw new IllegalArgumentException("a row of " + row.length + " numbers; the pipeline has " + columns + " columns");
        }
        return row;
    }
}

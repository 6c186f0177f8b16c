package oif;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Turns rows into alerts: one model per key, a threshold, episodes, and the reasons for an anomaly.
 * The results are those of {@code oif score}, bit for bit.
 *
 * <pre>{@code
 * Params options = Params.options().set("alert_rate", 0.001);
 * try (Pipeline pipeline = new Pipeline(Params.of("rolling-iforest"), 2, options)) {
 *     Result result = pipeline.process("host-1", new double[] {0.5, 7});
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
 * #explain} and {@link #expected} are about the last row of any thread, so a program that shares a pipeline needs a lock of
 * its own around both calls.
 */
public final class Pipeline implements AutoCloseable {
    private static final byte[] NO_KEY = {};

    private final Handle handle;
    private volatile int columns; // addColumns changes it
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
        return handle.ask(Native::pipelineSave);
    }

    /** Loads a file that {@link #saveFile} or {@code oif score --save} has written. */
    public static Pipeline loadFile(Path file) {
        return new Pipeline(Native.pipelineLoadFile(utf8(file.toString())));
    }

    /** Saves a snapshot to a file. After a crash, the file has the new snapshot or the one before. */
    public void saveFile(Path file) {
        byte[] path = utf8(file.toString());
        handle.run(address -> Native.pipelineSaveFile(address, path));
    }

    /** Returns a copy with all models in memory. The copy uses one thread. */
    public Pipeline copy() {
        return new Pipeline(handle.ask(Native::pipelineCopy));
    }

    /**
     * Creates a pipeline that continues with a copy of a detector, which may have learned rows: history
     * first, then live rows. The copy becomes the detector of {@code key}.
     */
    public static Pipeline around(Detector detector, Params options, String key) {
        byte[] name = utf8(key);
        return new Pipeline(detector.ask(address ->
                Native.pipelineAround(address, options.ofPipeline().names(), options.texts(), name)));
    }

    // ---- Rows ----

    /** Processes a row of a stream without keys. NaN is a missing number. */
    public Result process(double... row) {
        return process(NO_KEY, Double.NaN, row);
    }

    /**
     * Processes a row of a key, without a time. The row is an array, so a time that is passed before its
     * numbers cannot become its first column.
     */
    public Result process(String key, double[] row) {
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
        return Result.listOf(results);
    }

    /**
     * Processes rows of many keys in one call: {@code keys} has one key per row. {@link #setThreads} shares
     * the work among threads. If a row is refused, the rows before it are processed; their results are lost.
     */
    public List<Result> processRows(List<String> keys, double[] seconds, double[] rows) {
        int count = rowCount(seconds, rows);
        if (keys.size() != count) {
            throw new IllegalArgumentException(keys.size() + " keys for " + count + " rows");
        }
        double[] results = new double[Math.multiplyExact(count, Native.RESULT_NUMBERS)];
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        int[] lengths = new int[count];
        for (int i = 0; i < count; i++) {
            byte[] key = utf8(keys.get(i));
            text.writeBytes(key);
            lengths[i] = key.length;
        }
        handle.run(address -> {
            if (rows.length != count * columns) { // another thread has added columns
                throw new IllegalArgumentException(rows.length + " numbers for " + count + " rows of " + columns + " columns");
            }
            Native.pipelineProcessKeys(address, text.toByteArray(), lengths, seconds, rows, results);
        });
        return Result.listOf(results);
    }

    /**
     * Judges a finished table of 20 rows or more: each row is compared with all others, before and after
     * it. The pipeline must not have processed a row; later rows continue the stream. Costs some 25
     * times the time of a stream, so use it for up to some thousand rows.
     */
    public Table processTable(double[] seconds, double[] rows) {
        double[] results = new double[Math.multiplyExact(rowCount(seconds, rows), Native.RESULT_NUMBERS)];
        double chance = handle.ask(address -> Native.pipelineProcessTable(address, seconds, rows, results));
        return new Table(Result.listOf(results), chance);
    }

    /** How many threads, 1 to 16, share the keys of a block of rows. The results stay the same. */
    public void setThreads(int threads) {
        handle.run(address -> Native.pipelineSetThreads(address, threads));
    }

    /** Processes rows without returning results, to restore the model of a key. */
    public void replayRows(byte[] key, double[] seconds, double[] rows) {
        rowCount(seconds, rows);
        processRows(key, seconds, rows, null);
    }

    private void processRows(byte[] key, double[] seconds, double[] rows, double[] results) {
        handle.run(address -> Native.pipelineProcessRows(address, key, seconds, rows, results));
    }

    /** Explains the score of the last row processed. Returns one entry per learned column. */
    public List<Attribution> explain() {
        double[] shares = handle.ask(address -> Native.pipelineExplain(address));
        List<Attribution> list = new ArrayList<>();
        for (int column = 0; column < shares.length / Native.ATTRIBUTION_NUMBERS; column++) {
            list.add(Attribution.from(shares, column));
        }
        return list;
    }

    /** What was expected of each learned column in the last row processed, and the value that came. */
    public List<Expected> expected() {
        List<Expected> list = new ArrayList<>();
        handle.run(address -> Native.pipelineExpected(
                address,
                (texts, n) -> list.add(new Expected(list.size(), n[0], n[1], n[2], Result.Reason.values()[(int) n[3]]))));
        return list;
    }

    // ---- Episodes and silence ----

    /** The current episode of a key, or else its last one; null if it has had none. */
    public EpisodeInfo episode(byte[] key) {
        double[] numbers = handle.ask(address -> Native.pipelineEpisode(address, key));
        return numbers == null ? null : EpisodeInfo.from(numbers);
    }

    /** The current episode of a key, or else its last one; null if it has had none. */
    public EpisodeInfo episode(String key) {
        return episode(utf8(key));
    }

    /**
     * The keys whose pause has become too long by {@code seconds}, the current time of the stream since
     * 1970. Each pause is returned once. The option {@code silence} sets the limit; without it the limit
     * is learned.
     */
    public List<Silence> silent(double seconds) {
        List<Silence> list = new ArrayList<>();
        handle.run(address ->
                Native.pipelineSilent(address, seconds, (texts, n) -> list.add(new Silence(text(texts[0]), n[0], n[1]))));
        return list;
    }

    /**
     * Up to this time {@link #silent} has nothing to report unless rows come; infinite if it never has.
     * For programs that collect rows before they process them.
     */
    public double nextSilence() {
        return handle.ask(Native::pipelineNextSilence);
    }

    /**
     * The same for one key, once a row of it at {@code seconds} is processed: a lower bound; negative
     * infinity if it is not known.
     */
    public double silenceAfter(String key, double seconds) {
        byte[] name = utf8(key);
        return handle.ask(address -> Native.pipelineSilenceAfter(address, name, seconds));
    }

    /** The seasons of a key that were found, or that an option gave. */
    public List<Season> seasons(String key) {
        byte[] name = utf8(key);
        List<Season> list = new ArrayList<>();
        handle.run(address -> Native.pipelineSeasons(address, name, (texts, n) -> list.add(Season.from(n))));
        return list;
    }

    // ---- Rules ----

    /**
     * Replaces the rules that hold back alerts. A text has one rule per line, such as {@code mute
     * column=latency direction=low}; {@link Rule} makes the usual ones. A rule that stays keeps its counts.
     * Without texts, all rules are removed. Name the columns first; those without names are called 1, 2, ...
     *
     * @throws OifException if a line is not a rule; {@code line()} says which, and nothing has changed
     */
    public void setRules(String... texts) {
        byte[] text = utf8(String.join("\n", texts));
        handle.run(address -> Native.pipelineSetRules(address, text));
    }

    /** Adds rules behind those that there are. */
    public void addRules(String... texts) {
        byte[] text = utf8(String.join("\n", texts));
        handle.run(address -> Native.pipelineAddRules(address, text));
    }

    /** The rules, with what they held back. */
    public List<Rule> rules() {
        List<Rule> list = new ArrayList<>();
        handle.run(address -> Native.pipelineRules(
                address, (texts, n) -> list.add(new Rule(text(texts[0]), (long) n[0], n[1], n[2]))));
        return list;
    }

    // ---- Feedback ----

    /**
     * Keeps the last episodes from now on, or forgets them all. They take 110 KB. Scores stay the same, and
     * snapshots have the episodes.
     */
    public void keepEpisodes(boolean keep) {
        handle.run(address -> Native.pipelineKeepEpisodes(address, keep));
    }

    /** Whether episodes are kept. */
    public boolean keepsEpisodes() {
        return handle.ask(Native::pipelineKeepsEpisodes);
    }

    /** The past episodes of all keys, the oldest first. */
    public List<PastEpisode> pastEpisodes() {
        List<PastEpisode> list = new ArrayList<>();
        handle.run(address -> Native.pipelinePastEpisodes(
                address, (texts, n) -> list.add(PastEpisode.from(text(texts[0]), n))));
        return list;
    }

    /**
     * A rule that holds back past episodes like the one of this key with this number, and nothing wider; "" if no
     * rule does. The pipeline does not change; {@link #addRules} accepts the rule.
     *
     * @throws OifException if the episode is not kept
     */
    public String propose(byte[] key, long number) {
        return text(handle.ask(address -> Native.pipelinePropose(address, key, number)));
    }

    /** A rule that holds back past episodes like this one. */
    public String propose(String key, long number) {
        return propose(utf8(key), number);
    }

    // ---- Keys ----

    /** All keys: those with a model in memory, then those that were evicted and kept. */
    public List<KeyInfo> listKeys() {
        List<KeyInfo> list = new ArrayList<>();
        handle.run(address ->
                Native.pipelineKeyInfos(address, (texts, n) -> list.add(KeyInfo.from(text(texts[0]), n))));
        return list;
    }

    /** Whether the key has a model. */
    public boolean hasKey(byte[] key) {
        return keyMemoryBytes(key) >= 0;
    }

    /** The native memory of a key's model in bytes; -1 if there is no model. */
    public long keyMemoryBytes(byte[] key) {
        return handle.ask(address -> Native.pipelineKeyMemory(address, key));
    }

    /** Removes a key and frees its model. The next row of the key starts a new model. */
    public void removeKey(byte[] key) {
        handle.run(address -> Native.pipelineRemoveKey(address, key));
    }

    /** Returns a snapshot of one key: its model, score history and episodes. */
    public byte[] saveKey(byte[] key) {
        return handle.ask(address -> Native.pipelineSaveKey(address, key));
    }

    /** Loads a key that a pipeline with the same settings saved. Replaces the model that the key has. */
    public void loadKey(byte[] key, byte[] snapshot) {
        handle.run(address -> Native.pipelineLoadKey(address, key, snapshot));
    }

    /** The number of keys with a model. */
    public long keys() {
        return handle.ask(Native::pipelineKeys);
    }

    // ---- Columns, options, sizes ----

    /**
     * Learns a derived column instead of a column, or after it with {@code keep}. Call it before the first
     * row, once for each.
     */
    public void derive(int column, Derive kind, boolean keep) {
        if (column < 0 || column >= columns) {
            throw new IndexOutOfBoundsException("column " + column + " of " + columns);
        }
        int ordinal = kind.ordinal();
        handle.run(address -> Native.pipelineDerive(address, column, ordinal, keep));
    }

    /**
     * Adds columns after the others. Each model continues as if they had been missing in all rows so
     * far. Takes the time and memory of {@link #copy}, so add several with one call.
     *
     * @param count how many
     * @param names one per new column if the columns have names, otherwise null
     * @param kinds what is learned instead of the new columns: one for each, or none at all
     */
    public void addColumns(int count, List<String> names, Derive... kinds) {
        if (count < 1 || (names != null && names.size() != count) || (kinds.length > 0 && kinds.length != count)) {
            throw new IllegalArgumentException("there must be a name and a kind for each of the new columns, or none");
        }
        int[] ordinals = new int[count];
        for (int i = 0; i < kinds.length; i++) {
            ordinals[i] = kinds[i].ordinal();
        }
        byte[][] texts = names == null ? null : Params.utf8(names);
        handle.run(address -> {
            Native.pipelineAddColumns(address, texts, ordinals);
            columns = Native.pipelineColumns(address);
        });
    }

    /** The learned columns: {@link #explain} and {@link #expected} return an entry for each. */
    public List<LearnedColumn> learnedColumns() {
        List<LearnedColumn> list = new ArrayList<>();
        handle.run(address -> Native.pipelineLearned(
                address, (texts, n) -> list.add(new LearnedColumn((int) n[0], Derive.values()[(int) n[1]]))));
        return list;
    }

    /** The number of a name, for a column that is a {@link Derive#CATEGORY}; NaN, a missing value, for "". */
    public static double category(String name) {
        return Native.category(utf8(name));
    }

    /**
     * Changes an option that affects alerts or learning from now on: alert_rate, alerts, silence, learn.
     */
    public void change(String name, String value) {
        byte[] nameText = utf8(name);
        byte[] valueText = utf8(value);
        handle.run(address -> Native.pipelineChange(address, nameText, valueText));
    }

    /** Changes an option that affects alerts or learning from now on. */
    public void change(String name, double value) {
        change(name, Double.toString(value));
    }

    /** Whether {@link #change} can change an option of this name. */
    public static boolean isChangeable(String name) {
        return Native.isChangeable(utf8(name));
    }

    /** The parameters of its detectors, also those that were not set. */
    public Params params() {
        Params.Collector found = new Params.Collector();
        handle.run(address -> Native.pipelineParams(address, found));
        return found.ofDetector();
    }

    /** All options, also those that were not set. */
    public Params options() {
        Params.Collector found = new Params.Collector();
        handle.run(address -> Native.pipelineOptions(address, found));
        return found.ofPipeline();
    }

    /** The episodes to report per row: alert_rate, or what the option alerts comes to. */
    public double alertRate() {
        return handle.ask(Native::pipelineAlertRate);
    }

    /**
     * Limits the memory in addition to the option memory_limit: the smaller one counts. Snapshots do not
     * have it.
     */
    public void limitMemory(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a limit of " + bytes + " bytes");
        }
        handle.run(address -> Native.pipelineLimitMemory(address, bytes));
    }

    /** What limits on keys and memory have cost so far. */
    public PipelineCounts counts() {
        return handle.ask(
                address -> PipelineCounts.from(Native.pipelineCounts(address), Native.pipelineWhyLost(address)));
    }

    /** The key of the last row processed; null if there is none. */
    public String recentKey() {
        byte[] key = handle.ask(Native::pipelineRecentKey);
        return key == null ? null : text(key);
    }

    /** Names the columns that keys and times come from; null for none. Snapshots keep the names. */
    public void nameRoles(Roles roles) {
        byte[] key = roles.key() == null ? null : utf8(roles.key());
        byte[] time = roles.time() == null ? null : utf8(roles.time());
        handle.run(address -> Native.pipelineNameRoles(address, key, time));
    }

    /** The names of the columns that keys and times come from. */
    public Roles roles() {
        List<Roles> found = new ArrayList<>();
        handle.run(address -> Native.pipelineRoles(address, (texts, n) -> found.add(Roles.from(texts))));
        return found.isEmpty() ? Roles.NONE : found.get(0);
    }

    /**
     * Attaches bytes of the program, such as {@link Incidents#save}, in place of those before. Snapshots
     * keep them.
     */
    public void attach(byte[] bytes) {
        handle.run(address -> Native.pipelineAttach(address, bytes));
    }

    /** The attached bytes; empty if there are none. */
    public byte[] attachment() {
        return handle.ask(Native::pipelineAttachment);
    }

    /** Names the columns. Snapshots keep the names. */
    public void nameColumns(List<String> names) {
        byte[][] texts = Params.utf8(names);
        handle.run(address -> {
            if (texts.length != columns) { // native code reads as many as there are columns
                throw new IllegalArgumentException(texts.length + " names for " + columns + " columns");
            }
            Native.pipelineNameColumns(address, texts);
        });
    }

    /** The name of a column; null if it has none. */
    public String columnName(int column) {
        if (column < 0 || column >= columns) {
            throw new IndexOutOfBoundsException("column " + column + " of " + columns);
        }
        byte[] name = handle.ask(address -> Native.pipelineColumnName(address, column));
        return name == null ? null : text(name);
    }

    /** The number of columns. */
    public int columns() {
        return columns;
    }

    /** The number of rows processed. */
    public long rows() {
        return handle.ask(Native::pipelineRows);
    }

    /** The native memory in use, in bytes. */
    public long memoryBytes() {
        return handle.ask(Native::pipelineMemory);
    }

    /**
     * Frees the native memory. Waits for a call of another thread that is under way. Calls that wait, and
     * later ones, throw IllegalStateException; closing twice is allowed.
     */
    @Override
    public void close() {
        handle.close();
    }

    /** The bytes of a key that is a string. */
    public static byte[] utf8(String key) {
        return Objects.requireNonNull(key, "the key is null").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns freed native memory to the system. Otherwise the C library keeps it, and it counts
     * against the memory limit of a container. Takes milliseconds: call it at the end of a job, not per
     * row.
     */
    public static void trimNativeHeap() {
        Native.trimHeap();
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
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
            String remedy = row.length == columns + 1 ? "; a time is not part of the row: process(key, seconds, row)" : "";
            throw new IllegalArgumentException(
                    "expected a row of " + columns + " columns, not " + row.length + remedy);
        }
        return row;
    }
}

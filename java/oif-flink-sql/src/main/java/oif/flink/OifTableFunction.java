package oif.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import oif.Params;
import oif.Pipeline;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.ColumnList;
import org.apache.flink.types.Row;
import org.apache.flink.util.StringUtils;

/**
 * Scores a table: one model per partition, with alerts and their reasons.
 *
 * <pre>
 * CREATE FUNCTION oif AS 'oif.flink.OifTableFunction';
 * SELECT * FROM oif(
 *     input =&gt; TABLE readings PARTITION BY pump,
 *     numbers =&gt; DESCRIPTOR(flow, pressure),
 *     options =&gt; MAP['alert_rate', '0.001']);
 * </pre>
 *
 * <p>The result has the columns of the table, and score, threshold, anomaly, episode, grade,
 * severity and why. The scores are those of {@code oif score --key}, bit for bit.
 *
 * <p>Flink does not call a table function at checkpoints. So each row is written to the state
 * immediately, as with {@link OifScore#writeThrough}, in the same layout: base and rows since. The
 * state never expires. Flink's time-to-live would expire the entries of a key one by one, and a base
 * without its rows is not a model.
 */
@DataTypeHint("ROW<score DOUBLE, threshold DOUBLE, anomaly BOOLEAN, episode STRING, grade STRING, severity DOUBLE, why STRING>")
public final class OifTableFunction extends ProcessTableFunction<Row> {
    private static final long serialVersionUID = 1;
    private static final byte NOT_UTF8 = (byte) 0xFE; // KeyNames uses 0xFF
    private static final int DEFAULT_CACHE_MEBIBYTES = 256;

    private transient FunctionContext function;
    private transient ScoreSettings<Row> settings;
    private transient Models<String, Row> models;
    private transient RowChecks<Row> checks;
    private transient String timeColumn; // null if rows have no time
    private transient int[] keyColumns;
    private transient KeyNames<String> texts;

    @Override
    public void open(FunctionContext context) {
        function = context;
    }

    /** Scores one row of the table. All arguments except the row are constants of the query. */
    public void eval(
            Context context,
            @StateHint(name = "base", ttl = "0", type = @DataTypeHint("MAP<INT NOT NULL, BYTES>")) MapView<Integer, byte[]> base,
            @StateHint(name = "log", ttl = "0", type = @DataTypeHint("ARRAY<BYTES>")) ListView<byte[]> log,
            @ArgumentHint(
                            name = "input",
                            value = {ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH})
                    Row input,
            @ArgumentHint(name = "numbers", type = @DataTypeHint("DESCRIPTOR")) ColumnList numbers,
            @ArgumentHint(name = "row_time", isOptional = true, type = @DataTypeHint("DESCRIPTOR")) ColumnList time,
            @ArgumentHint(name = "detector", isOptional = true, type = @DataTypeHint("STRING")) String detector,
            @ArgumentHint(name = "parameters", isOptional = true, type = @DataTypeHint("MAP<STRING, STRING>"))
                    Map<String, String> parameters,
            @ArgumentHint(name = "options", isOptional = true, type = @DataTypeHint("MAP<STRING, STRING>"))
                    Map<String, String> options,
            @ArgumentHint(name = "explain", isOptional = true, type = @DataTypeHint("INT")) Integer explain,
            @ArgumentHint(name = "cache_mebibytes", isOptional = true, type = @DataTypeHint("INT")) Integer cache)
            throws Exception {
        if (models == null) {
            begin(numbers.getNames(), detector, parameters, options, explain, cache);
            timeColumn = time == null ? null : time.getNames().get(0);
            texts = new KeyNames<>(StringSerializer.INSTANCE);
            keyColumns = context.tableSemanticsFor("input").partitionByColumns();
        }
        score(input, new KeyState(new ViewStates.Value(base), new ViewStates.Pieces(log), null));
    }

    private void begin(
            List<String> numbers,
            String detector,
            Map<String, String> parameters,
            Map<String, String> options,
            Integer explain,
            Integer cache) {
        settings = new ScoreSettings<>();
        settings.columns = List.copyOf(numbers);
        settings.row = row -> numbersOf(row, settings.columns);
        settings.detector = detector == null ? Params.DEFAULT_DETECTOR : detector;
        settings.parameters = parameters == null ? Map.of() : parameters;
        settings.options = options == null ? Map.of() : options;
        settings.explain = explain == null ? 1 : explain;
        settings.cacheBytes = (long) (cache == null ? DEFAULT_CACHE_MEBIBYTES : cache) << 20;
        settings.writesThrough = true;
        settings.check();
        checks = new RowChecks<>(settings, function.getMetricGroup().addGroup("oif"));
        models = new Models<>(settings, null); // a table function cannot read the configuration of the task manager
        models.register(function.getMetricGroup().addGroup("oif"));
    }

    private void score(Row input, KeyState state) throws Exception {
        double[] row = checks.row(input);
        double seconds = timeColumn == null ? Double.NaN : secondsOf(input.getField(timeColumn));
        Models.Entry<String> entry = models.entryOf(null, nameOf(input), state);
        Scored<Row> scored = models.score(entry, input, seconds, row);
        models.remember(entry, seconds, row);
        models.write(entry, state);
        collect(Row.of(
                scored.score,
                scored.threshold,
                scored.anomaly,
                scored.episode.name(),
                scored.grade.name(),
                scored.severity,
                scored.why.isEmpty() ? null : scored.why.toString()));
        models.evictWritten();
    }

    /**
     * The name of the key in the cache. Different keys must have different names. A key of one string
     * column has the name that {@code oif score --key} uses. The name of any other key is a byte that
     * does not occur in UTF-8, followed by its parts, each with its length.
     */
    private KeyName nameOf(Row row) throws IOException {
        Object first = row.getField(keyColumns[0]);
        if (keyColumns.length == 1 && first instanceof String text) {
            return texts.of(text);
        }
        StringBuilder parts = new StringBuilder();
        for (int column : keyColumns) {
            Object part = row.getField(column);
            String text = part == null ? "" : StringUtils.arrayAwareToString(part);
            parts.append(part == null ? -1 : text.length()).append(':').append(text);
        }
        byte[] utf8 = Pipeline.utf8(parts.toString());
        return new KeyName(ByteBuffer.allocate(1 + utf8.length).put(NOT_UTF8).put(utf8).array());
    }

    private static double[] numbersOf(Row row, List<String> columns) {
        double[] numbers = new double[columns.size()];
        for (int i = 0; i < numbers.length; i++) {
            Object value = row.getField(columns.get(i));
            if (value instanceof Number number) {
                numbers[i] = number.doubleValue();
            } else if (value instanceof Boolean truth) {
                numbers[i] = truth ? 1 : 0;
            } else if (value == null) {
                numbers[i] = Double.NaN;
            } else {
                throw new IllegalArgumentException(
                        "column " + columns.get(i) + " is not a number: leave it out of numbers => DESCRIPTOR(...), or CAST it");
            }
        }
        return numbers;
    }

    /** Seconds since 1970. A timestamp without a time zone is UTC. */
    private static double secondsOf(Object time) {
        if (time instanceof Number seconds) {
            return seconds.doubleValue();
        }
        if (time instanceof LocalDateTime local) {
            time = local.toInstant(ZoneOffset.UTC);
        }
        if (time instanceof Instant instant) {
            return instant.getEpochSecond() + instant.getNano() / 1e9;
        }
        if (time == null) {
            return Double.NaN;
        }
        throw new IllegalArgumentException("row_time is not a TIMESTAMP, a TIMESTAMP_LTZ or a number of seconds: " + time.getClass());
    }

    @Override
    public void close() {
        if (models != null) {
            models.close();
            models = null;
        }
    }
}

package oif.flink;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/** Checks the numbers of a value before a model learns them. */
final class RowChecks<T> {
    private final ScoreSettings<T> settings;
    private final Counter mended;

    RowChecks(ScoreSettings<T> settings, MetricGroup group) {
        this.settings = settings;
        this.mended = group.counter("infiniteNumbersMended");
    }

    double[] row(T value) {
        double[] row = settings.row.row(value);
        int columns = settings.columns.size();
        if (row.length != columns) {
            throw new IllegalArgumentException(
                    "columns() returned " + row.length + " numbers for '" + value + "', but names " + columns + " columns");
        }
        for (int i = 0; i < columns; i++) {
            if (Double.isInfinite(row[i])) {
                row = mend(row, i, value);
            }
        }
        return row;
    }

    private double[] mend(double[] row, int column, T value) {
        if (!settings.mendsInfinite) {
            throw new IllegalArgumentException("column " + settings.columns.get(column) + " of '" + value
                    + "' is infinite; use NaN for a missing number, or infiniteIsMissing()");
        }
        mended.inc();
        double[] copy = row.clone();
        copy[column] = Double.NaN;
        return copy;
    }
}

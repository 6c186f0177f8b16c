package oif.flink;

import java.io.Serializable;

/** Returns the numbers of a value in the order of the columns. NaN means missing. */
@FunctionalInterface
public interface RowOf<T> extends Serializable {
    double[] row(T value);
}

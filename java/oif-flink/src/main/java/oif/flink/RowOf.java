package oif.flink;

import java.io.Serializable;

/** The numbers of a value, in the order of the columns; NaN is a missing one. */
@FunctionalInterface
public interface RowOf<T> extends Serializable {
    double[] row(T value);
}

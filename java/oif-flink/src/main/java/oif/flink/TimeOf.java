package oif.flink;

import java.io.Serializable;

/** The time of a value in seconds since 1970; NaN if it is unknown. */
@FunctionalInterface
public interface TimeOf<T> extends Serializable {
    double seconds(T value);
}

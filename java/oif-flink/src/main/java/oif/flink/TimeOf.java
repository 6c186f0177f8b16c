package oif.flink;

import java.io.Serializable;

/** Returns the time of a value in seconds since 1970; NaN if unknown. */
@FunctionalInterface
public interface TimeOf<T> extends Serializable {
    double seconds(T value);
}

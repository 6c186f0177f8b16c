package oif.flink;

import java.util.Arrays;

/** The bytes of a key, with equals and hashCode. */
record KeyName(byte[] bytes) {
    @Override
    public boolean equals(Object other) {
        return other instanceof KeyName name && Arrays.equals(bytes, name.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}

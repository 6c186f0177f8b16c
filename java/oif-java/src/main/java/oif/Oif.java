package oif;

import java.nio.charset.StandardCharsets;

/** The native library. */
public final class Oif {
    private Oif() {}

    /** The version of the native library, such as "0.2.0". */
    public static String version() {
        return new String(Native.version(), StandardCharsets.UTF_8);
    }

    /**
     * Rises when the same rows would get other results than before. For programs that keep rows
     * instead of models, and give them again to get the models back.
     */
    public static int behavior() {
        return Native.behavior();
    }
}

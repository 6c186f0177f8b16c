package oif;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Information about the native library. */
public final class Oif {
    private Oif() {}

    /** The version of the native library, such as "0.2.0". */
    public static String version() {
        return new String(Native.version(), StandardCharsets.UTF_8);
    }

    /**
     * The behavior number. It increases with every version of oif that may give different results for
     * the same rows. A program that stores rows and replays them to restore a model must check it.
     */
    public static int behavior() {
        return Native.behavior();
    }

    /** The detectors of the library. The first one is the default. */
    public static List<DetectorInfo> detectors() {
        List<DetectorInfo> list = new ArrayList<>();
        Native.detectorInfos((texts, n) -> list.add(DetectorInfo.from(texts)));
        return list;
    }
}

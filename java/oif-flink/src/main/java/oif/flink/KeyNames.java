package oif.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Converts keys to bytes: strings to UTF-8, other keys with Flink's serializer. A string with an
 * unpaired surrogate has no UTF-8. Its name is a byte that does not occur in UTF-8, followed by the
 * serializer's bytes, so different keys have different names.
 */
final class KeyNames<K> {
    private final TypeSerializer<K> serializer;
    private static final byte NOT_UTF8 = (byte) 0xFF;

    private final DataOutputSerializer bytes = new DataOutputSerializer(64);

    KeyNames(TypeSerializer<K> serializer) {
        this.serializer = serializer;
    }

    KeyName of(K key) throws IOException {
        bytes.clear();
        if (key instanceof String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            if (!hasUnpairedSurrogate(text, utf8)) {
                return new KeyName(utf8);
            }
            bytes.write(NOT_UTF8);
        }
        serializer.serialize(key, bytes);
        return new KeyName(bytes.getCopyOfBuffer());
    }

    /** Java encodes an unpaired surrogate as '?', so only strings with that byte need a closer look. */
    private static boolean hasUnpairedSurrogate(String text, byte[] utf8) {
        for (byte each : utf8) {
            if (each == '?') {
                return !text.equals(new String(utf8, StandardCharsets.UTF_8));
            }
        }
        return false;
    }
}

package oif.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Turns keys into bytes: texts into UTF-8, others into what Flink's serializer makes of them. A text
 * with half a surrogate pair has no UTF-8; it gets the serializer's bytes behind one that UTF-8
 * never has, so different keys have different names.
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
            if (!hasHalfPair(text, utf8)) {
                return new KeyName(utf8);
            }
            bytes.write(NOT_UTF8);
        }
        serializer.serialize(key, bytes);
        return new KeyName(bytes.getCopyOfBuffer());
    }

    /** Java writes '?' for it, one byte, so only texts with that byte need a closer look. */
    private static boolean hasHalfPair(String text, byte[] utf8) {
        for (byte each : utf8) {
            if (each == '?') {
                return !text.equals(new String(utf8, StandardCharsets.UTF_8));
            }
        }
        return false;
    }
}

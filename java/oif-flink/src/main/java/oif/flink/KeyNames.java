package oif.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Turns keys into bytes: texts into UTF-8, others into what Flink's serializer makes of them. */
final class KeyNames<K> {
    private final TypeSerializer<K> serializer;
    private final DataOutputSerializer bytes = new DataOutputSerializer(64);

    KeyNames(TypeSerializer<K> serializer) {
        this.serializer = serializer;
    }

    KeyName of(K key) throws IOException {
        if (key instanceof String text) {
            return new KeyName(text.getBytes(StandardCharsets.UTF_8));
        }
        bytes.clear();
        serializer.serialize(key, bytes);
        return new KeyName(bytes.getCopyOfBuffer());
    }
}

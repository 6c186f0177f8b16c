package oif.flink;

import static org.junit.jupiter.api.Assertions.*;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import oif.RowLayout;
import org.junit.jupiter.api.Test;

/** Compares the table of live models with a LinkedHashMap in access order. */
class EntryTableTest {
    private static KeyName name(int key) {
        return new KeyName(new byte[] {(byte) key, (byte) (key >> 8), (byte) (31 * key)});
    }

    private static Models.Entry<Integer> entry(int key) {
        return new Models.Entry<>(key, name(key), RowLayout.pieces(3, 1));
    }

    @Test
    void itHoldsWhatALinkedHashMapHoldsInTheSameOrder() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        EntryTable<Integer> table = new EntryTable<>();
        Map<Integer, Models.Entry<Integer>> twin = new LinkedHashMap<>(16, 0.75f, true);
        for (int step = 0; step < 20_000; step++) {
            int key = random.nextInt(step < 10_000 ? 1000 : 30);
            Models.Entry<Integer> found = table.find(name(key));
            assertSame(twin.get(key), found, "seed " + seed);
            if (found == null) {
                twin.put(key, entry(key));
                table.add(twin.get(key));
            } else if (random.nextInt(3) == 0) {
                table.remove(found);
                twin.remove(key);
            } else if (step > 10_000 && random.nextInt(3) == 0) {
                Models.Entry<Integer> oldest = twin.values().iterator().next();
                assertSame(oldest, table.oldest(), "seed " + seed);
                table.remove(oldest);
                twin.remove(oldest.key);
            }
            assertEquals(twin.size(), table.size(), "seed " + seed);
        }
        List<Models.Entry<Integer>> all = new ArrayList<>();
        table.forEach(all::add);
        assertEquals(twin.size(), all.size(), "seed " + seed);
        assertTrue(all.containsAll(twin.values()), "seed " + seed);
    }

    /** All entries except the last one were used after they were added. */
    @Test
    void theNewestEntryIsNotTheOldest() {
        EntryTable<Integer> table = new EntryTable<>();
        for (int key = 0; key < 3; key++) {
            table.add(entry(key));
        }
        for (int key = 0; key < 3; key++) {
            table.find(name(key));
        }
        table.add(entry(3));
        assertEquals(0, table.oldest().key);
    }

    @Test
    void whatWasUsedSinceStays() {
        EntryTable<Integer> table = new EntryTable<>();
        for (int key = 0; key < 100; key++) {
            table.add(entry(key));
        }
        for (int key = 0; key < 100; key++) {
            if (key != 42 && key != 77) {
                table.find(name(key));
            }
        }
        assertEquals(42, table.oldest().key);
        table.remove(table.oldest());
        assertEquals(77, table.oldest().key);
        table.remove(table.oldest());
        assertEquals(98, table.size());
    }
}

package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import oif.StoredRowsException.Reason;
import org.junit.jupiter.api.Test;

/** Stores of both layouts, as Flink's operator and the Kafka Streams processor use them. */
class BaseAndRowsTest {
    private static final byte[] KEY = Pipeline.utf8("pump-7");
    private static final int COLUMNS = 2;
    private static final int BEHAVIOR = Oif.behavior();
    private static final int EVERY = 8;

    /** The settings of base-and-rows.properties. */
    private static Pipeline pipeline() {
        Params detector = Params.of("online-iforest").set("window_size", 16).set("num_trees", 2);
        Params options = Params.options().set("moves", "off").set("find_season", "off");
        return new Pipeline(detector, COLUMNS, options);
    }

    private static double[] row(int i) {
        return new double[] {i * i % 7, i % 9 == 4 ? Double.NaN : i % 5 - 0.1};
    }

    private static double seconds(int i) {
        return i == 50 || i == 1026 ? Double.NaN : 1e9 + 60 * i;
    }

    private static void learn(Pipeline pipeline, BaseAndRows model, int i) {
        pipeline.process(KEY, seconds(i), row(i));
        model.add(seconds(i), row(i));
    }

    private static Reason refusal(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(StoredRowsException.class, call).reason();
    }

    /** A store of one key with numbered rows in places that are reused. */
    private static final class Places {
        byte[] base;
        final byte[][] rows = new byte[EVERY][];

        BaseAndRows restore(Pipeline pipeline) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            if (base != null) {
                model.loadBase(pipeline, KEY, base);
            }
            byte[] row = rows[place(model)];
            while (row != null && model.replay(pipeline, KEY, row)) {
                row = rows[place(model)];
            }
            return model;
        }

        void process(Pipeline pipeline, BaseAndRows model, int i) {
            int place = place(model);
            learn(pipeline, model, i);
            rows[place] = model.takeRows();
            if (model.isBaseDueByRows(EVERY)) {
                base = model.takeBase(pipeline, KEY);
            }
        }

        private static int place(BaseAndRows model) {
            return (int) (model.rows() % EVERY);
        }
    }

    // ---- Round trips ----

    @Test
    void numberedRowsRestoreTheModelAfterEveryRow() {
        Places store = new Places();
        try (Pipeline pipeline = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            for (int i = 0; i < 3 * EVERY + 3; i++) {
                store.process(pipeline, model, i);
                try (Pipeline restored = pipeline()) {
                    BaseAndRows again = store.restore(restored);
                    assertEquals(i + 1, again.rows());
                    assertEquals((i + 1) % EVERY, again.rowsSince());
                    assertArrayEquals(pipeline.saveKey(KEY), restored.saveKey(KEY), "after row " + i);
                }
            }
        }
    }

    @Test
    void piecesRestoreTheModelAlsoJoined() {
        RowLayout layout = RowLayout.pieces(COLUMNS, BEHAVIOR);
        List<byte[]> pieces = new ArrayList<>();
        byte[] base = null;
        try (Pipeline pipeline = pipeline()) {
            BaseAndRows model = new BaseAndRows(layout);
            for (int i = 0; i < 60; i++) {
                learn(pipeline, model, i);
                if (i == 29) {
                    base = model.takeBase(pipeline, KEY);
                    assertFalse(model.hasWaiting());
                } else if (i % 4 == 3 && i > 29) {
                    pieces.add(model.takeRows());
                }
            }
            assertEquals(30, model.rowsSince());
            for (List<byte[]> log : List.of(pieces, List.of(RowLayout.join(pieces)))) {
                try (Pipeline restored = pipeline()) {
                    BaseAndRows again = new BaseAndRows(layout);
                    again.loadBase(restored, KEY, base);
                    log.forEach(piece -> assertTrue(again.replay(restored, KEY, piece)));
                    assertEquals(30, again.rowsSince());
                    assertEquals(30, again.replayedRows());
                    assertArrayEquals(pipeline.saveKey(KEY), restored.saveKey(KEY));
                }
            }
        }
    }

    @Test
    void rowsThatWaitTakeLittleHeap() {
        BaseAndRows model = new BaseAndRows(RowLayout.pieces(3, BEHAVIOR));
        assertEquals(0, model.waitingBytes());
        for (int i = 0; i < 1000; i++) {
            model.add(i, new double[] {1, 2, 3});
        }
        assertTrue(model.waitingBytes() < 1.6 * 1000 * RowLayout.rowBytes(3), model.waitingBytes() + " bytes of heap");
        assertEquals(1000 * RowLayout.rowBytes(3), model.rowsSinceBytes());
        model.takeRows();
        assertEquals(0, model.waitingBytes());
        assertEquals(1000, model.rowsSince());
    }

    // ---- When a base is due ----

    @Test
    void aBaseIsDueByRowsOrBySize() {
        BaseAndRows model = new BaseAndRows(RowLayout.pieces(COLUMNS, BEHAVIOR));
        try (Pipeline pipeline = pipeline()) {
            for (int i = 0; i < 10; i++) { // a row has 24 bytes
                assertFalse(model.isBaseDueByRows(10));
                learn(pipeline, model, i);
            }
            assertTrue(model.isBaseDueByRows(10));
            assertTrue(model.isBaseDueBySize(240, 1));
            assertFalse(model.isBaseDueBySize(241, 1));
            assertTrue(model.isBaseDueBySize(480, 0.5));
            assertFalse(model.isBaseDueBySize(240, 1.5));
            model.takeBase(pipeline, KEY);
            assertEquals(0, model.rowsSince());
            assertEquals(0, model.waitingBytes());
            for (int i = 10; i < 20; i++) {
                assertFalse(model.isBaseDueBySize(240, 0.5), "only the first base is early");
                learn(pipeline, model, i);
            }
            assertTrue(model.isBaseDueBySize(240, 1.5), "only the first base is late");
        }
    }

    // ---- A kill between base and rows ----

    /** A base was written, and the rows that it contains are still in the store. */
    @Test
    void rowsOfAnEarlierBaseAreNotReplayedTwice() {
        Places store = new Places();
        try (Pipeline pipeline = pipeline();
                Pipeline restored = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            for (int i = 0; i < EVERY - 2; i++) {
                store.process(pipeline, model, i);
            }
            store.base = model.takeBase(pipeline, KEY);
            BaseAndRows again = store.restore(restored);
            assertEquals(EVERY - 2, again.rows());
            assertEquals(0, again.replayedRows());
            assertFalse(again.replay(restored, KEY, store.rows[EVERY - 3]));
            assertArrayEquals(pipeline.saveKey(KEY), restored.saveKey(KEY));
        }
    }

    /** The last row before a base was written, and the base was not. A new base is then due at once. */
    @Test
    void aBaseThatWasNotWrittenIsDueAfterTheRestore() {
        Places store = new Places();
        try (Pipeline pipeline = pipeline();
                Pipeline restored = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            for (int i = 0; i < 2 * EVERY - 1; i++) {
                store.process(pipeline, model, i);
            }
            byte[] before = store.base;
            store.process(pipeline, model, 2 * EVERY - 1);
            byte[] lost = store.base;
            store.base = before;
            BaseAndRows again = store.restore(restored);
            assertEquals(2 * EVERY, again.rows());
            assertTrue(again.isBaseDueByRows(EVERY));
            assertArrayEquals(lost, again.takeBase(restored, KEY));
        }
    }

    /** The places have rows after a base that is not there. Without it, no model can be restored. */
    @Test
    void aLostBaseIsRefused() {
        Places store = new Places();
        try (Pipeline pipeline = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            for (int i = 0; i < EVERY + 1; i++) {
                store.process(pipeline, model, i);
            }
            store.base = null;
            assertEquals(Reason.DAMAGED, refusal(() -> store.restore(pipeline)));
        }
    }

    // ---- Bytes that cannot be used ----

    @Test
    void damagedPiecesAreRefused() {
        BaseAndRows rows = new BaseAndRows(RowLayout.pieces(COLUMNS, BEHAVIOR));
        rows.add(1, row(1));
        rows.add(2, row(2));
        byte[] piece = rows.takeRows();
        try (Pipeline pipeline = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.pieces(COLUMNS, BEHAVIOR));
            for (int length = 0; length < piece.length; length++) {
                byte[] shorter = Arrays.copyOf(piece, length);
                Reason expected = length < 13 ? Reason.FORMAT : Reason.DAMAGED;
                assertEquals(expected, refusal(() -> model.replay(pipeline, KEY, shorter)), length + " bytes");
            }
            assertEquals(Reason.DAMAGED, refusal(() -> model.replay(pipeline, KEY, Arrays.copyOf(piece, piece.length + 1))));
            Reason[] headers = {Reason.FORMAT, Reason.BEHAVIOR, Reason.COLUMNS, Reason.DAMAGED};
            for (int at = 0; at < 13; at++) {
                byte[] damaged = piece.clone();
                damaged[at] ^= (byte) 0x80;
                assertEquals(headers[(at + 3) / 4], refusal(() -> model.replay(pipeline, KEY, damaged)), "byte " + at);
            }
            assertEquals(0, pipeline.rows(), "nothing is replayed");
            assertEquals(0, model.rows());
            assertTrue(model.replay(pipeline, KEY, piece));
        }
    }

    /** Only the behavior differs: this version could read the rows, but might score them differently. */
    @Test
    void piecesOfAnotherBehaviorAreRefused() {
        BaseAndRows rows = new BaseAndRows(RowLayout.pieces(COLUMNS, 7));
        rows.add(1, row(1));
        byte[] piece = rows.takeRows();
        try (Pipeline pipeline = pipeline()) {
            assertTrue(new BaseAndRows(RowLayout.pieces(COLUMNS, 7)).replay(pipeline, KEY, piece));
            BaseAndRows later = new BaseAndRows(RowLayout.pieces(COLUMNS, 8));
            assertEquals(Reason.BEHAVIOR, refusal(() -> later.replay(pipeline, KEY, piece)));
        }
    }

    @Test
    void damagedEntriesAreRefused() {
        RowLayout layout = RowLayout.numbered(COLUMNS);
        try (Pipeline pipeline = pipeline();
                Pipeline restored = pipeline()) {
            BaseAndRows model = new BaseAndRows(layout);
            learn(pipeline, model, 0);
            byte[] row = model.takeRows();
            byte[] base = model.takeBase(pipeline, KEY);
            BaseAndRows again = new BaseAndRows(layout);
            for (int length = 0; length <= row.length + Double.BYTES; length++) {
                byte[] other = Arrays.copyOf(row, length);
                if (length != row.length) {
                    assertEquals(Reason.DAMAGED, refusal(() -> again.replay(restored, KEY, other)), length + " bytes");
                }
            }
            for (int length = 0; length < Long.BYTES; length++) {
                byte[] shorter = Arrays.copyOf(base, length);
                assertEquals(Reason.DAMAGED, refusal(() -> again.loadBase(restored, KEY, shorter)), length + " bytes");
            }
            byte[] negative = base.clone();
            negative[0] = -1;
            assertEquals(Reason.DAMAGED, refusal(() -> again.loadBase(restored, KEY, negative)));
            for (int at = Long.BYTES; at < base.length; at += 97) { // the snapshot has checksums
                byte[] shorter = Arrays.copyOf(base, at);
                assertThrows(OifException.class, () -> again.loadBase(restored, KEY, shorter));
                byte[] damaged = base.clone();
                damaged[at] ^= 0x40;
                assertThrows(OifException.class, () -> again.loadBase(restored, KEY, damaged));
            }
            assertEquals(0, again.rows());
            assertFalse(restored.hasKey(KEY));
        }
    }

    @Test
    void anEntryHasOneRow() {
        BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
        assertThrows(IllegalStateException.class, model::takeRows);
        model.add(1, row(1));
        model.add(2, row(2));
        assertThrows(IllegalStateException.class, model::takeRows);
    }

    // ---- Stores whose rows were written before this class ----

    private static byte[] stored(String name) throws IOException {
        Properties all = new Properties();
        try (InputStream file = BaseAndRowsTest.class.getResourceAsStream("base-and-rows.properties")) {
            all.load(file);
        }
        return Base64.getDecoder().decode(all.getProperty(name));
    }

    /** A snapshot after the rows from 0 to that one. */
    private static byte[] snapshot(int to) {
        try (Pipeline pipeline = pipeline()) {
            for (int i = 0; i < to; i++) {
                pipeline.process(KEY, seconds(i), row(i));
            }
            return pipeline.saveKey(KEY);
        }
    }

    /** A model that loaded a snapshot and then saw the rows one by one. */
    private static byte[] twin(byte[] snapshot, int from, int to) {
        try (Pipeline pipeline = pipeline()) {
            pipeline.loadKey(KEY, snapshot);
            for (int i = from; i < to; i++) {
                pipeline.process(KEY, seconds(i), row(i));
            }
            return pipeline.saveKey(KEY);
        }
    }

    @Test
    void aStateOfFlinkIsRestoredAndItsPiecesWouldBeWrittenTheSame() throws IOException {
        byte[][] pieces = {stored("flink.piece.0"), stored("flink.piece.1")};
        RowLayout layout =
                RowLayout.pieces(COLUMNS, ByteBuffer.wrap(pieces[0]).order(ByteOrder.LITTLE_ENDIAN).getInt(1));
        BaseAndRows written = new BaseAndRows(layout);
        try (Pipeline pipeline = pipeline()) {
            BaseAndRows model = new BaseAndRows(layout);
            model.loadBase(pipeline, KEY, snapshot(40));
            int[] ends = {49, 57};
            for (int piece = 0, i = 40; piece < 2; piece++) {
                assertTrue(model.replay(pipeline, KEY, pieces[piece]));
                for (; i < ends[piece]; i++) {
                    written.add(seconds(i), row(i));
                }
                assertArrayEquals(pieces[piece], written.takeRows());
            }
            assertArrayEquals(twin(snapshot(40), 40, 57), pipeline.saveKey(KEY));
            assertArrayEquals(pipeline.saveKey(KEY), model.takeBase(pipeline, KEY), "a base is the snapshot");
        }
    }

    @Test
    void aStoreOfKafkaStreamsIsRestoredAndItsRowsWouldBeWrittenTheSame() throws IOException {
        byte[] snapshot = snapshot(1024);
        byte[] base = ByteBuffer.allocate(Long.BYTES + snapshot.length).putLong(1024).put(snapshot).array();
        try (Pipeline pipeline = pipeline();
                Pipeline fromSnapshot = pipeline()) {
            BaseAndRows model = new BaseAndRows(RowLayout.numbered(COLUMNS));
            BaseAndRows written = new BaseAndRows(RowLayout.numbered(COLUMNS));
            model.loadBase(pipeline, KEY, base);
            written.loadBase(fromSnapshot, KEY, base);
            for (int place = 0; place < 4; place++) {
                byte[] row = stored("kafka.row." + place);
                assertTrue(model.replay(pipeline, KEY, row));
                written.add(seconds(1024 + place), row(1024 + place));
                assertArrayEquals(row, written.takeRows());
            }
            assertFalse(model.replay(pipeline, KEY, stored("kafka.row.4")), "the base contains it");
            assertEquals(1028, model.rows());
            assertArrayEquals(twin(snapshot, 1024, 1028), pipeline.saveKey(KEY));
            byte[] next = model.takeBase(pipeline, KEY);
            assertEquals(1028, ByteBuffer.wrap(next).getLong());
            assertArrayEquals(pipeline.saveKey(KEY), Arrays.copyOfRange(next, Long.BYTES, next.length));
        }
    }
}

package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Objects that several threads use, or that one thread closes while another one uses them. Without
 * turns, native code reads freed memory and the JVM crashes.
 */
class SharedUseTest {
    private static final int THREADS = 8;
    private static final int KEYS_EACH = 40;
    private static final int ROWS = 100; // per key

    /** For many repetitions, or with classes that crash: {@code SharedUseTest close|share|all TIMES}. */
    public static void main(String[] arguments) throws Exception {
        SharedUseTest test = new SharedUseTest();
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            if (!arguments[0].equals("share")) {
                test.closingWhileAnotherThreadLearnsIsSafe();
            }
            if (!arguments[0].equals("close")) {
                test.threadsTakeTurns();
            }
        }
    }

    private static Detector detector() {
        return new Detector(Params.of("online-iforest").set("window_size", 256), 2);
    }

    private static Pipeline pipeline() {
        return new Pipeline(Params.of("online-iforest").set("window_size", 64), 2, Params.options());
    }

    private static <T> FutureTask<T> begin(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        begin(task);
        return task;
    }

    private static Thread begin(FutureTask<?> task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    // ---- Closing ----

    /** Learns until the detector is closed or the thread is interrupted. Returns whether it was closed. */
    private static boolean learnUntilClosed(Detector detector, CountDownLatch begun) {
        for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
            try {
                detector.learnScore(1, i);
            } catch (IllegalStateException closed) {
                assertEquals("the detector or pipeline is closed", closed.getMessage());
                return true;
            }
            begun.countDown();
        }
        return false;
    }

    private static boolean isClosed(Detector detector) {
        try {
            detector.close();
            return true;
        } catch (IllegalStateException busy) {
            assertTrue(busy.getMessage().contains("another thread is using it"), busy.getMessage());
            return false;
        }
    }

    /** Closing succeeds between two calls and is refused during one. Either is safe. */
    @Test
    void closingWhileAnotherThreadLearnsIsSafe() throws Exception {
        for (int round = 0; round < 200; round++) {
            Detector detector = detector();
            CountDownLatch begun = new CountDownLatch(1);
            FutureTask<Boolean> sawClosed = new FutureTask<>(() -> learnUntilClosed(detector, begun));
            Thread thread = begin(sawClosed);
            begun.await();
            Thread.sleep(1);
            boolean isClosed = isClosed(detector);
            if (!isClosed) {
                thread.interrupt();
            }
            assertEquals(isClosed, sawClosed.get(60, TimeUnit.SECONDS));
            detector.close(); // no call is under way any more
            assertThrows(IllegalStateException.class, detector::rowsLearned);
        }
    }

    @Test
    void closingDuringACallIsRefusedAndCanBeRepeated() throws Exception {
        List<Long> freed = new ArrayList<>();
        Handle handle = new Handle(42, freed::add);
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch refused = new CountDownLatch(1);
        FutureTask<Long> call = begin(() -> {
            long address = handle.take();
            taken.countDown();
            refused.await();
            handle.release();
            return address;
        });
        taken.await();
        assertThrows(IllegalStateException.class, handle::close);
        assertThrows(IllegalStateException.class, handle::close);
        assertEquals(List.of(), freed);
        refused.countDown();
        assertEquals(42, call.get(60, TimeUnit.SECONDS));
        handle.close();
        handle.close();
        assertEquals(List.of(42L), freed);
        assertThrows(IllegalStateException.class, handle::take);
        FutureTask<Long> late = begin(handle::take); // does not wait for a turn
        assertInstanceOf(
                IllegalStateException.class,
                assertThrows(ExecutionException.class, () -> late.get(60, TimeUnit.SECONDS)).getCause());
    }

    @Test
    void twoThreadsMayClose() throws Exception {
        for (int round = 0; round < 100; round++) {
            Pipeline pipeline = pipeline();
            long live = Handle.live();
            List<FutureTask<Boolean>> closing = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                closing.add(begin(() -> {
                    pipeline.close();
                    return true;
                }));
            }
            for (FutureTask<Boolean> each : closing) {
                assertTrue(each.get(60, TimeUnit.SECONDS));
            }
            assertTrue(Handle.live() < live, "freed once");
        }
    }

    // ---- Turns ----

    private static double[] row(int key, int i) {
        return new double[] {i * (key + 3) % 17, i % (key % 10 + 2)};
    }

    /** Rows of the keys of one thread. The results of other keys do not matter to them. */
    private static List<Result> process(Pipeline pipeline, int thread) {
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            for (int key = thread * KEYS_EACH; key < (thread + 1) * KEYS_EACH; key++) {
                byte[] name = Pipeline.utf8("key-" + key);
                results.add(pipeline.process(name, i, row(key, i)));
                if (i == key % ROWS) {
                    assertEquals(2, pipeline.explain().size());
                    pipeline.loadKey(name, pipeline.saveKey(name));
                }
            }
        }
        return results;
    }

    @Test
    void threadsTakeTurns() throws Exception {
        try (Pipeline shared = pipeline()) {
            List<FutureTask<List<Result>>> tasks = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                tasks.add(begin(() -> process(shared, thread)));
            }
            for (int thread = 0; thread < THREADS; thread++) {
                List<Result> results = tasks.get(thread).get(120, TimeUnit.SECONDS);
                try (Pipeline alone = pipeline()) {
                    assertTrue(process(alone, thread).equals(results), "results of thread " + thread);
                }
            }
            assertEquals(THREADS * KEYS_EACH * ROWS, shared.rows());
        }
    }
}

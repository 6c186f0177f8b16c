package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;
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
                test.closingWaitsForAThreadThatLearnsInATightLoop();
            }
            if (!arguments[0].equals("close")) {
                test.threadsTakeTurns();
                test.aPipelineThatEightThreadsUseCanBeClosed();
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
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    // ---- Closing ----

    /** Repeats a call until the object is closed. Returns how often it succeeded. */
    private static int repeatUntilClosed(IntConsumer call, CountDownLatch begun) {
        for (int i = 0; ; i++) {
            try {
                call.accept(i);
            } catch (IllegalStateException closed) {
                assertTrue(closed.getMessage().endsWith("is closed"), closed.getMessage());
                return i;
            }
            begun.countDown();
        }
    }

    @Test
    void closingWaitsForAThreadThatLearnsInATightLoop() throws Exception {
        for (int round = 0; round < 200; round++) {
            Detector detector = detector();
            CountDownLatch begun = new CountDownLatch(1);
            FutureTask<Integer> calls = begin(() -> repeatUntilClosed(i -> detector.learnScore(1, i), begun));
            begun.await();
            Thread.sleep(1);
            detector.close();
            assertTrue(calls.get(60, TimeUnit.SECONDS) > 0);
            assertThrows(IllegalStateException.class, detector::rowsLearned);
        }
    }

    private static void useAnyway(Pipeline pipeline, Random random) {
        byte[] key = Pipeline.utf8("key-" + random.nextInt(20));
        pipeline.process(key, Double.NaN, new double[] {random.nextDouble(), random.nextDouble()});
        pipeline.explain();
        pipeline.expected();
        pipeline.listKeys();
        pipeline.episode(key);
    }

    @Test
    void aPipelineThatEightThreadsUseCanBeClosed() throws Exception {
        for (int round = 0; round < 100; round++) {
            Pipeline pipeline = pipeline();
            CountDownLatch begun = new CountDownLatch(THREADS);
            List<FutureTask<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(round * THREADS + i);
                tasks.add(begin(() -> repeatUntilClosed(call -> useAnyway(pipeline, random), begun)));
            }
            begun.await(10, TimeUnit.MILLISECONDS);
            pipeline.close();
            for (FutureTask<Integer> task : tasks) {
                assertTrue(task.get(60, TimeUnit.SECONDS) >= 0);
            }
        }
    }

    @Test
    void closingWaitsForACallAndLaterCallsThrow() throws Exception {
        List<Long> freed = Collections.synchronizedList(new ArrayList<>());
        Handle handle = new Handle(42, freed::add);
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        FutureTask<Long> call = begin(() -> {
            long address = handle.take();
            taken.countDown();
            mayEnd.await();
            handle.release();
            return address;
        });
        taken.await();
        FutureTask<Boolean> closing = begin(() -> {
            handle.close();
            return true;
        });
        assertThrows(TimeoutException.class, () -> closing.get(50, TimeUnit.MILLISECONDS));
        assertEquals(List.of(), freed);
        assertThrows(IllegalStateException.class, handle::take, "does not wait for the call");
        mayEnd.countDown();
        assertEquals(42, call.get(60, TimeUnit.SECONDS));
        assertTrue(closing.get(60, TimeUnit.SECONDS));
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

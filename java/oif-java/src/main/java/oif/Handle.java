package oif;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * The address of a native object. The object is freed once: by close(), or after the handle becomes
 * unreachable.
 *
 * <pre>{@code
 * return handle.ask(Native::detectorSave);
 * }</pre>
 *
 * <p>What is called for each row avoids the lambda:
 *
 * <pre>{@code
 * long address = handle.take();
 * try {
 *     return Native.detectorScore(address, row);
 * } finally {
 *     handle.release();
 * }
 * }</pre>
 *
 * <p>Between take() and release() the object is in use by one thread. Other threads that call take()
 * wait for their turn. A turn without a wait is two atomic operations: less than 2% of
 * Pipeline.process.
 *
 * <p>close() waits for the call that is under way, and only for that one: calls that wait or come later
 * throw. A fair lock would do the same, but pass each turn from thread to thread, which is slow.
 */
final class Handle {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong LIVE = new AtomicLong();

    private final ReentrantLock turn = new ReentrantLock();
    private final Freer freer;
    private final Cleaner.Cleanable cleanable;
    private volatile boolean isClosing;

    Handle(long address, LongConsumer free) {
        freer = new Freer(address, free);
        LIVE.incrementAndGet();
        cleanable = CLEANER.register(this, freer);
    }

    /** Waits for its turn and returns the address. Throws if the object is closed. */
    long take() {
        if (!isClosing) {
            turn.lock();
            if (!isClosing) {
                return freer.address;
            }
            turn.unlock();
        }
        throw new IllegalStateException("the detector, pipeline or incidents object is closed");
    }

    /**
     * Ends what take() began. The fence keeps the handle reachable until here. Otherwise the garbage
     * collector may find it unreachable, and the cleaner may free the object, while native code still
     * uses it.
     */
    void release() {
        turn.unlock();
        Reference.reachabilityFence(this);
    }

    /** Calls a function with the address, in a turn of its own. */
    <T> T ask(LongFunction<T> question) {
        long address = take();
        try {
            return question.apply(address);
        } finally {
            release();
        }
    }

    /** The same without a result. */
    void run(LongConsumer call) {
        long address = take();
        try {
            call.accept(address);
        } finally {
            release();
        }
    }

    /** A second thread that closes waits for the first one, and then has nothing to do. */
    void close() {
        isClosing = true;
        turn.lock();
        try {
            cleanable.clean();
        } finally {
            turn.unlock();
        }
    }

    /** The number of objects that are not freed yet. For tests. */
    static long live() {
        return LIVE.get();
    }

    private record Freer(long address, LongConsumer free) implements Runnable {
        @Override
        public void run() { // once, by close() or by the cleaner
            free.accept(address);
            LIVE.decrementAndGet();
        }
    }
}

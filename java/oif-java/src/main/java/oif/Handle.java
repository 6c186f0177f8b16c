package oif;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * The address of a native object. The object is freed once: by close(), or after the handle becomes
 * unreachable.
 *
 * <pre>{@code
 * long address = handle.take();
 * try {
 *     return Native.detectorRows(address);
 * } finally {
 *     handle.release();
 * }
 * }</pre>
 *
 * <p>Between take() and release() the object is in use by one thread. Other threads that call take()
 * wait for their turn, and close() is refused. A turn without a wait is two atomic operations: less
 * than 2% of Pipeline.process.
 */
final class Handle {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong LIVE = new AtomicLong();

    private final ReentrantLock turn = new ReentrantLock();
    private final Freer freer;
    private final Cleaner.Cleanable cleanable;

    Handle(long address, LongConsumer free) {
        freer = new Freer(address, free);
        LIVE.incrementAndGet();
        cleanable = CLEANER.register(this, freer);
    }

    /** Waits for its turn and returns the address. Throws if the object is closed. */
    long take() {
        turn.lock();
        long address = freer.address;
        if (address == 0) {
            turn.unlock();
            throw new IllegalStateException("the detector or pipeline is closed");
        }
        return address;
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

    /** Synchronized: a second thread that closes waits for the first one, and then has nothing to do. */
    synchronized void close() {
        if (!turn.tryLock()) {
            throw new IllegalStateException(
                    "cannot close the detector or pipeline: another thread is using it; end that thread first, then close again");
        }
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

    private static final class Freer implements Runnable {
        private long address; // 0 once it is freed; a thread that has the turn, or the cleaner, reads it
        private final LongConsumer free;

        Freer(long address, LongConsumer free) {
            this.address = address;
            this.free = free;
        }

        @Override
        public void run() {
            long held = address;
            address = 0;
            free.accept(held);
            LIVE.decrementAndGet();
        }
    }
}

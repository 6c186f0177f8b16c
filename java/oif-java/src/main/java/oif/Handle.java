package oif;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The address of a native object, freed once: by close, or when its owner was forgotten.
 *
 * <p>Methods that use the address end with {@code Reference.reachabilityFence(this)}: otherwise the
 * collector may find the owner unreachable, and the cleaner free the object, while native code is
 * still at work on it.
 */
final class Handle {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong LIVE = new AtomicLong();

    private final Freer freer;
    private final Cleaner.Cleanable cleanable;

    Handle(Object owner, long address, LongConsumer free) {
        freer = new Freer(address, free);
        LIVE.incrementAndGet();
        cleanable = CLEANER.register(owner, freer);
    }

    long address() {
        long address = freer.address;
        if (address == 0) {
            throw new IllegalStateException("it is closed");
        }
        return address;
    }

    void close() {
        cleanable.clean();
    }

    /** Objects that are not freed yet, for tests. */
    static long live() {
        return LIVE.get();
    }

    private static final class Freer implements Runnable {
        private volatile long address;
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

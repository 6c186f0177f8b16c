package oif;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The address of a native object. The object is freed once: by close(), or after its owner becomes
 * unreachable.
 *
 * <p>Methods that use the address end with {@code Reference.reachabilityFence(this)}. Otherwise the
 * garbage collector may find the owner unreachable, and the cleaner may free the object, while native
 * code still uses it.
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
            throw new IllegalStateException("the detector or pipeline is closed");
        }
        return address;
    }

    void close() {
        cleanable.clean();
    }

    /** The number of objects that are not freed yet. For tests. */
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

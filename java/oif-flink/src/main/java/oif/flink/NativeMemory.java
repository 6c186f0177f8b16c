package oif.flink;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Checks the native memory of the models against what the task manager declares. Models are outside
 * the heap and outside Flink's managed memory. A container that uses more memory than declared is
 * killed.
 */
final class NativeMemory {
    /** The allocator and freed models add up to 20% to the cache. */
    private static final double OVERHEAD = 1.2;

    private NativeMemory() {}

    /** The bytes of all open caches of this job in this process. */
    private static final AtomicLong CLAIMED = new AtomicLong();

    /**
     * Claims the memory of a cache, until {@link #release}. Throws if the open caches, or one cache per
     * slot, exceed what the task manager declares. Checks nothing if the configuration is null.
     */
    static void claim(Configuration taskManager, long cacheBytes) {
        if (taskManager == null) {
            CLAIMED.addAndGet(cacheBytes);
            return;
        }
        int slots = taskManager.get(TaskManagerOptions.NUM_TASK_SLOTS);
        MemorySize declared = taskManager.get(TaskManagerOptions.TASK_OFF_HEAP_MEMORY);
        long claimed = CLAIMED.addAndGet(cacheBytes);
        double caches = Math.max(claimed, (double) cacheBytes * slots);
        MemorySize needed = MemorySize.ofMebiBytes((long) (OVERHEAD * caches / (1 << 20)) + 1);
        if (declared.compareTo(needed) < 0) {
            release(cacheBytes);
            throw new IllegalStateException("the models of " + slots + " slots with a cache of "
                    + new MemorySize(cacheBytes).toHumanReadableString() + " each, or of all operators of the job, may take "
                    + needed.toHumanReadableString() + " of native memory, and the task manager declares "
                    + declared.toHumanReadableString() + ": set " + TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key() + ": "
                    + needed.getMebiBytes() + "m in its configuration, or a smaller cache()");
        }
    }

    static void release(long cacheBytes) {
        CLAIMED.addAndGet(-cacheBytes);
    }
}

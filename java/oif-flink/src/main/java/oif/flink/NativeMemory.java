package oif.flink;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Models are outside the heap and outside Flink's managed memory, so Flink has to be told of them:
 * a container is killed when its processes take more than was declared.
 */
final class NativeMemory {
    /** What the allocator and freed models take on top of the cache. */
    private static final double OVERHEAD = 1.2;

    private NativeMemory() {}

    /** The caches of the operators of this job that are open in this process. */
    private static final AtomicLong CLAIMED = new AtomicLong();

    /**
     * Claims the memory of a cache, to be released when it is closed. Refuses it when the caches of
     * all slots, or those that are open, do not fit what the task manager declares. Its configuration
     * is null where it cannot be had.
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

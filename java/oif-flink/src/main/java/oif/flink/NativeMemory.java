package oif.flink;

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

    /** Refuses to start when the caches of all slots do not fit what the task manager declares. */
    static void check(Configuration taskManager, long cacheBytes) {
        int slots = taskManager.get(TaskManagerOptions.NUM_TASK_SLOTS);
        MemorySize declared = taskManager.get(TaskManagerOptions.TASK_OFF_HEAP_MEMORY);
        MemorySize needed = MemorySize.ofMebiBytes((long) (OVERHEAD * cacheBytes * slots / (1 << 20)) + 1);
        if (declared.compareTo(needed) < 0) {
            throw new IllegalStateException("the models of " + slots + " slots with a cache of "
                    + new MemorySize(cacheBytes).toHumanReadableString() + " each may take " + needed.toHumanReadableString()
                    + " of native memory, and the task manager declares " + declared.toHumanReadableString() + ": set "
                    + TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key() + ": " + needed.getMebiBytes()
                    + "m in its configuration, or a smaller cache()");
        }
    }
}

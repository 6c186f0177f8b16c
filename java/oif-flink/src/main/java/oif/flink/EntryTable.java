package oif.flink;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.PriorityQueue;

/**
 * The keys whose models are in memory: a hash table, and a queue that finds the least recently used
 * entry.
 *
 * <p>The models fill the processor's caches, so the cost of a lookup is the number of cache misses: the
 * bucket, the entry and its name. A LinkedHashMap in access order has three more and writes to the
 * neighbours of the entry; this took 1 to 2 microseconds per row with some hundred keys. Here a lookup
 * only sets {@code used} in the entry. The queue is sorted by {@code queued}, an older value of
 * {@code used}. If the first entry was used since it was queued, it is queued again; otherwise it is
 * the least recently used entry.
 */
final class EntryTable<K> implements Iterable<Models.Entry<K>> {
    private Models.Entry<K>[] buckets = newBuckets(64);
    private int size;
    private long uses;
    private final PriorityQueue<Models.Entry<K>> queue =
            new PriorityQueue<>(Comparator.comparingLong((Models.Entry<K> entry) -> entry.queued));

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static <K> Models.Entry<K>[] newBuckets(int count) {
        return (Models.Entry<K>[]) new Models.Entry[count];
    }

    int size() {
        return size;
    }

    /** Returns the entry of a name and counts as a use; null if there is none. */
    Models.Entry<K> find(KeyName name) {
        int hash = name.hashCode();
        Models.Entry<K> entry = buckets[bucket(hash)];
        while (entry != null && (entry.hash != hash || !Arrays.equals(entry.name, name.bytes()))) {
            entry = entry.next;
        }
        if (entry != null) {
            entry.used = ++uses;
        }
        return entry;
    }

    /** Adds an entry whose name is not in the table. */
    void add(Models.Entry<K> entry) {
        if (size >= buckets.length) {
            grow();
        }
        link(entry);
        size++;
        entry.used = entry.queued = ++uses;
        queue.add(entry);
    }

    void remove(Models.Entry<K> entry) {
        int bucket = bucket(entry.hash);
        if (buckets[bucket] == entry) {
            buckets[bucket] = entry.next;
        } else {
            Models.Entry<K> before = buckets[bucket];
            while (before.next != entry) {
                before = before.next;
            }
            before.next = entry.next;
        }
        size--;
        entry.isRemoved = true; // stays in the queue for now, because searching the queue is slow
        if (queue.peek() == entry) {
            queue.remove();
        } else if (queue.size() > 2 * size + 64) {
            queue.removeIf(each -> each.isRemoved);
        }
    }

    /** The least recently used entry. The table must not be empty. */
    Models.Entry<K> oldest() {
        for (Models.Entry<K> entry = queue.element(); ; entry = queue.element()) {
            if (!entry.isRemoved && entry.used == entry.queued) {
                return entry;
            }
            queue.remove();
            if (!entry.isRemoved) {
                entry.queued = entry.used;
                queue.add(entry);
            }
        }
    }

    void clear() {
        Arrays.fill(buckets, null);
        queue.clear();
        size = 0;
    }

    private int bucket(int hash) {
        return (hash ^ (hash >>> 16)) & (buckets.length - 1);
    }

    private void link(Models.Entry<K> entry) {
        int bucket = bucket(entry.hash);
        entry.next = buckets[bucket];
        buckets[bucket] = entry;
    }

    private void grow() {
        Models.Entry<K>[] smaller = buckets;
        buckets = newBuckets(2 * smaller.length);
        for (Models.Entry<K> first : smaller) {
            for (Models.Entry<K> entry = first, next; entry != null; entry = next) {
                next = entry.next;
                link(entry);
            }
        }
    }

    @Override
    public Iterator<Models.Entry<K>> iterator() {
        return queue.stream().filter(entry -> !entry.isRemoved).iterator();
    }
}

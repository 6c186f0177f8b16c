package oif.flink;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;

/**
 * The keys whose models are in memory: a hash table, and a queue of those to evict.
 *
 * <p>The models take most of the processor's caches, so what a row costs here is the number of
 * places in memory that it reads: a bucket, the entry and its name. A LinkedHashMap in the order of
 * access reads three more and writes to the neighbours of the entry, which took 1 to 2
 * microseconds per row with some hundred keys. Here a row leaves a number in the entry, and the
 * queue looks at it when a model must go: an entry that was used since it was queued is queued
 * again.
 */
final class EntryTable<K> implements Iterable<Models.Entry<K>> {
    private static final long GONE = -1;

    private Models.Entry<K>[] buckets = newBuckets(64);
    private int size;
    private long uses;
    private final ArrayDeque<Models.Entry<K>> queue = new ArrayDeque<>();

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static <K> Models.Entry<K>[] newBuckets(int count) {
        return (Models.Entry<K>[]) new Models.Entry[count];
    }

    int size() {
        return size;
    }

    /** The entry of a name, which counts as used; null if there is none. */
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
        queue.addLast(entry);
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
        entry.queued = GONE; // found in the queue later: to look for it now would take long
        if (queue.peekFirst() == entry) {
            queue.removeFirst();
        } else if (queue.size() > 2 * size + 64) {
            queue.removeIf(each -> each.queued == GONE);
        }
    }

    /** One that was not used for long. */
    Models.Entry<K> oldest() {
        for (Models.Entry<K> entry = queue.getFirst(); ; entry = queue.getFirst()) {
            if (entry.used == entry.queued) {
                return entry;
            }
            queue.removeFirst();
            if (entry.queued != GONE) {
                entry.queued = entry.used;
                queue.addLast(entry);
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
        return queue.stream().filter(entry -> entry.queued != GONE).iterator();
    }
}

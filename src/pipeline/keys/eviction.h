/* Which key to evict when there are more keys than models allowed.
 *
 * Not simply the least recently seen key. If hosts report in rounds and there is one too many, each
 * would lose its model just before its next row, and none would ever learn anything. So each key is
 * compared with itself: it is overdue after several times its usual gap, like a container that has
 * ended. A new key replaces one that is overdue; if none is, the new key gets no model.
 *
 *     row       ... a b c d a b c d a b   c     c     c     c     now
 *     a         gap 4, not seen for 12 rows: overdue         e: takes its place
 *
 * A key seen only once has no known gap. Occasionally one that was not seen for long is evicted
 * too, so the table does not stay full of such keys.
 */
#ifndef OIF_PIPELINE_EVICTION_H
#define OIF_PIPELINE_EVICTION_H

#include "pipeline/keys/keys.h"

/* Updates the entry of a key at its row, number `row`. */
static inline void oif_eviction_see(oif_key_entry *entry, uint64_t row)
{
    uint64_t gap = entry->seen > 0 ? row - entry->seen : 0;
    entry->gap -= entry->gap / 32; /* one long gap is remembered for a few dozen rows */
    entry->gap = gap > entry->gap ? gap : entry->gap;
    entry->seen = row;
}

/* The most overdue of the least recently seen entries, except `spared`; OIF_NO_KEY if there is no
 * other. `row`: the number of the coming row. */
uint32_t oif_eviction_choose(const oif_keys *keys, uint64_t row, uint32_t spared);

/* Whether an entry is overdue, so a new key may replace it. */
bool oif_eviction_is_overdue(const oif_keys *keys, uint64_t row, uint32_t entry);

/* A random entry except `spared`; OIF_NO_KEY if there is no other. */
uint32_t oif_eviction_draw(const oif_keys *keys, uint64_t row, uint32_t spared);

#endif

/* Which key gives way when there are more keys than models may be held for.
 *
 * Not simply the least recently seen one: if hosts report in turn, and there is one too many, each
 * would lose its model just before its next row, and none would ever learn anything. So a key is
 * compared with itself: it is overdue once it was not seen for several times its usual gap, as
 * containers are that ended. A new key takes the place of one that is overdue; if there is none,
 * the new key gets no model.
 *
 *     row       ... a b c d a b c d a b   c     c     c     c     now
 *     a         gap 4, not seen for 12 rows: overdue         e: takes its place
 *
 * Of a key that was seen once the gap is unknown. Now and then one that was not seen for long gives
 * way too, so a table full of keys that came once does not stay so.
 */
#ifndef OIF_PIPELINE_EVICTION_H
#define OIF_PIPELINE_EVICTION_H

#include "pipeline/keys.h"

/* A key has a row, the one with this number. */
static inline void oif_eviction_see(oif_key_entry *entry, uint64_t row)
{
    uint64_t gap = entry->seen > 0 ? row - entry->seen : 0;
    entry->gap -= entry->gap / 32; /* one long gap is remembered for some dozen rows */
    entry->gap = gap > entry->gap ? gap : entry->gap;
    entry->seen = row;
}

/* The entry that is longest overdue of those least recently seen, other than `spared`; OIF_NO_KEY
 * if there is no other. `row`: the number of the row that comes. */
uint32_t oif_eviction_choose(const oif_keys *keys, uint64_t row, uint32_t spared);

/* Whether an entry is overdue, so a new key may take its place. */
bool oif_eviction_is_overdue(const oif_keys *keys, uint64_t row, uint32_t entry);

/* Any entry but `spared`, by chance; OIF_NO_KEY if there is no other. */
uint32_t oif_eviction_draw(const oif_keys *keys, uint64_t row, uint32_t spared);

#endif

#include "detect/isolation.h"
#include "snapshot/packed_tokens.h"

static inline void set_value(unsigned char *at, uint64_t value, size_t width)
{
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    switch (width) {
    case 1: *at = (unsigned char)value; break;
    case 2: memcpy(at, &two, sizeof two); break;
    case 4: memcpy(at, &four, sizeof four); break;
    default: memcpy(at, &value, sizeof value);
    }
}

/* What changes with each value, for values of one width. In local variables: storing a value could
 * otherwise change it, as far as the compiler knows. The bytes of one value may be read from behind
 * the end, in the spare bytes; then it is broken. */
typedef struct source {
    const unsigned char *next, *end;
    uint64_t skipped, drawn, previous;
    bool is_broken;
} source;

OIF_INLINE source open_source(const oif_field_packer *p, size_t width)
{
    return (source){p->next, p->end, p->skipped, p->draws.state, p->previous[width], p->is_broken};
}

OIF_INLINE void close_source(oif_field_packer *p, const source *from, size_t width)
{
    p->next = (unsigned char *)from->next; /* only read */
    p->skipped = from->skipped;
    p->draws.state = from->drawn;
    p->previous[width] = from->previous;
    p->is_broken = from->is_broken;
}

OIF_INLINE bool is_skip(size_t token)
{
    return token - SKIP_ONE <= SKIP_MANY - SKIP_ONE;
}

/* The number of values that a token skips. */
OIF_INLINE uint64_t take_skip(const unsigned char **next, size_t token, bool *is_broken)
{
    const uint64_t skipped = token < SKIP_MANY ? token - SKIP_ONE + 1 : take_count(next);
    *is_broken |= skipped == UINT64_MAX;
    return skipped;
}

/* Skips blank values. Returns how many of the next `left` ones are. */
OIF_INLINE size_t skip(source *from, size_t left)
{
    const size_t now = from->skipped < left ? (size_t)from->skipped : left;
    from->skipped -= now;
    return now;
}

OIF_INLINE uint64_t take_new_value(source *from, size_t token, size_t width)
{
    const size_t shared = token >> 3, zeros = token & 7, known = shared + zeros;
    if (known > width) {
        from->is_broken = true;
        return 0;
    }
    const uint64_t others = oif_bytes_load(from->next, WORD_BYTES) & mask_of(width - known);
    from->next += width - known;
    return (from->previous & ~mask_of(width - shared)) | others << 8 * zeros;
}

/* A new value, or one near the one before. */
OIF_INLINE uint64_t take_other_value(source *from, oif_field_packer *p, size_t token, size_t width)
{
    const uint64_t value =
        (token >= STEP ? from->previous + token - STEP_ZERO : take_new_value(from, token, width)) &
        mask_of(width);
    p->near[width][hash_of(value, NEAR_BITS)] = value;
    p->far[hash_of(value, FAR_BITS)] = value;
    return value;
}

OIF_INLINE bool is_known(size_t token)
{
    return token >= NEAR_VALUE || token - FAR_VALUE < STEP - FAR_VALUE;
}

/* A value of one of the tables. */
OIF_INLINE uint64_t take_known_value(source *from, const oif_field_packer *p, size_t token,
                                     size_t width)
{
    return (token >= NEAR_VALUE ? p->near[width][token - NEAR_VALUE]
                                : p->far[(token - FAR_VALUE) << 8 | *from->next++]) &
           mask_of(width);
}

/* ---- Fields ---- */

OIF_INLINE void unpack_values(oif_field_packer *p, unsigned char *at, size_t count, size_t width)
{
    source from = open_source(p, width);
    for (size_t i = skip(&from, count); i < count && !from.is_broken;) {
        const size_t token = *from.next++;
        if (is_skip(token)) {
            from.skipped = take_skip(&from.next, token, &from.is_broken);
            i += skip(&from, count - i);
        } else {
            uint64_t value;
            if (is_known(token)) {
                value = take_known_value(&from, p, token, width);
                p->near[width][hash_of(value, NEAR_BITS)] = value;
                p->far[hash_of(value, FAR_BITS)] = value;
            } else {
                value = take_other_value(&from, p, token, width);
            }
            from.previous = value;
            set_value(at + i++ * width, value, width);
        }
        from.is_broken |= from.next > from.end;
    }
    close_source(p, &from, width);
}

/* A copy of the loop for each width takes half of the instructions. */
static void unpack_span(oif_field_packer *p, unsigned char *at, size_t count, size_t width)
{
    switch (width) {
    case 1: unpack_values(p, at, count, 1); break;
    case 2: unpack_values(p, at, count, 2); break;
    case 4: unpack_values(p, at, count, 4); break;
    default: unpack_values(p, at, count, 8);
    }
}

static void unpack_field(oif_state_visitor *self, const char *name, oif_field_type type,
                         void *values, size_t count)
{
    oif_field_packer *p = (oif_field_packer *)self;
    (void)name;
    if (p->skipped >= count)
        p->skipped -= count;
    else
        unpack_span(p, values, count, oif_field_type_bytes(type));
}

/* ---- Records ---- */

OIF_INLINE bool is_draw(size_t token)
{
    return token == DRAWN || token == DRAWN_FROM;
}

OIF_INLINE uint64_t take_cut(source *from, size_t token, const unsigned char *at)
{
    double low, high;
    if (token == DRAWN) {
        from->drawn += *from->next++ * OIF_RANDOM_STEP;
    } else {
        from->drawn = oif_bytes_load(from->next, WORD_BYTES);
        from->next += WORD_BYTES;
    }
    memcpy(&low, at - 2 * sizeof low, sizeof low);
    memcpy(&high, at - sizeof high, sizeof high);
    oif_random random = {from->drawn - OIF_RANDOM_STEP};
    return oif_bits_of_double(oif_draw_cut(&random, low, high));
}

/* The same value of the records of a run. */
OIF_INLINE void unpack_lane(oif_field_packer *p, unsigned char *at, size_t stride, size_t count,
                            size_t width, bool is_cut)
{
    source from = open_source(p, width);
    for (size_t i = skip(&from, count); i < count && !from.is_broken;) {
        const size_t token = *from.next++;
        if (is_skip(token)) {
            from.skipped = take_skip(&from.next, token, &from.is_broken);
            i += skip(&from, count - i);
        } else if (is_cut && is_draw(token)) {
            set_value(at + i * stride, take_cut(&from, token, at + i * stride), width);
            i++;
        } else {
            const uint64_t value = is_known(token) ? take_known_value(&from, p, token, width)
                                                   : take_other_value(&from, p, token, width);
            from.previous = value;
            set_value(at + i * stride, width == 2 ? absolute_of(value, i) : value, width);
            i++;
        }
        from.is_broken |= from.next > from.end;
    }
    close_source(p, &from, width);
}

static void unpack_lane_of(oif_field_packer *p, const lane *l, unsigned char *at, size_t stride,
                           size_t count)
{
    switch (l->width) {
    case 1: unpack_lane(p, at, stride, count, 1, false); break;
    case 2: unpack_lane(p, at, stride, count, 2, false); break;
    case 4: unpack_lane(p, at, stride, count, 4, false); break;
    default:
        if (l->is_cut)
            unpack_lane(p, at, stride, count, 8, true);
        else
            unpack_lane(p, at, stride, count, 8, false);
    }
}

/* Passes the runs, and returns where they begin; NULL if they do not have `count`
 * records. */
static const unsigned char *take_runs(oif_field_packer *p, size_t count)
{
    const unsigned char *next = p->next;
    for (size_t i = 0; i < count;) {
        const record_run run = take_run(&next);
        const size_t left = count - i;
        if (next > p->end || run.blank > left || run.count > left - run.blank ||
            (run.count == 0 && run.blank < left))
            return NULL;
        i += (size_t)(run.blank + run.count);
    }
    const unsigned char *runs = p->next;
    p->next = (unsigned char *)next; /* only read */
    return runs;
}

static void unpack_lanes(oif_field_packer *p, const oif_records *records)
{
    const unsigned char *runs = take_runs(p, records->count);
    p->is_broken |= !runs;
    for (size_t f = 0; f < records->field_count; f++)
        for (size_t k = 0; k < records->fields[f].count && !p->is_broken; k++) {
            const lane l = lane_of(records, f, k);
            const unsigned char *next = runs;
            for (size_t i = 0; i < records->count;) {
                const record_run run = take_run(&next);
                i += (size_t)run.blank;
                unpack_lane_of(p, &l,
                               (unsigned char *)records->first + i * records->stride + l.offset,
                               records->stride, (size_t)run.count);
                i += (size_t)run.count;
            }
        }
}

static void unpack_records(oif_state_visitor *self, const oif_records *records)
{
    oif_field_packer *p = (oif_field_packer *)self;
    const uint64_t values = (uint64_t)records->count * values_of_record(records);
    const unsigned char *next = p->next;
    if (values == 0)
        return;
    const size_t token = p->skipped == 0 && !p->is_broken ? *next++ : RECORDS;
    if (is_skip(token))
        p->skipped = take_skip(&next, token, &p->is_broken);
    p->next = (unsigned char *)next; /* only read */
    if (p->skipped >= values)
        p->skipped -= values;
    else if (p->skipped == 0 && token == RECORDS && !p->is_broken)
        unpack_lanes(p, records);
    else
        p->is_broken = true;
    p->is_broken |= p->next > p->end;
}

void oif_field_packer_unpack(oif_field_packer *packer, const unsigned char *packed, size_t count)
{
    begin_packing(packer, (unsigned char *)packed, count); /* only read */
    packer->visitor = (oif_state_visitor){unpack_field, unpack_records};
}

bool oif_field_packer_is_whole(const oif_field_packer *packer)
{
    return !packer->is_broken && packer->skipped == 0 && packer->next == packer->end;
}

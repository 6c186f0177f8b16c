#include "base/checksum.h"
#include "detect/isolation.h"
#include "snapshot/packed_tokens.h"

/* ---- Values ---- */

/* Values of a field. */
typedef struct span {
    unsigned char *at;
    size_t count, width;
    bool are_doubles;
} span;

static span span_of(oif_field_type type, void *values, size_t count)
{
    return (span){values, count, oif_field_type_bytes(type), type == OIF_FIELD_F64};
}

/* Every NaN means "missing", but their bits differ between machines. */
static inline uint64_t bits_of_number(double number)
{
    return number == number ? oif_bits_of_double(number) : UINT64_C(0x7FF8000000000000);
}

static inline uint64_t value_at(const span *s, const unsigned char *at)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    double number;
    switch (s->width) {
    case 1: return *at;
    case 2: memcpy(&two, at, sizeof two); return two;
    case 4: memcpy(&four, at, sizeof four); return four;
    default: break;
    }
    if (s->are_doubles) {
        memcpy(&number, at, sizeof number);
        return bits_of_number(number);
    }
    memcpy(&eight, at, sizeof eight);
    return eight;
}

static inline void remember(oif_field_packer *p, uint64_t value, size_t width)
{
    p->near[width][hash_of(value, NEAR_BITS)] = value;
    p->far[hash_of(value, FAR_BITS)] = value;
    p->previous[width] = value;
}

/* ---- Copying ---- */

static void copy_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    oif_field_packer *p = (oif_field_packer *)self;
    const size_t bytes = count * oif_field_type_bytes(type);
    (void)name;
    p->is_broken |= bytes > (size_t)(p->end - p->next);
    if (p->is_broken)
        return;
    memcpy(p->next, values, bytes);
    p->next += bytes;
}

void oif_field_packer_copy(oif_field_packer *packer, unsigned char *blank, size_t bytes)
{
    begin_packing(packer, blank, bytes);
    packer->visitor = (oif_state_visitor){copy_field, NULL};
}

static void sum_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                      size_t count)
{
    oif_field_summer *summer = (oif_field_summer *)self;
    const span s = span_of(type, values, count);
    unsigned char bytes[WORD_BYTES];
    (void)name;
    for (size_t i = 0; i < s.count; i++) {
        oif_bytes_store(bytes, value_at(&s, s.at + i * s.width), s.width);
        summer->checksum = oif_checksum(&oif_checksum_zip, summer->checksum, bytes, s.width);
    }
}

oif_field_summer oif_field_summer_new(void)
{
    return (oif_field_summer){{sum_field, NULL}, 0};
}

/* ---- Packing ---- */

static inline void put(oif_field_packer *p, size_t byte)
{
    p->is_broken |= p->next == p->end;
    if (!p->is_broken)
        *p->next++ = (unsigned char)byte;
}

static void put_count(oif_field_packer *p, uint64_t left)
{
    for (; left >= 0x80; left >>= 7)
        put(p, 0x80 | (left & 0x7F));
    put(p, (size_t)left);
}

static void put_skipped(oif_field_packer *p)
{
    uint64_t left = p->skipped;
    p->skipped = 0;
    if (left <= SKIP_MANY - SKIP_ONE) {
        put(p, SKIP_ONE + (size_t)left - 1);
        return;
    }
    put(p, SKIP_MANY);
    put_count(p, left);
}

static void put_new_value(oif_field_packer *p, uint64_t value, size_t width)
{
    const uint64_t differs = value ^ p->previous[width];
    size_t shared = 0, zeros = 0;
    while (shared < MOST_SHARED_BYTES && shared + 1 < width &&
           (differs >> 8 * (width - shared - 1)) == 0)
        shared++;
    while (zeros < MOST_SHARED_BYTES && shared + zeros < width && (value >> 8 * zeros & 0xFF) == 0)
        zeros++;
    put(p, 8 * shared + zeros);
    for (size_t i = zeros; i < width - shared; i++)
        put(p, value >> 8 * i & 0xFF);
}

/* The number of its token from STEP on, if the value is near the one before. */
static inline uint64_t step_of(const oif_field_packer *p, uint64_t value, size_t width)
{
    return (value - p->previous[width] + (STEP_ZERO - STEP)) & mask_of(width);
}

static inline bool is_step(const oif_field_packer *p, uint64_t value, size_t width)
{
    return step_of(p, value, width) < NEAR_VALUE - STEP;
}

static bool put_near_value(oif_field_packer *p, uint64_t value, size_t width)
{
    const size_t near = hash_of(value, NEAR_BITS);
    if (p->near[width][near] != value)
        return false;
    put(p, NEAR_VALUE | near);
    p->previous[width] = value;
    return true;
}

static bool put_far_value(oif_field_packer *p, uint64_t value, size_t width)
{
    const size_t far = hash_of(value, FAR_BITS);
    if (p->far[far] != value)
        return false;
    put(p, FAR_VALUE | far >> 8);
    put(p, far & 0xFF);
    p->previous[width] = value;
    return true;
}

static void put_other_value(oif_field_packer *p, uint64_t value, size_t width)
{
    if (is_step(p, value, width))
        put(p, STEP + (size_t)step_of(p, value, width));
    else
        put_new_value(p, value, width);
    remember(p, value, width);
}

static void put_value(oif_field_packer *p, uint64_t value, size_t width)
{
    if (put_near_value(p, value, width) ||
        (!is_step(p, value, width) && put_far_value(p, value, width)))
        remember(p, value, width);
    else
        put_other_value(p, value, width);
}

/* The same in a lane. A processor guesses kinds of tokens that are always the same, so most numbers
 * are written as far values, near or not. */
static void put_lane_value(oif_field_packer *p, uint64_t value, size_t width)
{
    const bool is_wide = width == WORD_BYTES;
    if ((is_wide && put_far_value(p, value, width)) || put_near_value(p, value, width) ||
        (!is_wide && !is_step(p, value, width) && put_far_value(p, value, width)))
        return;
    put_other_value(p, value, width);
}

/* How many of the first items, each of `bytes`, are the same in both. In blocks, because most of
 * what a model reserves is blank. */
static size_t count_same(const unsigned char *at, const unsigned char *blank, size_t bytes,
                         size_t count)
{
    enum { BLOCK = 32 };
    size_t same = 0;
    while (count - same >= BLOCK &&
           memcmp(at + same * bytes, blank + same * bytes, BLOCK * bytes) == 0)
        same += BLOCK;
    while (same < count && memcmp(at + same * bytes, blank + same * bytes, bytes) == 0)
        same++;
    return same;
}

static void pack_span(oif_field_packer *p, span s)
{
    const unsigned char *blank = p->blank;
    p->blank += s.count * s.width;
    for (size_t i = 0; i < s.count; i++) {
        const size_t at = i * s.width;
        const uint64_t value = value_at(&s, s.at + at);
        if (value == value_at(&s, blank + at)) {
            const size_t same = count_same(s.at + at, blank + at, s.width, s.count - i);
            p->skipped += same > 0 ? same : 1; /* 0: NaN with other bits */
            i += same > 0 ? same - 1 : 0;
            continue;
        }
        if (p->skipped > 0)
            put_skipped(p);
        put_value(p, value, s.width);
    }
}

static void pack_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    oif_field_packer *p = (oif_field_packer *)self;
    const span s = span_of(type, values, count);
    if (type == OIF_FIELD_U64 && count == 1 && strcmp(name, "random") == 0) {
        p->draws = (oif_packed_draws){
            .state = value_at(&s, p->blank), .last_state = value_at(&s, s.at), .are_known = true};
    }
    pack_span(p, s);
}

/* ---- Packing records ---- */

/* Whether the fields of a record are those of the blank one, which has them next to each other. */
static bool is_blank(const oif_records *records, const unsigned char *record,
                     const unsigned char *blank)
{
    for (size_t f = 0; f < records->field_count; f++) {
        const oif_field *field = &records->fields[f];
        const size_t bytes = field->count * oif_field_type_bytes(field->type);
        if (memcmp(record + field->offset, blank, bytes) != 0)
            return false;
        blank += bytes;
    }
    return true;
}

/* How many of the records from `first` on are blank, or are not. */
static size_t count_records(const oif_field_packer *p, const oif_records *records, size_t first,
                            bool are_blank)
{
    const unsigned char *start = records->first, *blank = p->blank;
    const size_t bytes = oif_record_bytes(records);
    size_t i = first;
    if (are_blank && bytes == records->stride)
        i += count_same(start + i * bytes, blank + i * bytes, bytes, records->count - i);
    while (i < records->count &&
           is_blank(records, start + i * records->stride, blank + i * bytes) == are_blank)
        i++;
    return i - first;
}

static void put_runs(oif_field_packer *p, const oif_records *records)
{
    for (size_t i = 0; i < records->count;) {
        const size_t blank = count_records(p, records, i, true),
                     count = count_records(p, records, i + blank, false);
        put_count(p, blank);
        put_count(p, count);
        i += blank + count;
    }
}

static inline bool is_drawn(uint64_t state, uint64_t cut, double low, double high)
{
    oif_random random = {state - OIF_RANDOM_STEP};
    return oif_bits_of_double(oif_draw_cut(&random, low, high)) == cut;
}

/* Writes the draw that leads to `state`, `draws` after the one before; 0: it is far from it. */
static void put_draw(oif_field_packer *p, uint64_t state, unsigned draws)
{
    const bool is_near = p->draws.has_state && draws > 0;
    put(p, is_near ? DRAWN : DRAWN_FROM);
    if (is_near)
        put(p, draws);
    for (unsigned shift = 0; shift < 64 && !is_near; shift += 8)
        put(p, state >> shift & 0xFF);
    p->draws.state = state;
    p->draws.has_state = true;
    p->draws.misses = 0;
}

/* Finds a draw far from the one before, as that of the oldest tree, which follows the newest one in
 * memory: counted back from the last. By default a node takes some six draws. If that has failed a
 * few times, it is not tried again. */
static bool put_far_draw(oif_field_packer *p, size_t records, uint64_t cut, double low, double high)
{
    enum { LEAST_DRAWS = 1 << 14, DRAWS_PER_RECORD = 8, MOST_SEARCHES = 4 };
    const size_t most = LEAST_DRAWS + DRAWS_PER_RECORD * records;
    uint64_t state = p->draws.last_state;
    if (p->draws.searches++ >= MOST_SEARCHES)
        return false;
    for (size_t i = 0; i < most; i++, state -= OIF_RANDOM_STEP)
        if (is_drawn(state, cut, low, high)) {
            put_draw(p, state, 0);
            return true;
        }
    return false;
}

/* Writes a cut, one of the fields of `records` records, as the draw that it was made with. The
 * nodes of a tree are in the order of their draws, with a few others between them. */
static bool put_cut(oif_field_packer *p, size_t records, const unsigned char *at, uint64_t cut)
{
    enum { MOST_MISSES = 32 };
    double low, high;
    memcpy(&low, at - 2 * sizeof low, sizeof low);
    memcpy(&high, at - sizeof high, sizeof high);
    if (!(low < high) || !p->draws.are_known)
        return false;
    for (unsigned draws = 1; draws <= MOST_DRAWS; draws++) {
        const uint64_t state = p->draws.state + draws * OIF_RANDOM_STEP;
        if (is_drawn(state, cut, low, high)) {
            put_draw(p, state, draws);
            return true;
        }
    }
    if (put_far_draw(p, records, cut, low, high))
        return true;
    p->draws.are_known = ++p->draws.misses < MOST_MISSES;
    return false;
}

/* Writes a value of the records of a run, whose blank ones follow one another. */
static void pack_lane(oif_field_packer *p, const oif_records *records, const lane *l,
                      size_t blank_offset, size_t first, size_t count)
{
    const size_t record_bytes = oif_record_bytes(records);
    const span s = {NULL, count, l->width, l->type == OIF_FIELD_F64};
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at =
            (unsigned char *)records->first + (first + i) * records->stride + l->offset;
        const uint64_t value = value_at(&s, at);
        if (value == value_at(&s, p->blank + (first + i) * record_bytes + blank_offset)) {
            p->skipped++;
            continue;
        }
        if (p->skipped > 0)
            put_skipped(p);
        if (!l->is_cut || !put_cut(p, records->count, at, value))
            put_lane_value(p, l->width == 2 ? relative_of(value, i) : value, l->width);
    }
}

static void pack_lanes(oif_field_packer *p, const oif_records *records, const unsigned char *runs)
{
    size_t blank_offset = 0;
    for (size_t f = 0; f < records->field_count; f++)
        for (size_t k = 0; k < records->fields[f].count && !p->is_broken; k++) {
            const lane l = lane_of(records, f, k);
            const unsigned char *next = runs;
            for (size_t i = 0; i < records->count;) {
                const record_run run = take_run(&next);
                pack_lane(p, records, &l, blank_offset, i + (size_t)run.blank, (size_t)run.count);
                i += (size_t)(run.blank + run.count);
            }
            blank_offset += l.width;
        }
}

/* Records that are not blank are packed value by value: the first value of each record, then the
 * second one of each, .. Values of the same kind need the same tokens, so they are unpacked without
 * many wrong guesses of the processor. */
static void pack_records(oif_state_visitor *self, const oif_records *records)
{
    oif_field_packer *p = (oif_field_packer *)self;
    const size_t record_bytes = oif_record_bytes(records);
    if (count_records(p, records, 0, true) == records->count) {
        p->skipped += records->count * values_of_record(records);
    } else {
        if (p->skipped > 0)
            put_skipped(p);
        put(p, RECORDS);
        const unsigned char *runs = p->next;
        put_runs(p, records);
        if (!p->is_broken)
            pack_lanes(p, records, runs);
    }
    p->blank += records->count * record_bytes;
}

void oif_field_packer_pack(oif_field_packer *packer, const unsigned char *blank,
                           unsigned char *packed, size_t capacity)
{
    begin_packing(packer, packed, capacity);
    packer->blank = blank;
    packer->visitor = (oif_state_visitor){pack_field, pack_records};
}

size_t oif_field_packer_end(oif_field_packer *packer, const unsigned char *packed)
{
    if (packer->skipped > 0)
        put_skipped(packer);
    return packer->is_broken ? 0 : (size_t)(packer->next - packed);
}

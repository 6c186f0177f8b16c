#include "snapshot/packed_fields.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/vector.h"

#include <string.h>

/* Tokens; see packed_fields.h. */
enum {
    SKIP_ONE = 0x3A,
    SKIP_MANY = 0x3F,
    FAR_VALUE = 0x40,
    STEP = 0x50,
    STEP_ZERO = STEP + 24,
    NEAR_VALUE = 0x80
};

enum { WORD_BYTES = 8, NEAR_BITS = 7, FAR_BITS = 12, MOST_SHARED_BYTES = 7 };

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

static inline uint64_t mask_of(size_t width)
{
    static const uint64_t masks[] = {0,
                                     UINT64_MAX >> 56,
                                     UINT64_MAX >> 48,
                                     UINT64_MAX >> 40,
                                     UINT64_MAX >> 32,
                                     UINT64_MAX >> 24,
                                     UINT64_MAX >> 16,
                                     UINT64_MAX >> 8,
                                     UINT64_MAX};
    return masks[width];
}

static inline size_t hash_of(uint64_t value, unsigned bits)
{
    return (size_t)(value * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
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

static void start(oif_field_packer *p, unsigned char *bytes, size_t count)
{
    memset(p, 0, sizeof *p);
    p->next = bytes;
    p->end = bytes + count;
}

void oif_field_packer_copy(oif_field_packer *packer, unsigned char *blank, size_t bytes)
{
    start(packer, blank, bytes);
    packer->visitor = (oif_state_visitor){copy_field, NULL, 0};
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
    return (oif_field_summer){{sum_field, NULL, 0}, 0};
}

/* ---- Packing ---- */

static inline void put(oif_field_packer *p, size_t byte)
{
    p->is_broken |= p->next == p->end;
    if (!p->is_broken)
        *p->next++ = (unsigned char)byte;
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
    for (; left >= 0x80; left >>= 7)
        put(p, 0x80 | (left & 0x7F));
    put(p, (size_t)left);
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

static void put_value(oif_field_packer *p, uint64_t value, size_t width)
{
    const uint64_t step = (value - p->previous[width] + (STEP_ZERO - STEP)) & mask_of(width);
    const size_t near = hash_of(value, NEAR_BITS), far = hash_of(value, FAR_BITS);
    if (p->near[width][near] == value) {
        put(p, NEAR_VALUE | near);
    } else if (step < NEAR_VALUE - STEP) {
        put(p, STEP + (size_t)step);
    } else if (p->far[far] == value) {
        put(p, FAR_VALUE | far >> 8);
        put(p, far & 0xFF);
    } else {
        put_new_value(p, value, width);
    }
    remember(p, value, width);
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
    (void)name;
    pack_span((oif_field_packer *)self, span_of(type, values, count));
}

/* The number of values of a record; 0 if its fields are not next to each other, in their order, as
 * those of the blank object are. */
static size_t values_if_dense(const oif_records *records)
{
    size_t values = 0, end = 0;
    for (size_t f = 0; f < records->field_count; f++) {
        const oif_field *field = &records->fields[f];
        if (field->offset != end)
            return 0;
        values += field->count;
        end += field->count * oif_field_type_bytes(field->type);
    }
    return end == records->stride ? values : 0;
}

/* Most records are blank, and are skipped as a whole. With the blocks above, the model of a new
 * key is packed in 18 us instead of 142. */
static void pack_records(oif_state_visitor *self, const oif_records *records)
{
    oif_field_packer *p = (oif_field_packer *)self;
    const size_t values = values_if_dense(records), bytes = records->stride;
    oif_records one = *records;
    if (values == 0) {
        oif_visit_fields_of_records(self, records);
        return;
    }
    one.count = 1;
    for (size_t i = 0; i < records->count; i++) {
        const unsigned char *at = (const unsigned char *)records->first + i * bytes;
        const size_t same = count_same(at, p->blank, bytes, records->count - i);
        p->skipped += same * values;
        p->blank += same * bytes;
        i += same;
        one.first = (char *)records->first + i * bytes;
        if (i < records->count)
            oif_visit_fields_of_records(self, &one);
    }
}

void oif_field_packer_pack(oif_field_packer *packer, const unsigned char *blank,
                           unsigned char *packed, size_t capacity)
{
    start(packer, packed, capacity);
    packer->blank = blank;
    packer->visitor = (oif_state_visitor){pack_field, pack_records, 0};
}

size_t oif_field_packer_end(oif_field_packer *packer, const unsigned char *packed)
{
    if (packer->skipped > 0)
        put_skipped(packer);
    return packer->is_broken ? 0 : (size_t)(packer->next - packed);
}

/* ---- Unpacking ---- */

/* What changes with each value, of a field or of all records. In local variables: storing a value
 * could otherwise change it, as far as the compiler knows. The bytes of one value may be read from
 * behind the end, in the spare bytes; then it is broken. */
typedef struct source {
    const unsigned char *next, *end;
    uint64_t skipped, previous[WORD_BYTES + 1];
    bool is_broken;
} source;

static inline source open_source(const oif_field_packer *p)
{
    source from = {
        .next = p->next, .end = p->end, .skipped = p->skipped, .is_broken = p->is_broken};
    memcpy(from.previous, p->previous, sizeof from.previous);
    return from;
}

static inline void close_source(oif_field_packer *p, const source *from)
{
    p->next = (unsigned char *)from->next; /* only read */
    p->skipped = from->skipped;
    p->is_broken = from->is_broken;
    memcpy(p->previous, from->previous, sizeof from->previous);
}

static inline uint64_t take_count(source *from)
{
    uint64_t count = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        const size_t byte = *from->next++;
        count |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return count;
    }
    from->is_broken = true;
    return 0;
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
    return (from->previous[width] & ~mask_of(width - shared)) | others << 8 * zeros;
}

OIF_INLINE uint64_t take_value(source *from, const oif_field_packer *p, size_t token, size_t width)
{
    if (token >= NEAR_VALUE)
        return p->near[width][token - NEAR_VALUE];
    if (token >= STEP)
        return from->previous[width] + token - STEP_ZERO;
    if (token >= FAR_VALUE)
        return p->far[(token - FAR_VALUE) << 8 | *from->next++];
    return take_new_value(from, token, width);
}

/* Skips blank values. Returns how many of the next `left` ones are. */
static inline size_t skip(source *from, size_t left)
{
    const size_t now = from->skipped < left ? (size_t)from->skipped : left;
    from->skipped -= now;
    return now;
}

OIF_INLINE void unpack_values(oif_field_packer *p, source *from, unsigned char *at, size_t count,
                              size_t width)
{
    for (size_t i = skip(from, count); i < count && !from->is_broken;) {
        const size_t token = *from->next++;
        if (token - SKIP_ONE <= SKIP_MANY - SKIP_ONE) {
            from->skipped = token < SKIP_MANY ? token - SKIP_ONE + 1 : take_count(from);
            i += skip(from, count - i);
        } else {
            const uint64_t value = take_value(from, p, token, width) & mask_of(width);
            p->near[width][hash_of(value, NEAR_BITS)] = value;
            p->far[hash_of(value, FAR_BITS)] = value;
            from->previous[width] = value;
            set_value(at + i++ * width, value, width);
        }
        from->is_broken |= from->next > from->end;
    }
}

/* A copy of the loop for each width takes half of the instructions. */
OIF_INLINE void unpack_span(oif_field_packer *p, source *from, unsigned char *at, size_t count,
                            size_t width)
{
    switch (width) {
    case 1: unpack_values(p, from, at, count, 1); break;
    case 2: unpack_values(p, from, at, count, 2); break;
    case 4: unpack_values(p, from, at, count, 4); break;
    default: unpack_values(p, from, at, count, 8);
    }
}

static void unpack_field(oif_state_visitor *self, const char *name, oif_field_type type,
                         void *values, size_t count)
{
    oif_field_packer *p = (oif_field_packer *)self;
    source from = open_source(p);
    (void)name;
    unpack_span(p, &from, values, count, oif_field_type_bytes(type));
    close_source(p, &from);
}

/* Most records are blank, and are skipped as a whole. */
static void unpack_records(oif_state_visitor *self, const oif_records *records)
{
    oif_field_packer *p = (oif_field_packer *)self;
    source from = open_source(p);
    size_t values = 0;
    for (size_t f = 0; f < records->field_count; f++)
        values += records->fields[f].count;
    for (size_t i = 0; i < records->count && !from.is_broken; i++) {
        if (from.skipped >= values) {
            const uint64_t blank = from.skipped / values, left = records->count - i;
            const uint64_t now = blank < left ? blank : left;
            from.skipped -= now * values;
            i += (size_t)now - 1;
            continue;
        }
        unsigned char *record = (unsigned char *)records->first + i * records->stride;
        for (const oif_field *field = records->fields, *end = field + records->field_count;
             field < end; field++)
            unpack_span(p, &from, record + field->offset, field->count,
                        oif_field_type_bytes(field->type));
    }
    close_source(p, &from);
}

void oif_field_packer_unpack(oif_field_packer *packer, const unsigned char *packed, size_t count,
                             uint32_t format)
{
    start(packer, (unsigned char *)packed, count); /* only read */
    packer->visitor = (oif_state_visitor){unpack_field, unpack_records, format};
}

bool oif_field_packer_is_whole(const oif_field_packer *packer)
{
    return !packer->is_broken && packer->skipped == 0 && packer->next == packer->end;
}

/* Models of keys are packed in snapshots (snapshot/packed_fields.h). The slow twin is the snapshot
 * of a single key, which has all fields as they are. */
#include "snapshot/packed_fields.h"

#include "../snapshot/snapshots.h"
#include "detect/isolation.h"
#include "pipeline/pipeline.h"
#include "pipeline/pipeline_sections.h"
#include "pipelines.h"

#include <math.h>

/* ---- Fields ---- */

enum { VALUES = 300 };

typedef struct object {
    uint8_t bytes[VALUES];
    uint16_t twos[VALUES];
    uint32_t fours[VALUES];
    uint64_t eights[VALUES];
    double numbers[VALUES];
    struct {
        double number;
        uint16_t pair[2];
    } records[VALUES];
    struct {
        double number;
        uint16_t four[4];
    } dense[VALUES]; /* without padding */
    uint64_t random;
    struct {
        double low, high, cut;
        uint32_t column;
        uint16_t children[2];
    } nodes[VALUES];
} object;

static void visit(object *o, oif_state_visitor *visitor)
{
    static const oif_field fields[] = {{"number", OIF_FIELD_F64, 0, 1},
                                       {"pair", OIF_FIELD_U16, 8, 2}};
    static const oif_field dense_fields[] = {{"number", OIF_FIELD_F64, 0, 1},
                                             {"four", OIF_FIELD_U16, 8, 4}};
    static const oif_field node_fields[] = {{"low", OIF_FIELD_F64, 0, 1},
                                            {"high", OIF_FIELD_F64, 8, 1},
                                            {"cut", OIF_FIELD_F64, 16, 1},
                                            {"column", OIF_FIELD_U32, 24, 1},
                                            {"children", OIF_FIELD_U16, 28, 2}};
    const oif_records nodes = {node_fields, 5, o->nodes, sizeof o->nodes[0], VALUES};
    const oif_records none = {node_fields, 5, o->nodes, sizeof o->nodes[0], 0};
    const oif_records records = {fields, 2, o->records, sizeof o->records[0], VALUES};
    const oif_records dense = {dense_fields, 2, o->dense, sizeof o->dense[0], VALUES};
    oif_visit_u8(visitor, "bytes", o->bytes, VALUES);
    oif_visit_u16(visitor, "twos", o->twos, VALUES);
    oif_visit_f64(visitor, "numbers", o->numbers, VALUES);
    oif_visit_records(visitor, &records);
    oif_visit_records(visitor, &dense);
    oif_visit_u32(visitor, "fours", o->fours, VALUES);
    oif_visit_u64(visitor, "eights", o->eights, VALUES);
    oif_visit_records(visitor, &none);
    oif_visit_u64(visitor, "random", &o->random, 1);
    oif_visit_records(visitor, &nodes);
}

/* Grows nodes whose cuts are drawn, with other draws between them, and some without. */
static void grow_nodes(object *o, dice *from, uint32_t trees, uint32_t count)
{
    oif_random random = {o->random};
    for (uint32_t i = 0; i < trees * count; i++) {
        const uint32_t place = i % count,
                       tree = (i / count + 1) % trees; /* the oldest is not first */
        const size_t at = (size_t)tree * (VALUES / trees) + place;
        for (uint64_t other = dice_bits(from) % 40; other > 0; other--)
            oif_random_bits(&random);
        o->nodes[at].low = dice_normal(from);
        o->nodes[at].high = o->nodes[at].low + 1;
        o->nodes[at].cut = i % 101 == 100
                               ? o->nodes[at].low + 0.1
                               : oif_draw_cut(&random, o->nodes[at].low, o->nodes[at].high);
        o->nodes[at].column = (uint32_t)(dice_bits(from) % 4);
        o->nodes[at].children[0] = (uint16_t)(dice_bits(from) % 2 ? place + 1 : 0x8003);
        o->nodes[at].children[1] = (uint16_t)(0x4000 + place + dice_bits(from) % 9);
    }
    o->random = random.state;
}

static uint64_t draw_value(dice *from)
{
    static const double numbers[] = {0, -0.0, 1, INFINITY, -INFINITY, 5e-324, 12.5, 1e300};
    uint64_t bits = dice_bits(from);
    const double number = numbers[bits % 8], normal = dice_normal(from);
    switch (dice_bits(from) % 6) {
    case 0: memcpy(&bits, &number, sizeof bits); return bits;
    case 1: memcpy(&bits, &normal, sizeof bits); return bits;
    case 2: return UINT64_C(0x7FF8000000000000);
    case 3: return bits % 50;
    case 4: return bits >> bits % 64;
    default: return bits;
    }
}

/* Changes about one value of `apart`. */
static void change(object *o, dice *from, uint64_t apart)
{
    for (size_t i = 0; i < VALUES; i++) {
        const uint64_t which = dice_bits(from) % (9 * apart), value = draw_value(from);
        switch (which) {
        case 0: o->bytes[i] = (uint8_t)value; break;
        case 1: o->twos[i] = (uint16_t)value; break;
        case 2: o->fours[i] = (uint32_t)value; break;
        case 3: o->eights[i] = value; break;
        case 4: memcpy(&o->numbers[i], &value, sizeof value); break;
        case 5: memcpy(&o->records[i].number, &value, sizeof value); break;
        case 6: o->records[i].pair[value & 1] = (uint16_t)(value >> 1); break;
        case 7: memcpy(&o->dense[i].number, &value, sizeof value); break;
        case 8: o->dense[i].four[value & 3] = (uint16_t)(value >> 2); break;
        default: break;
        }
    }
}

/* The slow twin: visits every value of a field by itself. */
typedef struct one_by_one {
    oif_state_visitor visitor;
    oif_state_visitor *other;
} one_by_one;

static void visit_one_by_one(oif_state_visitor *self, const char *name, oif_field_type type,
                             void *values, size_t count)
{
    oif_state_visitor *other = ((one_by_one *)self)->other;
    for (size_t i = 0; i < count; i++)
        other->visit(other, name, type, (char *)values + i * oif_field_type_bytes(type), 1);
}

static void visit_records_as_they_are(oif_state_visitor *self, const oif_records *records)
{
    oif_state_visitor *other = ((one_by_one *)self)->other;
    other->visit_records(other, records);
}

static void require_packed_as_one_by_one(oif_field_packer *packer, const unsigned char *blank,
                                         object *o, const unsigned char *packed, size_t bytes,
                                         const char *what)
{
    static unsigned char slowly[2 * sizeof(object)];
    oif_field_packer_pack(packer, blank, slowly, sizeof slowly);
    one_by_one twin = {{visit_one_by_one, visit_records_as_they_are}, &packer->visitor};
    visit(o, &twin.visitor);
    const size_t count = oif_field_packer_end(packer, slowly);
    if (count != bytes || memcmp(slowly, packed, bytes) != 0)
        fail_msg("%s: %zu bytes, value by value %zu others", what, bytes, count);
}

/* The slow twin of unpacking: value by value, as docs/snapshot-format.md says. */
typedef struct plain_unpacker {
    oif_state_visitor visitor;
    const unsigned char *next, *end;
    uint64_t skipped, drawn, previous[9], near[9][128], far[4096];
    bool is_broken;
} plain_unpacker;

static uint64_t plain_byte(plain_unpacker *p)
{
    p->is_broken |= p->next == p->end;
    return p->is_broken ? 0 : *p->next++;
}

static uint64_t plain_count(plain_unpacker *p)
{
    uint64_t count = 0, byte = 0x80;
    for (unsigned shift = 0; shift < 56 && byte >= 0x80; shift += 7) {
        byte = plain_byte(p);
        count |= (byte & 0x7F) << shift;
    }
    p->is_broken |= byte >= 0x80;
    return count;
}

static uint64_t plain_new_value(plain_unpacker *p, size_t token, size_t width)
{
    const size_t shared = token / 8, zeros = token % 8;
    uint64_t value = 0;
    p->is_broken |= shared + zeros > width;
    for (size_t i = zeros; i < width && !p->is_broken; i++)
        value |= (i < width - shared ? plain_byte(p) : p->previous[width] >> 8 * i & 0xFF) << 8 * i;
    return value;
}

/* in_records: values that come from a table are not entered again. */
static uint64_t plain_value(plain_unpacker *p, size_t token, size_t width, bool in_records)
{
    uint64_t value;
    if (token >= 0x80)
        value = p->near[width][token - 0x80];
    else if (token >= 0x50)
        value = p->previous[width] + token - 0x50 - 24;
    else if (token >= 0x40)
        value = p->far[(token - 0x40) * 256 + plain_byte(p)];
    else
        value = plain_new_value(p, token, width);
    for (size_t i = width; i < 8; i++)
        value &= ~(UINT64_C(0xFF) << 8 * i);
    p->previous[width] = value;
    if (in_records && (token >= 0x80 || (token >= 0x40 && token < 0x50)))
        return value;
    p->near[width][value * UINT64_C(0x9E3779B97F4A7C15) >> 57] = value;
    p->far[value * UINT64_C(0x9E3779B97F4A7C15) >> 52] = value;
    return value;
}

static void store_plain(void *to, uint64_t value, size_t width)
{
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    const unsigned char one = (unsigned char)value;
    memcpy(to,
           width == 1   ? (const void *)&one
           : width == 2 ? &two
           : width == 4 ? &four
                        : (const void *)&value,
           width);
}

static bool take_plain_skip(plain_unpacker *p, size_t token)
{
    if (token >= 0x3A && token <= 0x3E)
        p->skipped = token - 0x39;
    else if (token == 0x3F)
        p->skipped = plain_count(p);
    return token >= 0x3A && token <= 0x3F;
}

/* Whether a value is not skipped; then takes its token. */
static bool plain_token(plain_unpacker *p, size_t *token)
{
    while (p->skipped == 0) {
        *token = plain_byte(p);
        if (p->is_broken)
            return false;
        if (!take_plain_skip(p, *token))
            return true;
    }
    p->skipped--;
    return false;
}

static void unpack_plainly(oif_state_visitor *self, const char *name, oif_field_type type,
                           void *values, size_t count)
{
    plain_unpacker *p = (plain_unpacker *)self;
    const size_t width = oif_field_type_bytes(type);
    size_t token;
    (void)name;
    for (size_t i = 0; i < count && !p->is_broken; i++)
        if (plain_token(p, &token))
            store_plain((char *)values + i * width, plain_value(p, token, width, false), width);
}

/* Takes the runs. numbers[i]: of record i in its run; SIZE_MAX if it is blank. */
static void take_plain_runs(plain_unpacker *p, size_t count, size_t numbers[VALUES])
{
    for (size_t i = 0; i < count && !p->is_broken;) {
        uint64_t blank = plain_count(p), there = plain_count(p), left = count - i;
        p->is_broken |= blank > left || there > left - blank || (there == 0 && blank < left);
        for (uint64_t k = 0; k < blank && !p->is_broken; k++)
            numbers[i++] = SIZE_MAX;
        for (uint64_t k = 0; k < there && !p->is_broken; k++)
            numbers[i++] = (size_t)k;
    }
}

static uint64_t plain_cut(plain_unpacker *p, size_t token, const char *at)
{
    double low, high;
    if (token == 0x1E) {
        p->drawn += plain_byte(p) * UINT64_C(0x9E3779B97F4A7C15);
    } else {
        p->drawn = 0;
        for (unsigned shift = 0; shift < 64; shift += 8)
            p->drawn |= plain_byte(p) << shift;
    }
    memcpy(&low, at - 16, sizeof low);
    memcpy(&high, at - 8, sizeof high);
    oif_random random = {p->drawn - UINT64_C(0x9E3779B97F4A7C15)};
    return oif_bits_of_double(oif_draw_cut(&random, low, high));
}

static void unpack_plain_lane(plain_unpacker *p, const oif_records *records, size_t f, size_t k,
                              const size_t numbers[VALUES])
{
    const oif_field *field = &records->fields[f];
    const size_t width = oif_field_type_bytes(field->type);
    const bool is_cut = strcmp(field->name, "cut") == 0;
    size_t token;
    for (size_t i = 0; i < records->count && !p->is_broken; i++) {
        char *at = (char *)records->first + i * records->stride + field->offset + k * width;
        uint64_t value;
        if (numbers[i] == SIZE_MAX || !plain_token(p, &token))
            continue;
        if (is_cut && (token == 0x1E || token == 0x1F))
            value = plain_cut(p, token, at);
        else
            value = plain_value(p, token, width, true);
        if (width == 2 && value < 0x8000)
            value = (value + numbers[i]) % 0x8000;
        store_plain(at, value, width);
    }
}

static void unpack_records_plainly(oif_state_visitor *self, const oif_records *records)
{
    plain_unpacker *p = (plain_unpacker *)self;
    size_t values = 0, numbers[VALUES], token = 0x17;
    for (size_t f = 0; f < records->field_count; f++)
        values += records->fields[f].count * records->count;
    if (values == 0 || p->is_broken)
        return;
    if (p->skipped == 0) {
        token = plain_byte(p);
        p->is_broken |= !take_plain_skip(p, token) && token != 0x17;
    }
    if (p->skipped > 0 || token != 0x17) {
        p->is_broken |= p->skipped < values;
        p->skipped -= p->is_broken ? 0 : values;
        return;
    }
    if (!p->is_broken)
        take_plain_runs(p, records->count, numbers);
    for (size_t f = 0; f < records->field_count; f++)
        for (size_t k = 0; k < records->fields[f].count && !p->is_broken; k++)
            unpack_plain_lane(p, records, f, k, numbers);
}

/* Unpacks into `o` and, value by value, into a copy. Returns whether the bytes are whole. */
static bool unpack_both(object *o, const unsigned char *packed, size_t bytes, const char *what)
{
    static oif_field_packer packer;
    static plain_unpacker twin;
    static object copy;
    memcpy(&copy, o, sizeof copy);
    twin = (plain_unpacker){
        {unpack_plainly, unpack_records_plainly}, .next = packed, .end = packed + bytes};
    visit(&copy, &twin.visitor);
    oif_field_packer_unpack(&packer, packed, bytes);
    visit(o, &packer.visitor);
    if (packer.next > packed + bytes + OIF_PACKED_SPARE_BYTES)
        fail_msg("%s: of %zu bytes %td were read", what, bytes, packer.next - packed);
    const bool is_whole = oif_field_packer_is_whole(&packer),
               should_be = !twin.is_broken && twin.skipped == 0 && twin.next == twin.end;
    if (is_whole != should_be)
        fail_msg("%s: %zu bytes are whole: %d, value by value: %d", what, bytes, is_whole,
                 should_be);
    if (is_whole && memcmp(&copy, o, sizeof copy) != 0)
        fail_msg("%s: %zu bytes are unpacked as something else value by value", what, bytes);
    return is_whole;
}

/* Every byte replaced by another one, a few times. */
static void require_same_if_damaged(const object *blank, unsigned char *packed, size_t bytes,
                                    const char *what)
{
    static object copy;
    dice from = (dice){bytes};
    for (size_t i = 0; i < bytes; i += 1 + bytes / 50) {
        const unsigned char right = packed[i];
        packed[i] = (unsigned char)dice_bits(&from);
        memcpy(&copy, blank, sizeof copy);
        unpack_both(&copy, packed, bytes, what);
        packed[i] = right;
    }
}

static void require_packs(object *blank, object *o, const char *what)
{
    static unsigned char blank_fields[sizeof(object)];
    static unsigned char packed[2 * sizeof(object) + OIF_PACKED_SPARE_BYTES];
    static oif_field_packer packer;
    static object copy;
    oif_field_packer_copy(&packer, blank_fields, sizeof blank_fields);
    visit(blank, &packer.visitor);
    oif_field_packer_pack(&packer, blank_fields, packed, 2 * sizeof(object));
    visit(o, &packer.visitor);
    const size_t bytes = oif_field_packer_end(&packer, packed);
    if (bytes == 0)
        fail_msg("%s: packed to nothing", what);
    require_packed_as_one_by_one(&packer, blank_fields, o, packed, bytes, what);
    memcpy(&copy, blank, sizeof copy);
    if (!unpack_both(&copy, packed, bytes, what) || memcmp(&copy, o, sizeof copy) != 0)
        fail_msg("%s: unpacked as something else", what);
    for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 50) {
        memcpy(&copy, blank, sizeof copy);
        if (unpack_both(&copy, packed, cut, what))
            fail_msg("%s: %zu of %zu bytes are enough", what, cut, bytes);
    }
    require_same_if_damaged(blank, packed, bytes, what);
}

static void what_was_packed_is_unpacked_as_it_was(void **unused)
{
    (void)unused;
    static object blank, o;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        dice from = (dice){seed};
        char what[40];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        memset(&blank, 0, sizeof blank);
        change(&blank, &from, 2);
        memcpy(&o, &blank, sizeof o);
        change(&o, &from, 1 + seed % 9);
        if (seed % 2)
            grow_nodes(&o, &from, 5, 1 + (uint32_t)(seed % 60));
        if (memcmp(&o, &blank, sizeof o) != 0)
            require_packs(&blank, &o, what);
    }
}

/* Cuts that were drawn take two bytes. */
static void drawn_cuts_take_few_bytes(void **unused)
{
    (void)unused;
    static object blank, o;
    static unsigned char blank_fields[sizeof(object)], packed[2 * sizeof(object)];
    static oif_field_packer packer;
    size_t bytes[2];
    for (size_t i = 0; i < 2; i++) {
        dice from = (dice){3};
        memset(&o, 0, sizeof o);
        o.random = 5;
        grow_nodes(&o, &from, 5, 60);
        for (size_t k = 0; k < VALUES && i > 0; k++)
            o.nodes[k].cut = o.nodes[k].low; /* known, so as short */
        oif_field_packer_copy(&packer, blank_fields, sizeof blank_fields);
        visit(&blank, &packer.visitor);
        oif_field_packer_pack(&packer, blank_fields, packed, sizeof packed);
        visit(&o, &packer.visitor);
        bytes[i] = oif_field_packer_end(&packer, packed);
    }
    assert_in_range(bytes[0], bytes[1] - 400, bytes[1] + 400);
}

/* Any bytes are refused or unpacked, never more: sanitizers watch. */
static void any_bytes_do_no_harm(void **unused)
{
    (void)unused;
    static object o;
    static unsigned char junk[4096 + OIF_PACKED_SPARE_BYTES];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        dice from = (dice){seed};
        for (size_t i = 0; i < 4096; i++)
            junk[i] = (unsigned char)dice_bits(&from);
        memset(&o, 0, sizeof o);
        unpack_both(&o, junk, 1 + dice_bits(&from) % 4096, "junk");
    }
}

/* ---- Pipelines ---- */

static oif_pipeline *grow(const char *name, const char *settings, const char *options, size_t keys,
                          size_t rows)
{
    oif_pipeline *pipeline = new_pipeline(name, settings, 3, options);
    dice from = (dice){7};
    double row[3];
    for (size_t i = 0; i < keys * rows; i++) {
        draw_row(&from, row, 3);
        if (i % 17 == 3)
            row[i % 3] = NAN;
        process_key(pipeline, key_text((uint32_t)(i % keys)), row);
    }
    return pipeline;
}

static oif_pipeline *load(snapshot s)
{
    oif_pipeline *loaded = NULL;
    oif_error error;
    require_ok_or(oif_pipeline_load_memory(s.bytes, s.count, &loaded, &error), error);
    return loaded;
}

static void require_same_keys(const oif_pipeline *a, const oif_pipeline *b, size_t keys)
{
    for (uint32_t key = 0; key < keys; key++) {
        const char *text = key_text(key);
        size_t count = 0, other = 0;
        oif_error error;
        require_ok_or(oif_pipeline_key_snapshot_bytes(a, text, strlen(text), &count, &error),
                      error);
        require_ok_or(oif_pipeline_key_snapshot_bytes(b, text, strlen(text), &other, &error),
                      error);
        assert_int_equal(count, other);
        char *bytes = malloc(2 * count);
        require_ok(oif_pipeline_save_key_memory(a, text, strlen(text), bytes, count, NULL));
        require_ok(oif_pipeline_save_key_memory(b, text, strlen(text), bytes + count, count, NULL));
        assert_memory_equal(bytes, bytes + count, count);
        free(bytes);
    }
}

static void a_packed_model_is_loaded_as_it_was(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SMALL_DETECTORS; i++)
        for (size_t rows = 1; rows <= 256; rows *= 4) {
            oif_pipeline *pipeline = grow(small_detectors[i].name, small_detectors[i].settings,
                                          i % 2 ? "alerts=2" : "learn=decay", 3, rows);
            snapshot s = save_all(pipeline);
            oif_pipeline *loaded = load(s);
            require_same_keys(pipeline, loaded, 3);
            snapshot again = save_all(loaded);
            require_same_bytes(s, again);
            free(again.bytes);
            free(s.bytes);
            oif_pipeline_free(loaded);
            oif_pipeline_free(pipeline);
        }
}

/* Options that were changed after the models were made are those of the reader's blank model. */
static void options_may_have_changed(void **unused)
{
    (void)unused;
    oif_error error;
    oif_pipeline *pipeline = grow("rolling-iforest", "", "", 3, 50);
    require_ok_or(oif_pipeline_change_option(pipeline, "alert_rate", 0.02, &error), error);
    require_ok_or(oif_pipeline_change_option(pipeline, "silence", 7, &error), error);
    snapshot s = save_all(pipeline);
    oif_pipeline *loaded = load(s);
    require_same_keys(pipeline, loaded, 3);
    free(s.bytes);
    oif_pipeline_free(loaded);
    oif_pipeline_free(pipeline);
}

/* Bytes that a key adds to a snapshot. */
static size_t bytes_of_key(const char *settings, size_t rows)
{
    size_t bytes[2];
    for (size_t i = 0; i < 2; i++) {
        oif_pipeline *pipeline = grow("rolling-iforest", settings, "", 4 + 4 * i, rows);
        bytes[i] = oif_pipeline_snapshot_bytes(pipeline);
        oif_pipeline_free(pipeline);
    }
    return (bytes[1] - bytes[0]) / 4;
}

static void a_key_takes_few_bytes(void **unused)
{
    (void)unused;
    const size_t after_3 = bytes_of_key("", 3), after_100 = bytes_of_key("", 100);
    if (after_3 > 900 || after_100 > 12000)
        fail_msg("a key takes %zu bytes after 3 rows and %zu after 100", after_3, after_100);
}

/* The oldest of many trees has other cuts before it than the newest, by tens of thousands of draws:
 * its cuts take few bytes, too. */
static void cuts_of_many_trees_take_few_bytes(void **unused)
{
    (void)unused;
    enum { FEW = 30, MANY = 150, ROWS = 1500 };
    const size_t few = bytes_of_key("num_trees=30", ROWS),
                 many = bytes_of_key("num_trees=150", ROWS),
                 more_per_tree = (many - few) / (MANY - FEW);
    print_message("%zu bytes for each tree more\n", more_per_tree);
    assert_in_range(more_per_tree, 1, 340);
}

/* ---- Damage ---- */

static size_t find_section(snapshot s, const char *tag)
{
    for (size_t at = HEADER_BYTES; at + OIF_SECTION_BYTES <= s.count;
         at += OIF_SECTION_BYTES + (size_t)oif_bytes_load(s.bytes + at + LENGTH_AT, 8))
        if (memcmp(s.bytes + at, tag, 4) == 0)
            return at;
    fail_msg("no section %s", tag);
    return 0;
}

static oif_status load_status(snapshot s)
{
    oif_pipeline *loaded = NULL;
    const oif_status status = oif_pipeline_load_memory(s.bytes, s.count, &loaded, NULL);
    if (status == OIF_OK)
        oif_pipeline_free(loaded);
    return status;
}

static void another_blank_model_is_refused(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = grow("rolling-iforest", "num_trees=3 window_size=60", "", 2, 20);
    snapshot s = save_all(pipeline);
    const size_t blank = find_section(s, "BLNK");
    static const uint64_t claims[] = {0, 1, (4 << 20) + 1, UINT64_MAX};
    const uint64_t bytes = oif_bytes_load(s.bytes + blank + PAYLOAD_AT, 8);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        oif_bytes_store(s.bytes + blank + PAYLOAD_AT, claims[i], 8);
        repair(s, blank);
        assert_int_equal(load_status(s), OIF_ECORRUPT);
    }
    oif_bytes_store(s.bytes + blank + PAYLOAD_AT, bytes, 8);
    s.bytes[blank + PAYLOAD_AT + 8] ^= 1;
    repair(s, blank);
    assert_int_equal(load_status(s), OIF_EVERSION);
    free(s.bytes);
    oif_pipeline_free(pipeline);
}

static void a_damaged_packed_byte_is_found_or_does_no_harm(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        grow("rolling-iforest", "num_trees=3 window_size=40 sample_size=12", "", 2, 40);
    snapshot s = save_all(pipeline);
    const size_t at = find_section(s, "PACK"),
                 length = (size_t)oif_bytes_load(s.bytes + at + LENGTH_AT, 8);
    size_t refused = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char before = s.bytes[at + PAYLOAD_AT + i];
        s.bytes[at + PAYLOAD_AT + i] = (unsigned char)(before + 1 + i % 255);
        repair(s, at);
        const oif_status status = load_status(s);
        assert_true(status == OIF_OK || status == OIF_ECORRUPT);
        refused += status != OIF_OK;
        s.bytes[at + PAYLOAD_AT + i] = before;
    }
    assert_true(refused > length / 10);
    free(s.bytes);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_is_unpacked_as_it_was),
        cmocka_unit_test(drawn_cuts_take_few_bytes),
        cmocka_unit_test(any_bytes_do_no_harm),
        cmocka_unit_test(a_packed_model_is_loaded_as_it_was),
        cmocka_unit_test(options_may_have_changed),
        cmocka_unit_test(a_key_takes_few_bytes),
        cmocka_unit_test(cuts_of_many_trees_take_few_bytes),
        cmocka_unit_test(another_blank_model_is_refused),
        cmocka_unit_test(a_damaged_packed_byte_is_found_or_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

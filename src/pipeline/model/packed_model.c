#include "pipeline/model/packed_model.h"

#include "base/error.h"
#include "base/four.h"
#include "base/memory.h"
#include "detect/detector.h"

#include <string.h>

enum { LINE_BYTES = OIF_CACHE_LINE_BYTES, WORD_LINES = 64 };

/* ---- Blocks ---- */

/* The memory blocks of a model: its own, and one per detector. Each is whole lines. Their lines are
 * numbered through, and each block starts a new word of line bits. */
typedef struct blocks {
    unsigned char *at[1 + OIF_TOGETHER_MAX];
    size_t lines[1 + OIF_TOGETHER_MAX];
    size_t end[1 + OIF_TOGETHER_MAX]; /* the number of the first line of the next block */
    size_t count;
} blocks;

static size_t words_of(size_t lines)
{
    return (lines + WORD_LINES - 1) / WORD_LINES;
}

static void add_block(blocks *b, void *at, size_t bytes)
{
    const size_t first = b->count > 0 ? b->end[b->count - 1] : 0;
    b->at[b->count] = at;
    b->lines[b->count] = bytes / LINE_BYTES;
    b->end[b->count] = first + words_of(bytes / LINE_BYTES) * WORD_LINES;
    b->count++;
}

static blocks blocks_of(const oif_model *model)
{
    blocks b = {.count = 0};
    add_block(&b, (void *)model, model->bytes);
    for (size_t i = 0; i < model->detector_count; i++)
        add_block(&b, model->detectors[i], oif_detector_block_bytes(model->detectors[i]));
    return b;
}

static size_t count_words(const oif_model *model)
{
    const blocks b = blocks_of(model);
    return b.end[b.count - 1] / WORD_LINES;
}

static inline unsigned char *line_at(const blocks *b, uint32_t number)
{
    size_t i = 0, first = 0;
    while (number >= b->end[i])
        first = b->end[i++];
    return b->at[i] + (number - first) * LINE_BYTES;
}

/* ---- Creation ---- */

oif_status oif_unpacked_model_new(const oif_model *blank, oif_unpacked_model *unpacked,
                                  oif_error *error)
{
    const size_t words = count_words(blank);
    uint64_t *bits = oif_memory_new(oif_size_multiply(2 * words, sizeof *bits));
    uint32_t *numbers = oif_memory_new(oif_size_multiply(words * WORD_LINES, sizeof *numbers));
    oif_model *model = NULL;
    oif_status status = bits && numbers
                            ? oif_model_clone(blank, &model, error)
                            : oif_fail(error, OIF_EMEMORY, "no memory to unpack a model");
    if (status != OIF_OK) {
        oif_memory_free(bits);
        oif_memory_free(numbers);
        return status;
    }
    memset(bits, 0, words * sizeof *bits);
    *unpacked = (oif_unpacked_model){model, bits, bits + words, numbers, 0};
    return OIF_OK;
}

void oif_unpacked_model_free(oif_unpacked_model *unpacked)
{
    oif_model_free(unpacked->model);
    oif_memory_free(unpacked->lines);
    oif_memory_free(unpacked->numbers);
    *unpacked = (oif_unpacked_model){0};
}

size_t oif_unpacked_model_bytes(const oif_unpacked_model *unpacked)
{
    if (!unpacked->model)
        return 0;
    const size_t words = count_words(unpacked->model);
    return oif_model_memory_bytes(unpacked->model) + 2 * words * sizeof *unpacked->lines +
           words * WORD_LINES * sizeof *unpacked->numbers;
}

/* ---- The packed block ---- */

static unsigned char *lines_of(const oif_packed_model *packed)
{
    return (unsigned char *)packed + LINE_BYTES;
}

static uint32_t *numbers_of(const oif_packed_model *packed)
{
    return (uint32_t *)(void *)(lines_of(packed) + (size_t)packed->capacity * LINE_BYTES);
}

size_t oif_packed_model_bytes(size_t lines)
{
    return oif_size_align(LINE_BYTES + lines * (LINE_BYTES + sizeof(uint32_t)));
}

oif_packed_model *oif_packed_model_new(size_t capacity)
{
    const size_t bytes = oif_packed_model_bytes(capacity);
    oif_packed_model *packed = oif_memory_new(bytes);
    if (packed)
        *packed = (oif_packed_model){bytes, 0, (uint32_t)capacity};
    return packed;
}

oif_packed_model *oif_packed_model_clone(const oif_packed_model *packed)
{
    oif_packed_model *copy = oif_packed_model_new(packed->capacity);
    if (!copy)
        return NULL;
    copy->count = packed->count;
    memcpy(lines_of(copy), lines_of(packed), (size_t)packed->count * LINE_BYTES);
    memcpy(numbers_of(copy), numbers_of(packed), packed->count * sizeof(uint32_t));
    return copy;
}

/* Lines that follow one another in the packed block and in the model, all in one word of bits. */
typedef struct run {
    uint32_t count;
    uint32_t number; /* of the first one, in the model */
} run;

static inline run run_at(const uint32_t *numbers, uint32_t first, uint32_t end)
{
    const uint32_t number = numbers[first], in_word = WORD_LINES - number % WORD_LINES;
    const uint32_t most = end - first < in_word ? end - first : in_word;
    uint32_t count = 1;
    while (count < most && numbers[first + count] == number + count)
        count++;
    return (run){count, number};
}

static inline uint64_t bits_of(const run *r)
{
    return UINT64_MAX >> (WORD_LINES - r->count) << r->number % WORD_LINES;
}

/* ---- Packing ---- */

/* The bits in which four numbers of two lines differ. */
OIF_INLINE void compare_four(const unsigned char *a, const unsigned char *b, oif_four_masks *bits)
{
    oif_four_masks other;
    memcpy(bits, a, sizeof *bits);
    memcpy(&other, b, sizeof other);
    *bits ^= other;
}

OIF_INLINE bool differ(const unsigned char *a, const unsigned char *b)
{
    oif_four_masks first, second;
    compare_four(a, b, &first);
    compare_four(a + sizeof first, b + sizeof first, &second);
    first |= second;
    return ((first[0] | first[1]) | (first[2] | first[3])) != 0;
}

/* Returns the first line set in the word, and clears its bit. */
OIF_INLINE uint32_t take_line(uint64_t *word)
{
    uint32_t line = (uint32_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    return line;
}

/* Sets the bits of all lines that the last rows may have changed. */
static void find_changed(const oif_model *model, const blocks *b, uint64_t rows, uint64_t *words)
{
    for (size_t i = 0; i < b->count; i++) {
        const oif_unchanged unchanged = {b->at[i], words, rows};
        const size_t count = words_of(b->lines[i]), in_last = b->lines[i] % WORD_LINES;
        memset(words, 0xff, count * sizeof *words);
        if (in_last > 0)
            words[count - 1] = (UINT64_C(1) << in_last) - 1;
        if (i == 0 && rows != OIF_UNKNOWN_ROWS)
            oif_model_unchanged(model, &unchanged);
        else if (rows != OIF_UNKNOWN_ROWS)
            oif_detector_unchanged(model->detectors[i - 1], &unchanged);
        words += count;
    }
}

/* Finds lines of `model` that may have changed, are not known and differ from the blank ones. */
OIF_INLINE void find_lines_of(oif_unpacked_model *unpacked, const oif_model *model,
                              const oif_model *blank, const uint64_t *known)
{
    const blocks b = blocks_of(model), blanks = blocks_of(blank);
    size_t word = 0;
    unpacked->line_count = 0;
    for (size_t i = 0; i < b.count; i++)
        for (size_t from = 0; from < b.lines[i]; from += WORD_LINES, word++)
            for (uint64_t left = unpacked->changed[word] & ~(known ? known[word] : 0); left;) {
                const size_t line = from + take_line(&left), offset = line * LINE_BYTES;
                if (differ(b.at[i] + offset, blanks.at[i] + offset))
                    unpacked->numbers[unpacked->line_count++] =
                        (uint32_t)(line - from + word * WORD_LINES);
            }
}

OIF_AVX2 static void find_lines_avx2(oif_unpacked_model *unpacked, const oif_model *model,
                                     const oif_model *blank, const uint64_t *known)
{
    find_lines_of(unpacked, model, blank, known);
}

static void find_lines_portable(oif_unpacked_model *unpacked, const oif_model *model,
                                const oif_model *blank, const uint64_t *known)
{
    find_lines_of(unpacked, model, blank, known);
}

static void find_lines(oif_unpacked_model *unpacked, const oif_model *model, const oif_model *blank,
                       const uint64_t *known)
{
    (oif_machine_has_avx2() ? find_lines_avx2 : find_lines_portable)(unpacked, model, blank, known);
}

void oif_unpacked_model_find(oif_unpacked_model *unpacked, const oif_model *blank, uint64_t rows)
{
    const blocks b = blocks_of(unpacked->model);
    find_changed(unpacked->model, &b, rows, unpacked->changed);
    find_lines(unpacked, unpacked->model, blank, unpacked->lines);
    if (rows >= OIF_UNKNOWN_ROWS) /* what is blank now may not have been */
        memset(unpacked->changed, 0xff, b.end[b.count - 1] / 8);
}

/* Adds lines with these numbers. */
static void append(oif_packed_model *packed, const oif_model *model, const uint32_t *numbers,
                   uint32_t count)
{
    const blocks b = blocks_of(model);
    unsigned char *to = lines_of(packed) + (size_t)packed->count * LINE_BYTES;
    for (uint32_t i = 0; i < count; i++, to += LINE_BYTES)
        memcpy(to, line_at(&b, numbers[i]), LINE_BYTES);
    memcpy(numbers_of(packed) + packed->count, numbers, count * sizeof *numbers);
    packed->count += count;
}

static void know_found(oif_unpacked_model *unpacked)
{
    for (uint32_t i = 0; i < unpacked->line_count; i++) {
        const uint32_t number = unpacked->numbers[i];
        unpacked->lines[number / WORD_LINES] |= UINT64_C(1) << number % WORD_LINES;
    }
}

void oif_unpacked_model_abandon(oif_unpacked_model *unpacked)
{
    const blocks b = blocks_of(unpacked->model);
    find_changed(unpacked->model, &b, OIF_UNKNOWN_ROWS, unpacked->lines);
}

/* Writes the lines that are there and may have changed. */
static void update(oif_packed_model *packed, const oif_unpacked_model *unpacked)
{
    const blocks b = blocks_of(unpacked->model);
    const uint32_t *numbers = numbers_of(packed), count = packed->count;
    unsigned char *lines = lines_of(packed);
    run next = {0};
    for (uint32_t i = 0; i < count; i += next.count) {
        next = run_at(numbers, i, count);
        const unsigned char *from = line_at(&b, next.number);
        for (uint64_t left = unpacked->changed[next.number / WORD_LINES] & bits_of(&next); left;) {
            const size_t line = take_line(&left) - next.number % WORD_LINES;
            memcpy(lines + (i + line) * LINE_BYTES, from + line * LINE_BYTES, LINE_BYTES);
        }
    }
}

void oif_packed_model_store(oif_packed_model *packed, oif_unpacked_model *unpacked)
{
    update(packed, unpacked);
    append(packed, unpacked->model, unpacked->numbers, unpacked->line_count);
    know_found(unpacked);
}

void oif_packed_model_fill(oif_packed_model *packed, oif_unpacked_model *unpacked)
{
    const size_t words = count_words(unpacked->model);
    know_found(unpacked);
    unpacked->line_count = 0;
    for (size_t word = 0; word < words; word++)
        for (uint64_t left = unpacked->lines[word]; left;)
            unpacked->numbers[unpacked->line_count++] =
                (uint32_t)(word * WORD_LINES) + take_line(&left);
    append(packed, unpacked->model, unpacked->numbers, unpacked->line_count);
}

void oif_packed_model_update(oif_packed_model *packed, oif_unpacked_model *unpacked)
{
    memset(unpacked->changed, 0xff, count_words(unpacked->model) * sizeof *unpacked->changed);
    update(packed, unpacked);
}

oif_packed_model *oif_packed_model_of(const oif_model *model, const oif_model *blank,
                                      oif_unpacked_model *scratch)
{
    const blocks b = blocks_of(model);
    find_changed(model, &b, OIF_ALL_ROWS, scratch->changed);
    find_lines(scratch, model, blank, NULL);
    oif_packed_model *packed = oif_packed_model_new(scratch->line_count);
    if (packed)
        append(packed, model, scratch->numbers, scratch->line_count);
    return packed;
}

/* ---- Unpacking ---- */

/* Makes the lines blank that another model has changed. */
static void reset_lines(const uint64_t *lines, const blocks *b, const blocks *blanks)
{
    for (size_t i = 0; i < b->count; i++)
        for (size_t from = 0; from < b->lines[i]; from += WORD_LINES)
            for (uint64_t left = *lines++; left;) {
                const size_t offset = (from + take_line(&left)) * LINE_BYTES;
                memcpy(b->at[i] + offset, blanks->at[i] + offset, LINE_BYTES);
            }
}

void oif_packed_model_load(const oif_packed_model *packed, const oif_model *blank,
                           oif_unpacked_model *unpacked)
{
    oif_model *model = unpacked->model;
    const oif_derived_plan *plan = model->plan;
    oif_detector *detectors[OIF_TOGETHER_MAX]; /* its own pointers stay */
    memcpy(detectors, model->detectors, sizeof detectors);
    const blocks b = blocks_of(model), blanks = blocks_of(blank);
    const size_t words = b.end[b.count - 1] / WORD_LINES;
    const uint32_t *numbers = numbers_of(packed), count = packed->count;
    const unsigned char *from = lines_of(packed);
    uint64_t *lines = unpacked->changed;
    run next = {0};
    memset(lines, 0, words * sizeof *lines);
    for (uint32_t i = 0; i < count; i += next.count) {
        next = run_at(numbers, i, count);
        lines[next.number / WORD_LINES] |= bits_of(&next);
        unsigned char *to = line_at(&b, next.number);
        for (uint32_t k = 0; k < next.count; k++, from += LINE_BYTES, to += LINE_BYTES)
            memcpy(to, from, LINE_BYTES);
    }
    for (size_t i = 0; i < words; i++)
        unpacked->lines[i] &= ~lines[i];
    reset_lines(unpacked->lines, &b, &blanks);
    memcpy(unpacked->lines, lines, words * sizeof *lines);
    model->plan = plan;
    memcpy(model->detectors, detectors, sizeof detectors);
}

#include "pipeline/model/packed_model.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"

#include <string.h>

enum { LINE_BYTES = OIF_CACHE_LINE_BYTES, LINE_NUMBERS = LINE_BYTES / 8, WORD_LINES = 64 };

/* ---- Blocks ---- */

/* The memory blocks of a model: its own, and one per detector. Each is whole lines. */
typedef struct blocks {
    unsigned char *at[1 + OIF_TOGETHER_MAX];
    size_t lines[1 + OIF_TOGETHER_MAX];
    size_t count;
} blocks;

static blocks blocks_of(const oif_model *model)
{
    blocks b = {.at = {(unsigned char *)model}, .lines = {model->bytes / LINE_BYTES}, .count = 1};
    for (size_t i = 0; i < model->detector_count; i++) {
        b.at[b.count] = (unsigned char *)model->detectors[i];
        b.lines[b.count++] = oif_detector_block_bytes(model->detectors[i]) / LINE_BYTES;
    }
    return b;
}

/* Each block starts a new word of line bits. */
static size_t words_of(size_t lines)
{
    return (lines + WORD_LINES - 1) / WORD_LINES;
}

static size_t count_words(const oif_model *model)
{
    blocks b = blocks_of(model);
    size_t words = 0;
    for (size_t i = 0; i < b.count; i++)
        words += words_of(b.lines[i]);
    return words;
}

static size_t packed_bytes(size_t words, size_t lines)
{
    return sizeof(oif_packed_model) + words * sizeof(uint64_t) + lines * LINE_BYTES;
}

/* ---- Creation ---- */

oif_status oif_unpacked_model_new(const oif_model *blank, oif_unpacked_model *unpacked,
                                  oif_error *error)
{
    const size_t bytes = count_words(blank) * sizeof(uint64_t);
    uint64_t *lines = oif_memory_new(bytes);
    if (!lines)
        return oif_fail(error, OIF_EMEMORY, "no memory to unpack a model");
    oif_status status = oif_model_clone(blank, &unpacked->model, error);
    if (status != OIF_OK) {
        oif_memory_free(lines);
        return status;
    }
    memset(lines, 0, bytes);
    unpacked->lines = lines;
    return OIF_OK;
}

void oif_unpacked_model_free(oif_unpacked_model *unpacked)
{
    oif_model_free(unpacked->model);
    oif_memory_free(unpacked->lines);
    *unpacked = (oif_unpacked_model){NULL, NULL};
}

size_t oif_unpacked_model_bytes(const oif_unpacked_model *unpacked)
{
    return unpacked->model ? oif_model_memory_bytes(unpacked->model) +
                                 count_words(unpacked->model) * sizeof(uint64_t)
                           : 0;
}

oif_packed_model *oif_packed_model_new(const oif_model *blank, size_t bytes)
{
    const size_t words = count_words(blank), least = packed_bytes(words, 0);
    const size_t capacity = oif_size_align(bytes > least ? bytes : least);
    oif_packed_model *packed = oif_memory_new(capacity);
    if (!packed)
        return NULL;
    *packed = (oif_packed_model){capacity, least};
    memset(packed->content, 0, words * sizeof *packed->content);
    return packed;
}

/* ---- Packing ---- */

/* Has no branch, so compilers can vectorise it. */
static uint64_t differ(const unsigned char *a, const unsigned char *b)
{
    uint64_t x[LINE_NUMBERS], y[LINE_NUMBERS], difference = 0;
    memcpy(x, a, LINE_BYTES);
    memcpy(y, b, LINE_BYTES);
    for (size_t i = 0; i < LINE_NUMBERS; i++)
        difference |= x[i] ^ y[i];
    return difference != 0;
}

static size_t compare_block(const unsigned char *block, const unsigned char *blank, size_t lines,
                            uint64_t *bits)
{
    size_t count = 0;
    for (size_t first = 0; first < lines; first += WORD_LINES) {
        uint64_t word = 0;
        for (size_t i = first; i < lines && i < first + WORD_LINES; i++)
            word |= differ(block + i * LINE_BYTES, blank + i * LINE_BYTES) << (i - first);
        bits[first / WORD_LINES] = word;
        count += (size_t)__builtin_popcountll(word);
    }
    return count;
}

size_t oif_unpacked_model_compare(oif_unpacked_model *unpacked, const oif_model *blank)
{
    const blocks own = blocks_of(unpacked->model), blanks = blocks_of(blank);
    size_t words = 0, lines = 0;
    for (size_t i = 0; i < own.count; i++) {
        lines += compare_block(own.at[i], blanks.at[i], own.lines[i], unpacked->lines + words);
        words += words_of(own.lines[i]);
    }
    return packed_bytes(words, lines);
}

/* Returns the first line set in the word, and clears its bit. */
static size_t take_line(uint64_t *word)
{
    size_t line = (size_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    return line;
}

void oif_packed_model_store(oif_packed_model *packed, const oif_unpacked_model *unpacked)
{
    const blocks b = blocks_of(unpacked->model);
    const size_t all_words = count_words(unpacked->model);
    const uint64_t *bits = unpacked->lines;
    unsigned char *to = (unsigned char *)(packed->content + all_words);
    memcpy(packed->content, unpacked->lines, all_words * sizeof *bits);
    for (size_t i = 0; i < b.count; bits += words_of(b.lines[i++]))
        for (size_t word = 0; word < words_of(b.lines[i]); word++)
            for (uint64_t left = bits[word]; left; to += LINE_BYTES) {
                size_t line = word * WORD_LINES + take_line(&left);
                memcpy(to, b.at[i] + line * LINE_BYTES, LINE_BYTES);
            }
    packed->bytes = (size_t)(to - (unsigned char *)packed);
}

/* ---- Unpacking ---- */

/* Sets the packed lines of a word, and resets those that were not blank before. */
static const unsigned char *load_word(unsigned char *block, const unsigned char *blank,
                                      uint64_t packed_lines, uint64_t other_lines,
                                      const unsigned char *from)
{
    for (uint64_t left = packed_lines; left; from += LINE_BYTES)
        memcpy(block + take_line(&left) * LINE_BYTES, from, LINE_BYTES);
    for (uint64_t left = other_lines & ~packed_lines; left;) {
        size_t line = take_line(&left);
        memcpy(block + line * LINE_BYTES, blank + line * LINE_BYTES, LINE_BYTES);
    }
    return from;
}

void oif_packed_model_load(const oif_packed_model *packed, const oif_model *blank,
                           oif_unpacked_model *unpacked)
{
    oif_model *model = unpacked->model;
    const oif_derived_plan *plan = model->plan;
    oif_detector *detectors[OIF_TOGETHER_MAX]; /* its own pointers stay */
    memcpy(detectors, model->detectors, sizeof detectors);
    const blocks b = blocks_of(model), blanks = blocks_of(blank);
    const size_t all_words = count_words(model);
    const unsigned char *from = (const unsigned char *)(packed->content + all_words);
    size_t at = 0;
    for (size_t i = 0; i < b.count; i++)
        for (size_t word = 0; word < words_of(b.lines[i]); word++, at++) {
            size_t offset = word * WORD_LINES * LINE_BYTES;
            from = load_word(b.at[i] + offset, blanks.at[i] + offset, packed->content[at],
                             unpacked->lines[at], from);
        }
    memcpy(unpacked->lines, packed->content, all_words * sizeof *packed->content);
    model->plan = plan;
    memcpy(model->detectors, detectors, sizeof detectors);
}

#include "key_search.h"

#include "front/text/byte_table.h"

#include <math.h>
#include <stdlib.h>

/* ---- Rows ---- */

void key_search_start(key_search *search, size_t columns, size_t rows)
{
    *search = (key_search){.columns = columns < KEY_SEARCH_COLUMNS ? columns : KEY_SEARCH_COLUMNS};
    search->cells = calloc(rows * search->columns, sizeof *search->cells);
}

void key_search_free(key_search *search)
{
    free(search->cells);
    *search = (key_search){0};
}

static key_search_cell *cell_at(const key_search *search, size_t row, size_t column)
{
    return &search->cells[row * search->columns + column];
}

void key_search_add(key_search *search, size_t column, oif_text text, const double times[2])
{
    if (!search->cells || column >= search->columns)
        return;
    const uint64_t hash = byte_hash(BYTE_HASH_START, text.text, text.bytes);
    *cell_at(search, search->rows, column) =
        (key_search_cell){hash > 0 ? hash : 1, {times[0], times[1]}};
}

void key_search_end_row(key_search *search)
{
    search->rows++;
}

/* ---- Streams ---- */

enum { STREAMS = 256, SLOTS = 2 * STREAMS, STREAM_ROWS = 3 /* on average, at least */ };

/* The rows with one value of the key. */
typedef struct stream {
    uint64_t text;
    double last_time;
} stream;

/* Columns that may be a key, and the times that they may keep apart. */
typedef struct candidate {
    const key_search *search;
    size_t time, order;
    size_t parts[KEY_SEARCH_PARTS], count;
} candidate;

static double time_of(const candidate *c, size_t row)
{
    return cell_at(c->search, row, c->time)->times[c->order];
}

/* A hash of the texts of the key; 0 if one is missing. */
static uint64_t text_of(const candidate *c, size_t row)
{
    uint64_t joined = BYTE_HASH_START;
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t text = cell_at(c->search, row, c->parts[i])->text;
        if (text == 0)
            return 0;
        joined = byte_hash(joined, &text, sizeof text);
    }
    return joined;
}

/* Counts the rows that are not later than the one before. */
static size_t count_behind(const candidate *c)
{
    size_t behind = 0;
    for (size_t row = 1; row < c->search->rows; row++)
        behind += time_of(c, row) <= time_of(c, row - 1);
    return behind;
}

/* The stream of a text, or the empty slot for it. */
static stream *slot_of(stream slots[SLOTS], uint64_t text)
{
    size_t at = text % SLOTS;
    while (slots[at].text != 0 && slots[at].text != text)
        at = (at + 1) % SLOTS;
    return &slots[at];
}

/* Whether the times of each stream only advance, and most runs of rows of one stream begin with a
 * time that is not later: streams that take turns share their times, or the times of one start
 * over after those of another. Where a few rows are late, most runs of a text do not. */
static bool keeps_apart(const candidate *c, size_t behind)
{
    const size_t rows = c->search->rows, few = rows / STREAM_ROWS;
    const size_t most_streams = few < STREAMS ? few : STREAMS, most_runs = 1 + 9 * behind / 4;
    stream slots[SLOTS] = {{0}};
    size_t streams = 0, runs = 0;
    uint64_t text_before = 0;
    for (size_t row = 0; row < rows; row++) {
        const double now = time_of(c, row);
        const uint64_t text = text_of(c, row);
        stream *own = slot_of(slots, text);
        if (text == 0 || isnan(now) || (own->text != 0 && now <= own->last_time))
            return false;
        streams += own->text == 0;
        runs += text != text_before;
        if (streams > most_streams || runs > most_runs)
            return false;
        *own = (stream){text, now};
        text_before = text;
    }
    return streams > 1;
}

static size_t found_in(const candidate *c, size_t found[KEY_SEARCH_PARTS])
{
    for (size_t i = 0; i < c->count; i++)
        found[i] = c->parts[i];
    return c->count;
}

size_t key_search_find(const key_search *search, const bool may_be_key[], size_t time, size_t order,
                       size_t found[KEY_SEARCH_PARTS])
{
    candidate c = {.search = search, .time = time, .order = order, .count = 1};
    if (!search->cells || time >= search->columns)
        return 0;
    const size_t behind = count_behind(&c), columns = behind > 0 ? search->columns : 0;
    for (c.parts[0] = 0; c.parts[0] < columns; c.parts[0]++)
        if (may_be_key[c.parts[0]] && keeps_apart(&c, behind))
            return found_in(&c, found);
    c.count = 2;
    for (c.parts[0] = 0; c.parts[0] < columns; c.parts[0]++)
        for (c.parts[1] = c.parts[0] + 1; c.parts[1] < columns; c.parts[1]++)
            if (may_be_key[c.parts[0]] && may_be_key[c.parts[1]] && keeps_apart(&c, behind))
                return found_in(&c, found);
    return 0;
}

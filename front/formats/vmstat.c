/* vmstat, also -t, -w, -a and -n:
 *
 *     procs -----------memory---------- ---swap-- ... ------cpu----- -----timestamp-----
 *      r  b   swpd   free   buff  cache   si   so ... us sy id wa st                 UTC
 *     26  1      0 194860 816596 2022106    0    0 ... 68  8 24  0  0 2026-11-18 02:57:30
 *
 * becomes time,r,b,swpd,... and 2026-11-18T02:57:30Z,26,1,0,... */
#include "formats.h"
#include "repeated_table.h"

#include <inttypes.h>

typedef struct vmstat_state {
    repeated_table table;
    bool has_time, is_utc;
} vmstat_state;

/* The lines above the header, as procs ----memory---- or --procs-- ----memory----. */
static bool is_title(oif_text line)
{
    return text_begins(line, "procs -") || text_begins(line, "--procs-");
}

static bool is_header(const oif_text *words, size_t count)
{
    return count > 4 && text_is(words[0], "r") && text_is(words[1], "b");
}

static bool recognise(const char *text, size_t bytes)
{
    const char *newline = memchr(text, '\n', bytes);
    oif_text words[5], line = {text, newline ? (size_t)(newline - text) : bytes};
    size_t count = translator_words(line, words, 5);
    return (is_title(line) && newline) ||
           (is_header(words, count) && text_is(words[2], "swpd") && text_is(words[3], "free"));
}

/* The name of the zone, the only name that does not begin with a small letter. */
static bool is_zone(oif_text name)
{
    return !(name.text[0] >= 'a' && name.text[0] <= 'z');
}

static void take_header(translator *by, const oif_text *words, size_t count)
{
    vmstat_state *state = by->state;
    if (!table_take_header(&state->table, by, words, count) ||
        (!state->table.is_first && !state->table.is_other))
        return;
    if (state->table.is_other) {
        translator_fail(by, by->line,
                        "the columns change here: vmstat had other options before; read the two "
                        "parts one by one (head -n %" PRIu64 ")",
                        by->line - 1);
        return;
    }
    state->has_time = is_zone(words[count - 1]);
    state->is_utc = state->has_time && text_is(words[count - 1], "UTC");
    translator_begin_row(by, by->line);
    if (state->has_time) {
        output_text("time,");
        snprintf(by->implied.time, sizeof by->implied.time, "time");
    }
    table_print_cells(words, count - state->has_time);
    translator_end_row(by);
}

static void take_line(translator *by, oif_text line)
{
    vmstat_state *state = by->state;
    oif_text words[TABLE_COLUMNS_MAX];
    size_t count = translator_words(line, words, TABLE_COLUMNS_MAX);
    if (count == 0 || is_title(line))
        return;
    if (is_header(words, count)) {
        take_header(by, words, count);
        return;
    }
    translator_begin_row(by, by->line);
    if (state->has_time && count > 2) {
        count -= 2;
        output_print("%.*sT%.*s%s,", (int)words[count].bytes, words[count].text,
                     (int)words[count + 1].bytes, words[count + 1].text, state->is_utc ? "Z" : "");
    }
    table_print_cells(words, count);
    translator_end_row(by);
}

const translation format_vmstat = {.word = "vmstat",
                                   .what = "vmstat",
                                   .writes = OIF_FORMAT_CSV,
                                   .delimiter = ',',
                                   .state_bytes = sizeof(vmstat_state),
                                   .recognise = recognise,
                                   .line = take_line};

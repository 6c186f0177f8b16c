/* The times of a stream: how the column of --time is read, and what is wrong with it. Nothing
 * here ends a run: a time that cannot be read is unknown. */
#ifndef OIF_FRONT_STREAM_CLOCK_H
#define OIF_FRONT_STREAM_CLOCK_H

#include "byte_source.h"

#include "oif_rows.h"

typedef struct stream_clock {
    const byte_source *source;
    const char *input, *column; /* names, for messages */
    bool has_keys;              /* then the order of rows says nothing */
    bool has_rates;             /* each needs a step forward in time */
    double season_seconds;      /* the shortest season; 0: none */
    oif_time_format format;
    bool has_time_of_day; /* a time is not midnight */
    bool is_contradicted; /* a date has the day where others have the month: first_unreadable */
    bool is_told;         /* what the times were taken for */
    bool is_coarse_told;  /* that there are too few steps forward */

    /* The key of the first row, as much as is needed to recognise it. */
    char first_key[64];
    size_t first_key_bytes;
    bool has_first_key, is_other_key; /* is_other_key: the next row has another one */

    uint64_t read, missing, unreadable;
    uint64_t ordered;  /* where the first key is known, its rows, otherwise all: */
    uint64_t backward; /* rows that are earlier than the one before */
    uint64_t repeated; /* rows with the time of the one before */
    uint64_t jumps;    /* rows that are much earlier: further back than late rows are */
    uint64_t gaps;     /* pauses much longer than any before */
    double previous, latest;
    double longest_pause, longest_gap, longest_jump;
    uint64_t longest_gap_line;
    oif_error first_unreadable;
} stream_clock;

/* `format`: what is known about the times before the first one. */
stream_clock stream_clock_start(const byte_source *source, const char *column,
                                const oif_time_format *format);

/* The key of the row that is read next. Where rows have keys and none is given, their order says
 * nothing. */
void stream_clock_set_key(stream_clock *clock, oif_text key);

/* The time of a row, which is on `line`, in seconds since 1970; NaN if it is unknown. Says once
 * what the times are taken for where that is a guess. */
double stream_clock_read(stream_clock *clock, oif_text text, uint64_t line);

/* What makes the times useless for what is made from them, or shows that a clock is wrong, with a
 * remedy for a client of the service; false: nothing does. */
enum { STREAM_CLOCK_TEXT_BYTES = 1024 };
bool stream_clock_problem(const stream_clock *clock, char text[STREAM_CLOCK_TEXT_BYTES]);

/* At the end, one line on stderr for each problem; nothing when there is nothing to report. */
void stream_clock_report(stream_clock *clock);

#endif

/* The samples of one request, and the rows that they make by a rule (sample_rule.h).
 *
 *     begin: labels --> a key, and what the columns have behind their name
 *     add:   name, time, value --> | key | column | seconds | value |   one of many
 *     write: sorted by key and time, then cut into rows, the oldest first
 *
 * Keys and columns are numbered as they come, so a sample has 32 bytes. What is left out is
 * counted by its reason. */
#ifndef OIF_SERVE_SAMPLES_H
#define OIF_SERVE_SAMPLES_H

#include "sample_rule.h"

#include "oif_rows.h"

enum { SAMPLE_LABELS_MAX = 128, SAMPLES_MAX = 1 << 20 };

typedef enum left_out {
    LEFT_STALE,      /* Prometheus says that the series has ended */
    LEFT_NOT_FINITE, /* NaN or infinite: missing */
    LEFT_TEXT,       /* a string */
    LEFT_BUCKET,     /* of a histogram, unless the setting "buckets" is true */
    LEFT_METRIC,     /* the setting "metrics" does not name it */
    LEFT_REPEATED,   /* the same column has another value at the same time, which counts */
    LEFT_TOO_LONG,   /* its name, its labels or its key */
    LEFT_UNKNOWN,    /* a kind of value that is not known here */
    LEFT_OUT_COUNT
} left_out;

/* "stale" */
const char *left_out_word(left_out reason);

typedef struct sample_label {
    oif_text name, value;
    bool is_of_sender; /* it is part of the key, or nowhere */
} sample_label;

typedef enum sample_kind { SAMPLE_GAUGE, SAMPLE_COUNTER, SAMPLE_BUCKET } sample_kind;

typedef struct sample {
    oif_text name;
    sample_kind kind;
    double seconds, value; /* since 1970 */
} sample;

typedef struct samples samples;

/* NULL: out of memory. The rule must live as long. */
samples *samples_new(const sample_rule *rule);
void samples_free(samples *all);

/* What the samples that follow have in common: their labels, and the measurement, if they have one.
 * It must live until the next call, and is before their names: cpu_usage_idle. False: out of
 * memory, or there are too many samples. */
bool samples_begin(samples *all, oif_text measurement, const sample_label *labels, size_t count);
bool samples_add(samples *all, const sample *one);
void samples_leave_out(samples *all, left_out reason, uint64_t count);

/* Writes the rows to the output as NDJSON, at most `limit_bytes`; 413 if there are more. Call it
 * once. */
bool samples_write(samples *all, size_t limit_bytes, problem *why);

/* What became of them. */
typedef struct sample_counts {
    uint64_t taken; /* in rows */
    uint64_t rows;
    uint64_t left[LEFT_OUT_COUNT];
} sample_counts;
const sample_counts *samples_counted(const samples *all);

/* Why samples_begin or samples_add returned false: 413 or 503. Returns false. */
bool samples_refuse(const samples *all, problem *why);

/* For a new stream: whether a label was there, and the columns. */
bool samples_had_label(const samples *all, const char *name);
typedef struct sample_column_info {
    oif_text name; /* without labels */
    bool has_labels, is_counter, is_left_out;
} sample_column_info;
size_t samples_column_count(const samples *all);
sample_column_info samples_column_at(const samples *all, size_t index);

#endif

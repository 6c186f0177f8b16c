/* What `oif score` adds to a row: which fields, and how they are written in CSV and in JSON. */
#ifndef OIF_FRONT_RESULT_FIELDS_H
#define OIF_FRONT_RESULT_FIELDS_H

#include "front/columns/added_fields.h"
#include "front/columns/columns.h"

typedef struct result_fields {
    int chosen[FIELDS_MAX]; /* of result_field */
    size_t count;
    int digits; /* significant ones of numbers; 0: all */

    /* The reasons of anomalies: room for one per column, and the columns by share, the highest
     * first. */
    size_t top, column_count;
    oif_attribution *attributions;
    oif_expected *expected;
    size_t *order;
    char **names; /* of the columns that are learned: load, rate(rx_bytes) */
    const category_columns *categories;
    size_t *places;        /* of the columns that are learned in the row that comes */
    bool follows_episodes; /* the reason of the worst row of an episode is asked for */
} result_fields;

/* A row's result, and its reasons where they were asked for. */
typedef struct row_verdict {
    oif_result result;
    const double *values; /* of the columns that are learned, missing ones NaN */
    const result_fields *fields;
    double seconds;           /* the time of the row; NaN: unknown */
    size_t reason_count;      /* how many of fields->order are reasons of this row */
    oif_episode_info episode; /* that the row is in; number 0: none */
} row_verdict;

/* Chooses the fields of the settings. Prints what is wrong unless it returns EXIT_OK. To be closed
 * in any case. */
exit_code result_fields_open(result_fields *fields, const run_settings *settings);

/* Before the first row: makes room for the reasons of a pipeline's rows. */
exit_code result_fields_start(result_fields *fields, const oif_pipeline *pipeline,
                              const input_columns *columns);
void result_fields_close(result_fields *fields);

/* The verdict on the row that the pipeline has processed last. Explains only anomalies, so it
 * is cheap. */
row_verdict result_fields_judge(result_fields *fields, oif_pipeline *pipeline,
                                const oif_result *result, double seconds);

/* To be called with the result of every row, even if it is not judged: explains the worst row
 * of an episode while it is still the last row. */
void result_fields_follow(result_fields *fields, oif_pipeline *pipeline, const oif_result *result);

/* "critical"; "" for OIF_GRADE_NONE. */
const char *grade_word(oif_grade grade);

/* Two digits are enough to read. */
double rounded_severity(double severity);

/* ",score,severity,anomaly"; ",0.7,1.2,0"; "\"oif\":{\"score\":0.7,...}". The decimal sign is a
 * point or a comma. */
bool result_fields_write_names(const result_fields *fields, char delimiter);
bool result_fields_write_csv(const row_verdict *verdict, char delimiter, char decimal);
bool result_fields_write_json(const row_verdict *verdict);

/* One field's value, for formats that know types. */
enum { FIELD_TEXT_BYTES = 2048 }; /* longer texts are cut off */

typedef struct field_value {
    enum { VALUE_ABSENT, VALUE_NUMBER, VALUE_COUNT, VALUE_TRUTH, VALUE_TEXT } kind;
    double number; /* finite */
    uint64_t count;
    bool truth;
    char text[FIELD_TEXT_BYTES];
} field_value;

void result_fields_value(const row_verdict *verdict, int field, field_value *value);

/* Why an episode is anomalous, by its worst row: "bytes high"; "" if that is unknown. */
void result_fields_episode_text(const result_fields *fields, const oif_episode_info *episode,
                                char text[FIELD_TEXT_BYTES]);

/* Prints a note if the input already has a name that is added: the member in JSON, a field in
 * other formats. */
void result_fields_note_clash(const result_fields *fields, const column_source *from,
                              bool as_member);

/* "high", "jumps up by 62, usually at most 20", "no longer follows cpu": what is unusual about a
 * column that has this value. `partner` is a name. */
void result_fields_unusual_text(const oif_attribution *why, double value, const char *partner,
                                char *text, size_t capacity);

/* " 62%": the share of a column, or "" if it has all of it. */
enum { SHARE_TEXT_BYTES = 8 };
const char *result_fields_share_text(double share, char text[SHARE_TEXT_BYTES]);

/* "values", "stuck", "new_value": a reason in JSON. */
const char *result_fields_reason_word(oif_reason reason);

/* One reason of a row, counted from 0, the strongest: its column among those that are learned;
 * "low", "high", "unusual", "missing", "new", "rare"; and "high", "stuck", "new value 'off'". */
size_t result_fields_reason_column(const row_verdict *verdict, size_t reason);
const char *result_fields_direction(const row_verdict *verdict, size_t column);
void result_fields_column_text(const row_verdict *verdict, size_t column, char *text,
                               size_t capacity);

/* "840, expected 90 to 140": a column of an anomaly; "" where nothing was expected. */
enum { EXPECTED_TEXT_BYTES = 4 * OIF_NUMBER_TEXT_BYTES };
const char *result_fields_expected_text(const row_verdict *verdict, size_t column,
                                        char text[EXPECTED_TEXT_BYTES]);

/* The same as a member of a JSON object, ,"expected":[90,140]; nothing where nothing was. */
void result_fields_write_expected(const row_verdict *verdict, size_t column);

/* "bytes high 71%; port low 20%", cut off where it does not fit. */
void result_fields_reasons_text(const row_verdict *verdict, char *text, size_t capacity);

#endif

/* What `oif score` adds to a row: which fields, and how they are written in CSV and in JSON. */
#ifndef OIF_CLI_FIELDS_H
#define OIF_CLI_FIELDS_H

#include "input.h"

enum { FIELDS_MAX = 8 };

struct fields {
    int chosen[FIELDS_MAX]; /* positions in the table of fields.c */
    size_t count;

    /* The reasons of anomalies: room for one a column, and the columns by share, the highest
     * first. */
    size_t top, column_count;
    oif_attribution *attributions;
    size_t *order;
};

/* A row's result, and its reasons where they were asked for. */
struct verdict {
    oif_result result;
    const struct fields *fields;
    size_t reason_count; /* how many of fields->order are reasons of this row */
};

/* Chooses the fields that the settings ask for. Prints what is wrong unless it returns EXIT_OK. */
exit_code fields_open(struct fields *fields, const struct settings *settings,
                      const struct input *input);
void fields_close(struct fields *fields);

/* The verdict on the row that the pipeline has processed last. Explains anomalies only, so it
 * is cheap. */
struct verdict fields_judge(struct fields *fields, oif_pipeline *pipeline,
                            const oif_result *result);

/* ",score,p,anomaly"; ",0.7,0.001,1"; "\"oif\":{\"score\":0.7,...}". */
bool fields_write_names(const struct fields *fields, char delimiter);
bool fields_write_csv(const struct verdict *verdict, const struct input *input, char delimiter);
bool fields_write_json(const struct verdict *verdict, const struct input *input);

/* "bytes high 71%; port low 20%", cut off where it does not fit. */
void fields_reasons_text(const struct verdict *verdict, const struct input *input, char *text,
                         size_t capacity);

/* A text as a JSON string, or as a CSV field, in quotes where it must be. */
bool write_json_string(const char *text, size_t bytes);
bool write_csv_field(const char *text, size_t bytes, char delimiter);

#endif

/* The shape of a stream's bodies: learned from the first one, used to read later ones, also after a
 * restart. */
#ifndef OIF_SERVE_BODY_SHAPE_H
#define OIF_SERVE_BODY_SHAPE_H

#include "front/columns/input.h"

#include <jansson.h>

typedef struct shape_names {
    char **list;
    size_t count;
} shape_names;

typedef struct body_shape {
    char *header;   /* of CSV, without its line end; NULL: none seen */
    size_t fields;  /* of a row of CSV without a header; 0: none seen */
    char delimiter; /* of CSV; 0: none seen */
    bool has_decimal_commas, has_decimal_points; /* between semicolons; neither: not seen yet */
    bool has_crlf;
    char *time; /* the column of times; NULL: none */
    oif_day_order day_order;
    /* Columns without any value in the first body: text in them is missing, not an error. */
    shape_names undecided;
    shape_names left_out; /* columns that are known, but not learned */
} body_shape;

void body_shape_free(body_shape *shape);

/* Learns the shape from the first body of its format, once columns are chosen. False: out of
 * memory. */
bool body_shape_take(body_shape *shape, const run_input *input);

/* Marks the undecided columns of a later input. False: out of memory. */
bool body_shape_mark_undecided(const body_shape *shape, input_columns *columns);

/* A column that came too late to be learned. False: out of memory. */
bool body_shape_leave_out(body_shape *shape, const char *name);

/* Whether both would be saved identically. */
bool body_shape_equal(const body_shape *a, const body_shape *b);

/* Converts to JSON, which the caller frees with json_decref; and back. */
json_t *body_shape_save(const body_shape *shape);
bool body_shape_load(body_shape *shape, const json_t *saved);

/* What a CSV body starts with, after its byte order mark, blank lines and comments: the header of
 * the shape, a row, or other text, whose line becomes *line. */
start_line body_shape_judge(const body_shape *shape, const char *comment, oif_text body,
                            oif_text *line);

#endif

/* The columns of --category: texts of the input that become numbers. */
#ifndef OIF_FRONT_CATEGORIES_H
#define OIF_FRONT_CATEGORIES_H

#include "front/text/output.h"

#include "oif_rows.h"

typedef struct category_column {
    size_t place; /* in the row */
    size_t text;  /* in a record's texts */
} category_column;

typedef struct category_columns {
    size_t count;          /* 0: a record's values are the row, and the rest is not used */
    size_t row_columns;    /* categories included */
    bool is_json;          /* where null is a missing value */
    category_column *list; /* by place */
    double *row;
    const oif_text *texts; /* of the record that the row is made of */
} category_columns;

/* Room for `count` categories in rows of that many columns. Returns false if out of memory; to
 * be closed in any case. */
bool categories_open(category_columns *categories, size_t count, size_t row_columns, bool is_json);
void categories_close(category_columns *categories);

/* Whether a text of a record of NDJSON is null, and not the string "null". */
bool text_is_json_null(const oif_record *record, const oif_text *text);

/* The row that the pipeline gets. */
const double *categories_make_row(category_columns *categories, const oif_record *record);
static inline const double *categories_row(category_columns *categories, const oif_record *record)
{
    return categories->count == 0 ? record->values : categories_make_row(categories, record);
}

/* Whether this place of the row is a category; its text is then not among the record's values. */
bool categories_contain(const category_columns *categories, size_t place);

/* The text of a category in the row that was made last; NULL if the place has none. */
const oif_text *categories_text(const category_columns *categories, size_t place);

/* "'crashed'": for a reason. Control characters are escaped, a long text is cut off. */
enum { CATEGORY_TEXT_BYTES = 96 };
const char *category_quoted(const oif_text *text, char quoted[CATEGORY_TEXT_BYTES]);

#endif

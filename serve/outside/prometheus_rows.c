#include "prometheus_rows.h"

#include "front/text/cut.h"
#include "front/text/output.h"
#include "front/text/write_json.h"

#include "oif_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct joined_row {
    char *key;       /* of all labels, for sorting */
    json_t *metric;  /* the labels */
    double *numbers; /* by column; NaN: missing */
} joined_row;

struct prometheus_rows {
    const pull_config *config;
    size_t rows_max, columns;
    size_t column; /* of the next answer */
    joined_row *rows;
    size_t count, capacity;
    json_t *positions; /* {key: position in rows} */
    size_t left_out, doubled;
};

prometheus_rows *prometheus_rows_new(const pull_config *config, size_t rows_max)
{
    prometheus_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return NULL;
    rows->config = config;
    rows->rows_max = rows_max;
    rows->columns = json_object_size(config->queries);
    rows->positions = json_object();
    if (rows->positions)
        return rows;
    free(rows);
    return NULL;
}

static void close_row(joined_row *row)
{
    free(row->key);
    free(row->numbers);
    json_decref(row->metric);
}

void prometheus_rows_free(prometheus_rows *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->count; i++)
        close_row(&rows->rows[i]);
    free(rows->rows);
    json_decref(rows->positions);
    free(rows);
}

/* ---- Keys ---- */

/* Appends a value as front/input/key_columns.h joins several: '/' between them, '\' escapes '/' and
 * '\'. */
static char *append_value(char *key, const char *value)
{
    size_t bytes = key ? strlen(key) : 0;
    char *longer = realloc(key, bytes + 2 * strlen(value) + 2);
    if (!longer) {
        free(key);
        return NULL;
    }
    char *end = longer + bytes;
    if (key)
        *end++ = '/';
    for (; *value; *end++ = *value++)
        if (*value == '/' || *value == '\\')
            *end++ = '\\';
    *end = '\0';
    return longer;
}

static const char *label_value(json_t *metric, const char *name)
{
    const char *value = json_string_value(json_object_get(metric, name));
    return value ? value : "";
}

static char *key_of_named(json_t *labels, json_t *metric)
{
    char *key = NULL;
    size_t i;
    json_t *label;
    json_array_foreach(labels, i, label) {
        key = append_value(key, label_value(metric, json_string_value(label)));
        if (!key)
            return NULL;
    }
    return key;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Ignores the name of the metric, which does not distinguish series. */
static char *key_of_all(json_t *metric)
{
    size_t count = 0;
    const char *name, **names = malloc((json_object_size(metric) + 1) * sizeof *names);
    json_t *value;
    if (!names)
        return NULL;
    json_object_foreach(metric, name, value)
        if (strcmp(name, "__name__") != 0)
            names[count++] = name;
    qsort(names, count, sizeof *names, compare_texts);
    /* A single value is the key itself. */
    char *key = count == 0   ? strdup("")
                : count == 1 ? strdup(label_value(metric, names[0]))
                             : append_value(NULL, label_value(metric, names[0]));
    for (size_t i = 1; i < count && key; i++)
        key = append_value(key, label_value(metric, names[i]));
    free(names);
    return key;
}

static char *key_of(const prometheus_rows *rows, json_t *metric)
{
    json_t *labels = rows->config->labels;
    return json_array_size(labels) > 0 ? key_of_named(labels, metric) : key_of_all(metric);
}

/* ---- Joining ---- */

static bool make_room(prometheus_rows *rows)
{
    if (rows->count < rows->capacity)
        return true;
    size_t capacity = 2 * rows->capacity + 16;
    joined_row *larger = realloc(rows->rows, capacity * sizeof *larger);
    if (!larger)
        return false;
    rows->rows = larger;
    rows->capacity = capacity;
    return true;
}

/* Takes ownership of the key. NULL: out of memory. */
static joined_row *add_row(prometheus_rows *rows, char *key, json_t *metric)
{
    double *numbers = malloc(rows->columns * sizeof *numbers);
    if (!numbers || !make_room(rows) ||
        json_object_set_new(rows->positions, key, json_integer((json_int_t)rows->count)) != 0) {
        free(numbers);
        free(key);
        return NULL;
    }
    for (size_t i = 0; i < rows->columns; i++)
        numbers[i] = NAN;
    rows->rows[rows->count] = (joined_row){key, json_incref(metric), numbers};
    return &rows->rows[rows->count++];
}

/* A value that is not finite cannot be learned, so it is missing. */
static double number_of(const json_t *sample)
{
    double number;
    const char *text = json_string_value(json_array_get(sample, 1));
    const char *end = text ? oif_number_parse(text, text + strlen(text), &number) : NULL;
    return end && !*end && isfinite(number) ? number : NAN;
}

/* False: out of memory. */
static bool add_sample(prometheus_rows *rows, json_t *metric, const json_t *sample)
{
    double number = number_of(sample);
    char *key = key_of(rows, metric);
    if (!key)
        return false;
    const json_t *position = json_object_get(rows->positions, key);
    if (position) {
        double *place = &rows->rows[json_integer_value(position)].numbers[rows->column];
        rows->doubled += isnan(*place) ? 0 : 1;
        *place = isnan(*place) ? number : *place;
        free(key);
        return true;
    }
    if (rows->count == rows->rows_max || strlen(key) > OIF_KEY_MAX_BYTES) {
        rows->left_out++;
        free(key);
        return true;
    }
    joined_row *row = add_row(rows, key, metric);
    if (row)
        row->numbers[rows->column] = number;
    return row != NULL;
}

static bool add_vector(prometheus_rows *rows, json_t *series)
{
    size_t i;
    json_t *one;
    json_array_foreach(series, i, one) {
        json_t *metric = json_object_get(one, "metric");
        if (json_is_object(metric) && !add_sample(rows, metric, json_object_get(one, "value")))
            return false;
    }
    return true;
}

static bool add_scalar(prometheus_rows *rows, const json_t *sample)
{
    json_t *no_labels = json_object();
    bool is_added = no_labels && add_sample(rows, no_labels, sample);
    json_decref(no_labels);
    return is_added;
}

static bool refuse_answer(json_t *answer, problem *why)
{
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (!error)
        error = "it is not an answer to a query";
    return problem_set(why, 502, NULL, "%.*s", (int)cut_bytes(error, strlen(error), 300), error);
}

bool prometheus_rows_add(prometheus_rows *rows, json_t *answer, problem *why)
{
    const char *status = json_string_value(json_object_get(answer, "status"));
    json_t *data = json_object_get(answer, "data"), *result = json_object_get(data, "result");
    const char *type = json_string_value(json_object_get(data, "resultType"));
    if (!status || strcmp(status, "success") != 0 || !type || !json_is_array(result))
        return refuse_answer(answer, why);
    bool is_vector = strcmp(type, "vector") == 0, is_scalar = strcmp(type, "scalar") == 0;
    if (!is_vector && !is_scalar)
        return problem_set(why, 502, NULL,
                           "the query returns a %s; it must return one number per series",
                           cut_name(type).text);
    if (is_vector ? !add_vector(rows, result) : !add_scalar(rows, result))
        return problem_set(why, 500, NULL, "out of memory");
    rows->column++;
    return true;
}

/* ---- Rows ---- */

static int compare_rows(const void *a, const void *b)
{
    return strcmp(((const joined_row *)a)->key, ((const joined_row *)b)->key);
}

static void write_key(const prometheus_rows *rows, const joined_row *row)
{
    size_t i;
    json_t *label;
    if (json_array_size(rows->config->labels) == 0)
        write_json_string(PULL_KEY_COLUMN, row->key);
    json_array_foreach(rows->config->labels, i, label) {
        const char *name = json_string_value(label);
        write_json_string(name, label_value(row->metric, name));
    }
}

void prometheus_rows_write(prometheus_rows *rows, double time_seconds)
{
    if (rows->count > 1)
        qsort(rows->rows, rows->count, sizeof *rows->rows, compare_rows);
    json_object_clear(rows->positions);
    for (size_t i = 0; i < rows->count; i++) {
        const joined_row *row = &rows->rows[i];
        const char *column;
        const json_t *query;
        size_t number = 0;
        output_print("{\"" PULL_TIME_COLUMN "\":");
        output_json_number(time_seconds);
        write_key(rows, row);
        json_object_foreach(rows->config->queries, column, query) {
            (void)query;
            write_json_member(column, row->numbers[number++]);
        }
        output_write("}\n", 2);
    }
}

size_t prometheus_rows_count(const prometheus_rows *rows)
{
    return rows->count;
}

size_t prometheus_rows_left_out(const prometheus_rows *rows)
{
    return rows->left_out;
}

size_t prometheus_rows_doubled(const prometheus_rows *rows)
{
    return rows->doubled;
}

/* A model learns a finished table as a whole, before its rows are processed one by one. */
#include "base/error.h"
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <stdlib.h>

void oif_model_hide_motion(const oif_model *model, double *numbers)
{
    for (size_t k = 0; k < OIF_MOVES; k++)
        numbers[model->columns + k] = 1;
}

/* ---- Usual values ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Halves the values of a column that are not missing; returns how many there are. */
static size_t halves_of(const oif_table_rows *rows, size_t column, double *halves)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const double half = rows->rows[i * rows->numbers + column] / 2;
        if (half == half)
            halves[count++] = half;
    }
    return count;
}

/* The median and the mean distance from it: one extreme row of a short table moves a mean too far.
 * `halves` has room for all rows. */
static void learn_usual_of_column(oif_usual *usual, const oif_table_rows *rows, size_t column,
                                  double *halves)
{
    const size_t count = halves_of(rows, column, halves);
    if (count == 0)
        return;
    qsort(halves, count, sizeof *halves, compare_numbers);
    usual->half_mean = halves[count / 2];
    usual->half_spread = 0;
    for (size_t i = 0; i < count; i++)
        usual->half_spread += fabs(halves[i] - usual->half_mean) / (double)count;
}

/* ---- Scores ---- */

static void learn_scores(oif_model *m, const oif_model_table *table)
{
    oif_judge *judges = judges_of(m);
    for (size_t row = 0; row < table->rows.count; row++) {
        oif_score_history_add(&m->history, table->scores[0][row]);
        for (size_t i = 0; i < m->detector_count && oif_model_judges(m) > 0; i++) {
            judges[i].score = table->scores[i][row];
            oif_judges_learn(&judges[i], 1);
        }
    }
}

oif_status oif_model_learn_table(oif_model *model, const oif_model_table *table, oif_error *error)
{
    const oif_table_rows *rows = &table->rows;
    double *halves = oif_memory_new(oif_size_multiply(rows->count, sizeof *halves));
    oif_status status =
        halves ? OIF_OK
               : oif_fail(error, OIF_EMEMORY, "no memory for a table of %zu rows", rows->count);
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_held_out_learn_all(model->detectors[i], rows, error);
    if (status == OIF_OK) {
        const size_t last = (model->options.shingle - 1) * model->columns;
        for (size_t i = 0; i < model->columns; i++)
            learn_usual_of_column(&oif_model_usual(model)[i], rows, last + i, halves);
        oif_model_count_unseen(model);
        learn_scores(model, table);
    }
    oif_memory_free(halves);
    return status;
}

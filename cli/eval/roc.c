#include "roc.h"

#include <stdlib.h>

static bool make_room(roc_ranking *ranking)
{
    size_t capacity = ranking->capacity ? ranking->capacity * 2 : 4096;
    ranked_row *rows;
    if (ranking->count < ranking->capacity)
        return true;
    if (ranking->count > UINT32_MAX || capacity > SIZE_MAX / sizeof *rows)
        return false;
    rows = realloc(ranking->rows, capacity * sizeof *rows);
    if (!rows)
        return false;
    ranking->rows = rows;
    ranking->capacity = capacity;
    return true;
}

bool roc_add(roc_ranking *ranking, double score, bool anomaly)
{
    if (!make_room(ranking))
        return false;
    ranking->rows[ranking->count] = (ranked_row){score, (uint32_t)ranking->count, anomaly};
    ranking->count++;
    ranking->anomaly_count += anomaly;
    return true;
}

void roc_free(roc_ranking *ranking)
{
    free(ranking->rows);
    *ranking = (roc_ranking){0};
}

static int compare_rows(const void *left_row, const void *right_row)
{
    const ranked_row *left = left_row, *right = right_row;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

void roc_sort(roc_ranking *ranking)
{
    if (ranking->count > 0)
        qsort(ranking->rows, ranking->count, sizeof *ranking->rows, compare_rows);
}

bool roc_has_both(const roc_ranking *ranking)
{
    return ranking->anomaly_count > 0 && ranking->anomaly_count < ranking->count;
}

/* Rows of equal score: no threshold can separate them, so both measures count them together. */
typedef struct score_tie {
    size_t end; /* the first row after them */
    uint64_t anomalies, normals;
} score_tie;

static score_tie tie_from(const roc_ranking *ranking, size_t start)
{
    score_tie tie = {start, 0, 0};
    while (tie.end < ranking->count && ranking->rows[tie.end].score == ranking->rows[start].score) {
        if (ranking->rows[tie.end].anomaly)
            tie.anomalies++;
        else
            tie.normals++;
        tie.end++;
    }
    return tie;
}

double roc_auc(const roc_ranking *ranking)
{
    uint64_t normals = ranking->count - ranking->anomaly_count;
    uint64_t normals_below = normals;
    uint64_t twice_won = 0; /* twice, so half a pair is a whole number; fits for 2^32 rows */
    for (size_t start = 0; start < ranking->count;) {
        score_tie tie = tie_from(ranking, start);
        normals_below -= tie.normals;
        twice_won += tie.anomalies * (2 * normals_below + tie.normals);
        start = tie.end;
    }
    return (double)twice_won / 2 / ((double)ranking->anomaly_count * (double)normals);
}

double roc_average_precision(const roc_ranking *ranking)
{
    uint64_t found = 0;
    double sum = 0;
    for (size_t start = 0; start < ranking->count;) {
        score_tie tie = tie_from(ranking, start);
        found += tie.anomalies;
        sum += (double)tie.anomalies * ((double)found / (double)tie.end);
        start = tie.end;
    }
    return sum / (double)ranking->anomaly_count;
}

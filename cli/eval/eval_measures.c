#include "eval_measures.h"

#include <math.h>
#include <stdlib.h>

const char *eval_measure_name(eval_measure measure)
{
    static const char *const names[] = {"alerts",
                                        "episodes",
                                        "note_rows",
                                        "warning_rows",
                                        "critical_rows",
                                        "note_episodes",
                                        "warning_episodes",
                                        "critical_episodes",
                                        "precision",
                                        "recall",
                                        "found",
                                        "median_delay_rows",
                                        "median_delay_seconds",
                                        "false_episodes",
                                        "false_per_day",
                                        "false_per_1000_rows",
                                        "rows_not_ready",
                                        "labelled_episodes_not_ready",
                                        "roc_auc",
                                        "average_precision"};
    return names[measure];
}

/* ---- Rows ---- */

bool eval_rows_reserve(eval_rows *rows, size_t capacity, bool has_keys, bool has_times)
{
    if (capacity > SIZE_MAX / sizeof *rows->seconds)
        return false;
    uint8_t *labels = realloc(rows->labels, capacity * sizeof *labels);
    if (!labels)
        return false;
    rows->labels = labels;
    if (has_keys) {
        uint32_t *keys = realloc(rows->keys, capacity * sizeof *keys);
        if (!keys)
            return false;
        rows->keys = keys;
    }
    if (has_times) {
        double *seconds = realloc(rows->seconds, capacity * sizeof *seconds);
        if (!seconds)
            return false;
        rows->seconds = seconds;
    }
    return true;
}

/* ---- Ranking ---- */

bool eval_measures_rank(const eval_rows *rows, const double scores[], roc_ranking *ranking)
{
    *ranking = (roc_ranking){0};
    for (size_t i = 0; i < rows->count; i++) {
        if (!roc_add(ranking, scores[i], rows->labels[i] != 0)) {
            roc_free(ranking);
            return false;
        }
    }
    roc_sort(ranking);
    return true;
}

/* ---- Alerts ---- */

/* Where a key is. */
typedef struct key_place {
    bool is_labelled, is_found; /* a labelled episode lasts, and was found */
    bool was_ready;             /* in this labelled episode */
    bool is_touched;            /* the latest episode of alerts has a labelled one */
    int peak_grade;             /* of that episode; 0: none yet */
    uint64_t labelled_rows;     /* of the labelled episode so far */
    double labelled_since;      /* its time */
} key_place;

enum { GRADES = 4 }; /* with none */

/* A pass over all rows. */
typedef struct alert_count {
    const eval_rows *rows;
    key_place *places; /* of the keys */
    uint64_t alerts, labelled_alerts, episodes, touched;
    uint64_t rows_by_grade[GRADES], episodes_by_grade[GRADES];
    uint64_t ready, labelled_not_ready;
    double first_ready, last; /* seconds */
    double *delays, *delays_seconds;
    size_t found, timed; /* how many of them there are */
} alert_count;

static void count_label(alert_count *count, key_place *place, bool is_labelled, double seconds)
{
    if (is_labelled && !place->is_labelled) {
        place->labelled_rows = 0;
        place->labelled_since = seconds;
        place->is_found = place->was_ready = false;
        count->labelled_not_ready++; /* until a row of it is ready */
    } else if (is_labelled) {
        place->labelled_rows++;
    }
    place->is_labelled = is_labelled;
}

static void count_found(alert_count *count, key_place *place, double seconds)
{
    double delay = seconds - place->labelled_since;
    if (place->is_found)
        return;
    place->is_found = true;
    count->delays[count->found++] = (double)place->labelled_rows;
    if (!isnan(delay))
        count->delays_seconds[count->timed++] = delay;
}

static void count_alert(alert_count *count, key_place *place, uint8_t mark, double seconds)
{
    if (mark & ROW_BEGINS_EPISODE) {
        count->episodes++;
        count->episodes_by_grade[place->peak_grade]++; /* the one before it */
        place->peak_grade = 0;
        place->is_touched = false;
    }
    if (!(mark & ROW_IS_ALERT))
        return;
    const int grade = mark / ROW_GRADE;
    count->alerts++;
    count->rows_by_grade[grade]++;
    place->peak_grade = grade > place->peak_grade ? grade : place->peak_grade;
    if (!place->is_labelled)
        return;
    count->labelled_alerts++;
    count->touched += !place->is_touched;
    place->is_touched = true;
    count_found(count, place, seconds);
}

/* Time counts from the first row that can be an alert to the last one. */
static void count_ready(alert_count *count, key_place *place, uint8_t mark, double seconds)
{
    if (!(mark & ROW_IS_READY))
        return;
    count->ready++;
    if (place->is_labelled && !place->was_ready)
        count->labelled_not_ready--;
    place->was_ready = true;
    if (!(seconds >= count->first_ready))
        count->first_ready = isnan(seconds) ? count->first_ready : seconds;
    count->last = fmax(count->last, seconds); /* NaN is the lesser */
}

static void count_rows(alert_count *count, const uint8_t marks[])
{
    const eval_rows *rows = count->rows;
    for (size_t i = 0; i < rows->count; i++) {
        key_place *place = &count->places[rows->keys ? rows->keys[i] : 0];
        double seconds = rows->seconds ? rows->seconds[i] : NAN;
        count_label(count, place, rows->labels[i] != 0, seconds);
        count_ready(count, place, marks[i], seconds);
        count_alert(count, place, marks[i], seconds);
    }
    for (size_t key = 0; key < rows->key_count; key++)
        count->episodes_by_grade[count->places[key].peak_grade]++;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double numbers[], size_t count)
{
    if (count == 0)
        return NAN;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void conclude(alert_count *count, double measures[MEASURES])
{
    double false_episodes = (double)(count->episodes - count->touched);
    measures[MEASURE_ALERTS] = (double)count->alerts;
    measures[MEASURE_EPISODES] = (double)count->episodes;
    for (int grade = 1; grade < GRADES; grade++) {
        measures[MEASURE_NOTE_ROWS + grade - 1] = (double)count->rows_by_grade[grade];
        measures[MEASURE_NOTE_EPISODES + grade - 1] = (double)count->episodes_by_grade[grade];
    }
    measures[MEASURE_PRECISION] = ratio((double)count->labelled_alerts, (double)count->alerts);
    measures[MEASURE_RECALL] =
        ratio((double)count->labelled_alerts, (double)count->rows->anomaly_count);
    measures[MEASURE_FOUND] = (double)count->found;
    measures[MEASURE_DELAY_ROWS] = median(count->delays, count->found);
    measures[MEASURE_DELAY_SECONDS] = median(count->delays_seconds, count->timed);
    measures[MEASURE_FALSE_EPISODES] = false_episodes;
    measures[MEASURE_FALSE_PER_DAY] =
        ratio(false_episodes, (count->last - count->first_ready) / 86400);
    measures[MEASURE_FALSE_PER_1000] = ratio(false_episodes, (double)count->ready / 1000);
    measures[MEASURE_NOT_READY] = (double)(count->rows->count - count->ready);
    measures[MEASURE_LABELLED_NOT_READY] = (double)count->labelled_not_ready;
}

static bool measure_alerts(const eval_rows *rows, const uint8_t marks[], double measures[MEASURES])
{
    alert_count count = {.rows = rows, .first_ready = NAN, .last = NAN};
    count.places = calloc(rows->key_count, sizeof *count.places);
    count.delays = calloc(rows->labelled_episodes + 1, sizeof *count.delays);
    count.delays_seconds = calloc(rows->labelled_episodes + 1, sizeof *count.delays_seconds);
    bool has_memory = count.places && count.delays && count.delays_seconds;
    if (has_memory) {
        count_rows(&count, marks);
        conclude(&count, measures);
    }
    free(count.places);
    free(count.delays);
    free(count.delays_seconds);
    return has_memory;
}

bool eval_rows_count(eval_rows *rows)
{
    bool *was_labelled = calloc(rows->key_count, sizeof *was_labelled);
    if (!was_labelled)
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        bool *was = &was_labelled[rows->keys ? rows->keys[i] : 0], is = rows->labels[i] != 0;
        rows->anomaly_count += is;
        rows->labelled_episodes += is && !*was;
        *was = is;
    }
    free(was_labelled);
    return true;
}

bool eval_measures_take(const eval_rows *rows, const double scores[], const uint8_t marks[],
                        double measures[MEASURES])
{
    roc_ranking ranking;
    if (!measure_alerts(rows, marks, measures) || !eval_measures_rank(rows, scores, &ranking))
        return false;
    bool defined = roc_has_both(&ranking);
    measures[MEASURE_ROC_AUC] = defined ? roc_auc(&ranking) : NAN;
    measures[MEASURE_AVERAGE_PRECISION] = defined ? roc_average_precision(&ranking) : NAN;
    roc_free(&ranking);
    return true;
}

void eval_measures_spread(const double values[], size_t count, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        sum += isnan(values[i]) ? 0 : values[i];
        known += isnan(values[i]) ? 0 : 1;
    }
    *mean = known > 0 ? sum / (double)known : NAN;
    for (size_t i = 0; i < count; i++)
        squares += isnan(values[i]) ? 0 : (values[i] - *mean) * (values[i] - *mean);
    *deviation = known > 1 ? sqrt(squares / (double)(known - 1)) : NAN;
}

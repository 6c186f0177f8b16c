#include "pipeline/judges/watch.h"

#include "base/stable_math.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LAGS = OIF_WATCH_LAGS,
    START = OIF_WATCH_START,
    WINDOW = OIF_WATCH_WINDOW,
    LEVEL_ROWS = 2000, /* that the level is averaged over */
    RECENT_ROWS = 64,
    FLUTTER_ROWS = 16,
    MEMORY_ROWS = 64,   /* before a column can resemble itself ... */
    NEARER_ROWS = 1024, /* ... which is averaged over these */
    KNOWN_CHANGES = 32, /* before runs and gaps are judged */
    EARLY_CHANGES = 48, /* that raise the usual run at once */
    PATIENCE = 64, /* rows after which a long run or gap, or another level, is the new normal */
    MOVES_LEARNED = 256,
    MOST_COUNTED = 1 << 30
};

/* The scales of the judges, chosen on recorded series: docs/algorithms/judges.md. */
static const double at_usual = 2; /* the severity of a magnitude of usual size; ... */
static const double level_at_usual = 1.5, per_octave_of_level = 1 / .7; /* ... of the level */
static const double per_octave_of_amplitude = 1 / .8, per_octave_of_energy = 2;
static const double run_at_usual = 1, per_octave_of_run = 1 / .7;
static const double gap_at_usual = 1.8;
static const double lowest_bar = 2.8; /* oif_gate's, which a run exceeds before it is too long */

static const double most_moves = 20, most_distances = 30, least_nearer = .55;

/* ---- Creation ---- */

size_t oif_watch_bytes(size_t columns)
{
    return oif_size_align(
        oif_size_add(sizeof(oif_watch), oif_size_multiply(columns, sizeof(oif_column_watch))));
}

static void forget_last(oif_column_watch *column)
{
    for (size_t i = 0; i < LAGS; i++)
        column->last[i] = NAN;
}

void oif_watch_init(oif_watch *watch, size_t columns)
{
    watch->columns = watch->unseen = (uint32_t)columns;
    for (size_t i = 0; i < OIF_MOVES; i++)
        watch->moves[i] = 1;
    for (size_t j = 0; j < columns; j++) {
        forget_last(&watch->column[j]);
        watch->column[j].usual_run = watch->column[j].usual_gap = 1;
    }
}

/* ---- Magnitudes ---- */

/* The largest of several columns is compared, and more columns have a larger one. */
static double columns_penalty(const oif_watch *watch)
{
    const double log10_of_2 = 0.30102999566398120;
    return log10_of_2 * oif_log2(watch->columns);
}

static double distance_between(double a, double b)
{
    const double distance = fabs(a - b);
    return distance > OIF_MOST_MAGNITUDE ? OIF_MOST_MAGNITUDE : distance;
}

static double away_from(double from, double x)
{
    const double distance = distance_between(from, x);
    return x < from ? -distance : distance;
}

static double bounded(double number, double most)
{
    return number < -most ? -most : number > most ? most : number;
}

/* The largest magnitude of a row, in units of its usual size. */
typedef struct largest {
    double times, size, usual;
    uint32_t column;
    int32_t direction;
} largest;

static void compare(largest *most, const oif_usual_size *usual, double size, uint32_t column,
                    double direction)
{
    const double times = oif_usual_times(usual, size);
    if (times > most->times)
        *most = (largest){times, size, usual->size, column, (direction > 0) - (direction < 0)};
}

/* What the columns of a row have added up to so far. */
typedef struct row_sums {
    largest step, distance, amplitude, run, gap;
    double squares, furthest; /* of distances from the levels; the largest distance */
    uint32_t levels;          /* columns with a level */
    uint32_t furthest_column;
    double moves[OIF_MOVES];
    uint32_t moving; /* columns that resemble themselves */
} row_sums;

/* Whether a row is itself unusual, and not only the rows before it: about as far from the level, on
 * the same side. Otherwise each spike had an echo for as long as someone remembers it. */
static bool is_no_echo(double away, double remembered)
{
    return fabs(away) >= fabs(remembered) && (away < 0) == (remembered < 0);
}

/* ---- Level ---- */

/* Sorts by insertion: qsort may allocate. */
static double median_of_start(const double start[START])
{
    double sorted[START] = {0};
    for (size_t i = 0; i < START; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > start[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = start[i];
    }
    return sorted[START / 2];
}

/* The median of the first values, and their mean distance from it. */
static void start_level(oif_column_watch *c)
{
    const double median = median_of_start(c->start);
    for (size_t i = 0; i < START; i++)
        c->spread += fabs(c->start[i] - median) / START;
    c->level += median;
    c->recent = c->level;
    c->level_values = START;
    memset(c->start, 0, sizeof c->start);
}

static void learn_start(oif_column_watch *c, double x)
{
    if (c->values == 0)
        c->level = x;
    c->start[c->values] = away_from(c->level, x);
    if (c->values + 1 == START)
        start_level(c);
}

static void learn_level(oif_column_watch *c, double x)
{
    c->level_values += c->level_values < LEVEL_ROWS;
    const double rows = c->level_values, away = away_from(c->level, x), distance = fabs(away),
                 most = c->spread > 0 ? 3 * c->spread : distance;
    c->level += bounded(away, most) / rows;
    c->spread += ((distance < 2 * most ? distance : 2 * most) - c->spread) / rows;
}

/* The mean of a value and of up to `before` values before it. */
static double mean_of_last(const oif_column_watch *c, double x, uint32_t before)
{
    double mean = x;
    for (uint32_t i = 0; i < before && c->last[i] == c->last[i]; i++)
        mean += away_from(mean, c->last[i]) / (i + 2);
    return mean;
}

/* A level that stays is not news forever. */
static void follow_beyond(oif_column_watch *c, double x, double distance)
{
    const double enough = 1.5; /* less than what exceeds the lowest bar */
    const oif_usual_size *usual = &c->sizes[OIF_DISTANCE];
    const bool is_beyond = usual->count >= OIF_USUAL_FIRST && distance > enough * usual->size;
    c->beyond = is_beyond ? c->beyond + 1 : 0;
    if (c->beyond < PATIENCE)
        return;
    c->level = c->recent = mean_of_last(c, x, LAGS - 1);
    c->level_values = START;
    c->beyond = 0;
}

/* The distance from the level in standard deviations, if values are normally distributed. */
static double deviations_of(const oif_column_watch *c, double x)
{
    const double per_mean_distance = 1.25, of_constant = 10, away = away_from(c->level, x);
    if (c->spread > 0)
        return bounded(away / (per_mean_distance * c->spread), most_distances);
    return away == 0 ? 0 : away < 0 ? -of_constant : of_constant;
}

static void judge_amplitude(oif_column_watch *c, uint32_t j, double x, row_sums *sums)
{
    const double away = away_from(c->level, x);
    compare(&sums->amplitude, &c->sizes[OIF_AMPLITUDE], fabs(away), j, away);
    oif_usual_learn(&c->sizes[OIF_AMPLITUDE], fabs(away), true);
}

/* After an incident the mean of the last rows is far from the level for as long as it remembers.
 * That is an echo, and not reported. One value alone may be near by chance. */
static void follow_return(oif_column_watch *c, double x, double away)
{
    if (fabs(away) <= c->sizes[OIF_DISTANCE].size)
        c->is_back = 0;
    else if (2 * fabs(away_from(c->level, mean_of_last(c, x, LAGS))) < fabs(away))
        c->is_back = 1;
}

/* Judges and learns the level, which is known. */
static void follow_level(oif_column_watch *c, uint32_t j, double x, row_sums *sums)
{
    const double most = 6; /* usual distances */
    const bool adapts = c->values % 8 == 0;
    const double deviations = deviations_of(c, x);
    /* One extreme value must not be remembered as another level. */
    const double near =
        c->spread > 0 ? c->level + bounded(away_from(c->level, x), most * c->spread) : x;
    c->recent += away_from(c->recent, near) / RECENT_ROWS;
    const double away = away_from(c->level, c->recent), distance = fabs(away);
    follow_return(c, x, away);
    if (is_no_echo(away_from(c->level, x), away) && !c->is_back)
        compare(&sums->distance, &c->sizes[OIF_DISTANCE], distance, j, away);
    oif_usual_learn(&c->sizes[OIF_DISTANCE], distance, adapts);
    judge_amplitude(c, j, x, sums);
    sums->squares += deviations * deviations;
    sums->levels++;
    if (fabs(deviations) > fabs(sums->furthest)) {
        sums->furthest = deviations;
        sums->furthest_column = j;
    }
    learn_level(c, x);
    follow_beyond(c, x, distance);
}

/* ---- Steps ---- */

/* Whether the value is back from an unusual one some rows before. Only the step back itself is
 * news. */
static bool is_back(const oif_column_watch *c, double x, double before)
{
    return c->values >= START &&
           2 * distance_between(x, c->level) < distance_between(before, c->level);
}

static void follow_steps(oif_column_watch *c, uint32_t j, double x, row_sums *sums)
{
    static const uint8_t lags[] = {1, 2, 4};
    for (size_t i = 0; i < sizeof lags; i++) {
        const double before = c->last[lags[i] - 1], step = distance_between(x, before);
        if (before != before)
            continue;
        if (i == 0 || !is_back(c, x, before))
            compare(&sums->step, &c->sizes[OIF_STEP_OF_1 + i], step, j, x - before);
        oif_usual_learn(&c->sizes[OIF_STEP_OF_1 + i], step, true);
    }
}

static double mean_of(const oif_column_watch *c, oif_magnitude magnitude)
{
    return oif_usual_mean(&c->sizes[magnitude]);
}

static void add_move(double *sum, double size, double usual)
{
    const double times = usual > 0 ? bounded(size / usual, most_moves) : 1;
    *sum += times * times;
}

/* How the column has moved; the step is already part of its mean. */
static void follow_moves(oif_column_watch *c, double x, row_sums *sums)
{
    const double step = distance_between(x, c->last[0]),
                 oldest = distance_between(x, c->last[LAGS - 1]), usual = mean_of(c, OIF_STEP_OF_1),
                 most = most_moves * usual;
    if (oldest != oldest)
        return;
    const double rows = c->values < NEARER_ROWS ? c->values + 1 : NEARER_ROWS;
    c->nearer += ((step < oldest ? 1 : step > oldest ? 0 : .5) - c->nearer) / rows;
    c->flutter += ((step < most ? step : most) - c->flutter) / FLUTTER_ROWS;
    if (c->values < MEMORY_ROWS || c->nearer < least_nearer)
        return;
    sums->moving++;
    add_move(&sums->moves[0], step, usual);
    add_move(&sums->moves[1], c->flutter, usual);
    add_move(&sums->moves[2], distance_between(c->recent, c->level), mean_of(c, OIF_DISTANCE));
}

/* ---- Runs and gaps ---- */

/* `rows` is a run or gap that has ended, from 1. The usual one rises at once among the first ones,
 * later by a quarter at most, and falls hardly. */
static void learn_rows(double *usual, uint32_t rows, uint32_t known)
{
    const double pace = 1 + 200.0 / (known + 1);
    if (rows > *usual) {
        const double most = known < EARLY_CHANGES ? rows : *usual * oif_exp2(.3 * pace);
        *usual = rows < most ? rows : most;
    } else {
        *usual -= *usual * .00007 * pace;
        *usual = *usual < 1 ? 1 : *usual;
    }
}

/* A run or gap that lasts is news for a while. `enough`: times of the usual one that exceed the
 * bar. */
static void compare_rows(largest *most, double usual, uint32_t rows, double enough, uint32_t column)
{
    const double times = rows / usual;
    if (times > most->times && times > 1 && rows <= usual * enough + PATIENCE)
        *most = (largest){times < OIF_MOST_TIMES ? times : OIF_MOST_TIMES, rows, usual, column, 0};
}

static double enough_times(const oif_watch *watch, double at_usual_size, double per_octave)
{
    return oif_exp2((lowest_bar - at_usual_size + columns_penalty(watch)) / per_octave);
}

static void follow_run(const oif_watch *watch, oif_column_watch *c, uint32_t j, double x,
                       row_sums *sums)
{
    if (x != c->last[0]) {
        if (c->values > 0)
            learn_rows(&c->usual_run, c->run + 1, c->changes);
        c->changes += c->values > 0;
        c->run = 0;
        return;
    }
    c->run += c->run < MOST_COUNTED;
    if (c->changes >= KNOWN_CHANGES && c->run >= c->usual_run)
        compare_rows(&sums->run, c->usual_run, c->run + 1,
                     enough_times(watch, run_at_usual, per_octave_of_run), j);
}

static void follow_gap(const oif_watch *watch, oif_column_watch *c, uint32_t j, row_sums *sums)
{
    c->gap += c->gap < MOST_COUNTED;
    if (c->values >= KNOWN_CHANGES)
        compare_rows(&sums->gap, c->usual_gap, c->gap + 1, enough_times(watch, gap_at_usual, 1), j);
}

/* ---- A column ---- */

static void keep_last(oif_column_watch *c, double x)
{
    memmove(c->last + 1, c->last, (LAGS - 1) * sizeof *c->last);
    c->last[0] = x;
}

static void count_value(oif_column_watch *c)
{
    if (c->values == MOST_COUNTED) {
        c->values /= 2;
        c->changes /= 2;
    }
    c->values++;
}

static void observe_value(oif_watch *watch, uint32_t j, double x, row_sums *sums)
{
    oif_column_watch *c = &watch->column[j];
    watch->unseen -= c->values == 0;
    if (c->values > 0)
        learn_rows(&c->usual_gap, c->gap + 1, c->values);
    c->gap = 0;
    follow_run(watch, c, j, x, sums);
    follow_steps(c, j, x, sums);
    if (c->values < START)
        learn_start(c, x);
    else
        follow_level(c, j, x, sums);
    follow_moves(c, x, sums);
    keep_last(c, x);
    count_value(c);
}

/* ---- Findings ---- */

static oif_finding finding_of(const largest *most, double severity, oif_reason reason)
{
    return (oif_finding){.severity = severity > 0 ? severity : 0,
                         .size = most->size,
                         .usual = most->usual,
                         .reason = reason,
                         .direction = most->direction,
                         .column = most->column};
}

static double severity_of(const largest *most, double at_usual_size, double per_octave,
                          double penalty)
{
    return most->times > 0 ? at_usual_size + per_octave * oif_log2(most->times) - penalty : 0;
}

static void judge_energy(oif_watch *watch, const row_sums *sums, oif_finding *found)
{
    double squares = 0;
    largest most = {.column = sums->furthest_column};
    watch->squares[watch->rows % WINDOW] = sums->levels > 0 ? sums->squares / sums->levels : 0;
    if (watch->rows < OIF_FIRST_ROWS)
        return;
    for (size_t i = 0; i < WINDOW; i++)
        squares += watch->squares[i];
    const double energy = oif_sqrt(squares / WINDOW);
    if (2 * watch->squares[watch->rows % WINDOW] >= energy * energy) /* else it is an echo */
        compare(&most, &watch->energy, energy, most.column, sums->furthest);
    oif_usual_learn(&watch->energy, energy, watch->rows % 4 == 0);
    *found =
        finding_of(&most, severity_of(&most, at_usual, per_octave_of_energy, 0), OIF_REASON_SPREAD);
}

/* A value that is far from its level because it jumped there has the jump for a reason: that says
 * more, and sooner. */
static void judge_change(const row_sums *sums, double penalty, oif_finding *found)
{
    enum { STEP, AMPLITUDE };
    const struct {
        const largest *most;
        double severity;
        oif_reason reason;
    } kinds[] = {
        {&sums->step, severity_of(&sums->step, at_usual, 1, penalty), OIF_REASON_JUMP},
        {&sums->amplitude,
         severity_of(&sums->amplitude, at_usual, per_octave_of_amplitude, penalty),
         OIF_REASON_VALUES},
        {&sums->distance,
         severity_of(&sums->distance, level_at_usual, per_octave_of_level, penalty),
         OIF_REASON_LEVEL},
    };
    size_t best = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].severity > kinds[best].severity)
            best = i;
    const size_t told = best == AMPLITUDE && kinds[STEP].severity > lowest_bar ? STEP : best;
    *found = finding_of(kinds[told].most, kinds[best].severity, kinds[told].reason);
}

static void judge(oif_watch *watch, const row_sums *sums, oif_finding findings[OIF_JUDGES])
{
    const double penalty = columns_penalty(watch),
                 run = severity_of(&sums->run, run_at_usual, per_octave_of_run, penalty),
                 gap = severity_of(&sums->gap, gap_at_usual, 1, penalty);
    judge_change(sums, penalty, &findings[OIF_JUDGE_CHANGE]);
    judge_energy(watch, sums, &findings[OIF_JUDGE_ENERGY]);
    findings[OIF_JUDGE_RUN] = finding_of(&sums->run, run, OIF_REASON_STUCK);
    oif_finding *missing = &findings[OIF_JUDGE_GAP];
    *missing = finding_of(&sums->gap, gap, OIF_REASON_MISSING);
    if (missing->severity > 0) { /* both count the row before, which had a value */
        missing->size--;
        missing->usual--;
    }
}

static void set_moves(oif_watch *watch, const row_sums *sums)
{
    for (size_t i = 0; i < OIF_MOVES; i++)
        watch->moves[i] = sums->moving > 0 ? oif_sqrt(sums->moves[i] / sums->moving) : 1;
    if (sums->moving > 0 && watch->moves_since == 0)
        watch->moves_since = watch->rows;
}

void oif_watch_observe(oif_watch *watch, const double *row, oif_finding findings[OIF_JUDGES])
{
    row_sums sums = {0};
    watch->rows++;
    for (uint32_t j = 0; j < watch->columns; j++) {
        if (row[j] == row[j])
            observe_value(watch, j, row[j], &sums);
        else
            follow_gap(watch, &watch->column[j], j, &sums);
    }
    judge(watch, &sums, findings);
    set_moves(watch, &sums);
}

void oif_watch_pass(oif_watch *watch, const double *row)
{
    for (uint32_t j = 0; j < watch->columns; j++)
        if (row[j] == row[j])
            forget_last(&watch->column[j]);
}

void oif_watch_rewind(oif_watch *watch)
{
    memset(watch->squares, 0, sizeof watch->squares);
    for (size_t j = 0; j < watch->columns; j++) {
        oif_column_watch *c = &watch->column[j];
        forget_last(c);
        c->recent = c->level;
        c->run = c->gap = 0;
    }
}

/* ---- Questions ---- */

/* A detector that has learned only ones needs a while; one that has hardly begun does not. */
bool oif_watch_moves_count(const oif_watch *watch)
{
    return watch->moves_since > 0 && (watch->moves_since <= 2 * MEMORY_ROWS ||
                                      watch->rows - watch->moves_since >= MOVES_LEARNED);
}

static bool knows_level(const oif_column_watch *c)
{
    return c->values >= START;
}

double oif_watch_distance(const oif_watch *watch, size_t column, double value)
{
    const double most = 1e6;
    const oif_column_watch *c = &watch->column[column];
    const double distance = distance_between(value, c->level);
    if (!knows_level(c) || value != value)
        return NAN;
    return distance == 0 ? 0 : distance < most * c->spread ? distance / c->spread : most;
}

int oif_watch_side(const oif_watch *watch, size_t column, double value)
{
    const oif_column_watch *c = &watch->column[column];
    return knows_level(c) ? (value > c->level) - (value < c->level) : 0;
}

static bool range_around(double middle, double distance, double *low, double *high)
{
    *low = middle - distance;
    *high = middle + distance;
    return fabs(*low) <= DBL_MAX && fabs(*high) <= DBL_MAX;
}

bool oif_watch_usual_range(const oif_watch *watch, size_t column, double *low, double *high)
{
    const double distances = 2.7; /* 97 in 100 values, if they are normally distributed */
    const oif_column_watch *c = &watch->column[column];
    return knows_level(c) && range_around(c->level, distances * c->spread, low, high);
}

bool oif_watch_jump_range(const oif_finding *jump, double value, double *low, double *high)
{
    return range_around(value - jump->direction * jump->size, jump->usual, low, high);
}

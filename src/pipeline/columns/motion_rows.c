/* How values move: following rows, learning, judging. motion_fields.c has snapshots and checks. */
#include "pipeline/columns/motion_layout.h"

#include "base/four.h"
#include "base/memory.h"
#include "base/stable_math.h"

#include <math.h>

enum {
    FLUTTER_ROWS = 16,
    SHAPE_EVERY = 8,   /* rows; columns take turns */
    DECIDE_EVERY = 64, /* rows learned; the first time after half as many */
    YOUNG_ROWS = 256   /* of a column that began later than others: too few to know its moves */
};

/* The memory at which a column begins to take part, and ends. */
static const double memory_begins = 0.65, memory_ends = 0.55;

/* Of the rows. The rare changes of a column that is nearly constant say little about its memory. */
static const double seldom = 0.25;

/* After few rows it must be 3.4 standard deviations of what chance gives, so in a shuffled table
 * few columns begin. */
static const double chance = 3.4;

/* ---- Layout ---- */

/* Columns are followed four at a time. The last four may reach into the next array: there are
 * LANES - 1 numbers more at the end. */
enum { LANES = OIF_FOUR };

static oif_motion lay_out(size_t columns)
{
    oif_motion m = {.columns = (uint32_t)columns};
    size_t bytes = oif_size_align(sizeof m);
    size_t fields = oif_size_multiply(columns, OIF_MOTION_FIELDS),
           recent = oif_size_multiply(columns, RECENT_ROWS);
    m.fields_at = oif_size_append(&bytes, oif_size_add(fields, LANES - 1), sizeof(double));
    m.shapes_at = oif_size_append(&bytes, columns, sizeof(oif_shapes));
    m.recent_at = oif_size_append(&bytes, oif_size_add(recent, LANES - 1), sizeof(double));
    m.bytes = bytes;
    return m;
}

size_t oif_motion_bytes(size_t columns)
{
    return lay_out(columns).bytes;
}

static double *recent_row(const oif_motion *m, uint64_t rows_ago)
{
    return recent_of(m) + (m->rows - rows_ago) % RECENT_ROWS * m->columns;
}

void oif_motion_init(oif_motion *motion, size_t columns, oif_motion_mode mode)
{
    *motion = lay_out(columns);
    motion->takes_all = mode == OIF_MOTION_ON;
    for (size_t j = 0; j < columns; j++)
        field_of(motion, OIF_MOTION_LAST)[j] = NAN;
    for (oif_move k = 0; k < OIF_MOVES; k++)
        motion->numbers[k] = motion->usual[k] = 1;
}

/* ---- Four columns ---- */

typedef struct four_columns {
    double *fields; /* of the first of them */
    size_t columns; /* of the row */
    size_t first;
    double learned;       /* rows */
    oif_four_masks exist; /* all but the last four do */
} four_columns;

OIF_INLINE void find_four(const oif_motion *m, size_t first, four_columns *four)
{
    const oif_four_masks numbers = {0, 1, 2, 3};
    four->fields = field_of(m, 0) + first;
    four->columns = m->columns;
    four->first = first;
    four->learned = (double)m->learned;
    four->exist = numbers < (int64_t)(m->columns - first);
}

OIF_INLINE void load(const four_columns *four, uint32_t field, oif_four *into)
{
    oif_four_load(into, four->fields + field * four->columns);
}

OIF_INLINE void store_some(double *at, const oif_four_masks *where, const oif_four *numbers)
{
    oif_four kept;
    oif_four_load(&kept, at);
    oif_four_choose(where, numbers, &kept);
    oif_four_store(at, &kept);
}

OIF_INLINE void store(const four_columns *four, uint32_t field, const oif_four_masks *where,
                      const oif_four *numbers)
{
    store_some(four->fields + field * four->columns, where, numbers);
}

OIF_INLINE void make_positive(oif_four *numbers)
{
    *numbers = (oif_four)((oif_four_masks)*numbers & INT64_MAX);
}

static const oif_four ones = {1, 1, 1, 1};

OIF_INLINE void load_move(const four_columns *four, oif_move move, oif_four *into)
{
    load(four, OIF_MOTION_CHANGE + move, into);
    make_positive(into);
}

/* ---- Observing ---- */

static double bounded(double x)
{
    return x > OIF_MOVES_MOST ? OIF_MOVES_MOST : x < -OIF_MOVES_MOST ? -OIF_MOVES_MOST : x;
}

/* The first value of a column: as if it had always been so. */
static void begin_columns(oif_motion *m, const double *row)
{
    double *last = field_of(m, OIF_MOTION_LAST);
    for (size_t j = 0; j < m->columns; j++) {
        if (last[j] == last[j] || row[j] != row[j])
            continue;
        last[j] = bounded(row[j]);
        for (size_t i = 0; i < RECENT_ROWS; i++)
            recent_of(m)[i * m->columns + j] = last[j];
    }
}

OIF_INLINE void load_values(const four_columns *four, const double *row, oif_four *values)
{
    double last[LANES] = {0};
    if (four->first + LANES <= four->columns) {
        oif_four_load(values, row + four->first);
        return;
    }
    for (size_t j = four->first; j < four->columns; j++)
        last[j - four->first] = row[j];
    oif_four_load(values, last);
}

/* A missing value counts as the one before, but as a jump (relative_moves). */
OIF_INLINE void follow_values(const four_columns *four, const double *row, double *recent)
{
    const oif_four most = (oif_four){0} + OIF_MOVES_MOST, least = -most;
    oif_four x, last;
    load_values(four, row, &x);
    load(four, OIF_MOTION_LAST, &last);
    const oif_four_masks is_missing = x != x, is_high = x > most, is_low = x < least;
    const oif_four missing = (oif_four)(is_missing & (oif_four_masks)ones);
    oif_four_choose(&is_missing, &last, &x);
    oif_four_choose(&is_high, &most, &x);
    oif_four_choose(&is_low, &least, &x);
    const oif_four change = x - last;
    const oif_four_masks is_known = four->exist & (x == x); /* the column has had a value */
    store(four, OIF_MOTION_IS_MISSING, &four->exist, &missing);
    store(four, OIF_MOTION_CHANGE, &is_known, &change);
    store(four, OIF_MOTION_LAST, &is_known, &x);
    store_some(recent + four->first, &is_known, &x);
}

/* The standard deviation of the last values. */
OIF_INLINE void follow_flutter(const four_columns *four, const double *const rows[FLUTTER_ROWS])
{
    oif_four sums = {0}, squares = {0}, values;
    for (uint32_t i = 0; i < FLUTTER_ROWS; i++) {
        oif_four_load(&values, rows[i] + four->first);
        sums += values;
    }
    for (uint32_t i = 0; i < FLUTTER_ROWS; i++) {
        oif_four_load(&values, rows[i] + four->first);
        const oif_four away = values - sums / FLUTTER_ROWS;
        squares += away * away;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        squares[lane] = oif_sqrt(squares[lane] / FLUTTER_ROWS);
    store(four, OIF_MOTION_FLUTTER, &four->exist, &squares);
}

OIF_INLINE void follow_row(oif_motion *m, const double *row)
{
    const double *rows[FLUTTER_ROWS];
    for (uint32_t i = 0; i < FLUTTER_ROWS; i++)
        rows[i] = recent_row(m, i);
    for (size_t j = 0; j < m->columns; j += LANES) {
        four_columns four;
        find_four(m, j, &four);
        follow_values(&four, row, recent_row(m, 0));
        follow_flutter(&four, rows);
    }
}

/* In units of the usual move; 1 if that is unknown. */
OIF_INLINE void relative_moves(const four_columns *four, oif_move move, oif_four *relative)
{
    const oif_four most = ones * most_move;
    oif_four usual, known, missing, missing_share, takes_part;
    load(four, OIF_MOTION_USUAL + move, &usual);
    load(four, OIF_MOTION_KNOWN + OIF_MOVE_JUMP, &known);
    load(four, OIF_MOTION_TAKES_PART, &takes_part);
    load_move(four, move, relative);
    *relative /= usual;
    const oif_four_masks is_most = ~(*relative < most);
    oif_four_choose(&is_most, &most, relative);
    if (move == OIF_MOVE_JUMP) { /* a missing value; less so if that is usual, too */
        load(four, OIF_MOTION_IS_MISSING, &missing);
        load(four, OIF_MOTION_MISSING_SHARE, &missing_share);
        const oif_four jump = 1 + (most_move - 1) * (1 - missing_share);
        const oif_four_masks is_missing = missing > 0;
        oif_four_choose(&is_missing, &jump, relative);
    }
    const oif_four_masks is_new = (known < YOUNG_ROWS) & (known < four->learned - YOUNG_ROWS),
                         is_unknown = is_new | ~((takes_part > 0) & (usual > 0));
    oif_four_choose(&is_unknown, &ones, relative);
}

OIF_INLINE void add_up_moves(oif_motion *m)
{
    double squares[OIF_MOVES] = {0};
    for (size_t j = 0; j < m->columns; j += LANES) {
        four_columns four;
        oif_four relative[OIF_MOVES];
        find_four(m, j, &four);
        for (oif_move k = 0; k < OIF_MOVES; k++) {
            relative_moves(&four, k, &relative[k]);
            relative[k] *= relative[k];
            for (uint32_t i = 0; i < LANES && j + i < m->columns; i++)
                squares[k] += relative[k][i];
        }
    }
    for (oif_move k = 0; k < OIF_MOVES; k++)
        m->numbers[k] = oif_sqrt(squares[k] / m->columns);
}

/* Every second of the last 32 rows. */
static void find_shape_rows(const oif_motion *m, const double *rows[OIF_SHAPE_POINTS])
{
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++)
        rows[i] = recent_row(m, 2 * i);
}

/* The values of a column, less their mean. */
static void read_stretch(const double *const rows[OIF_SHAPE_POINTS], size_t column,
                         double stretch[OIF_SHAPE_POINTS])
{
    double sum = 0;
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++) {
        stretch[i] = rows[i][column];
        sum += stretch[i];
    }
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++)
        stretch[i] -= sum / OIF_SHAPE_POINTS;
}

/* The first column whose shape is judged with the last row; every eighth follows. */
static size_t first_shape(const oif_motion *m)
{
    return (SHAPE_EVERY - m->rows % SHAPE_EVERY) % SHAPE_EVERY;
}

static void follow_shapes(oif_motion *m)
{
    const double *rows[OIF_SHAPE_POINTS];
    find_shape_rows(m, rows);
    for (size_t j = first_shape(m); j < m->columns; j += SHAPE_EVERY) {
        if (field_of(m, OIF_MOTION_TAKES_PART)[j] == 0)
            continue;
        double stretch[OIF_SHAPE_POINTS];
        read_stretch(rows, j, stretch);
        const uint32_t known = (uint32_t)field_of(m, OIF_MOTION_SHAPES_KNOWN)[j];
        const oif_nearest_shape nearest = oif_shapes_nearest(shapes_of(m, j), known, stretch);
        field_of(m, OIF_MOTION_SHAPE_DISTANCE)[j] = nearest.distance;
        field_of(m, OIF_MOTION_NEAREST_SHAPE)[j] = nearest.number;
    }
}

OIF_INLINE void observe(oif_motion *m, const double *row)
{
    follow_row(m, row);
    follow_shapes(m);
    add_up_moves(m);
}

OIF_AVX2 static void observe_avx2(oif_motion *m, const double *row)
{
    observe(m, row);
}

static void observe_portable(oif_motion *m, const double *row)
{
    observe(m, row);
}

void oif_motion_observe(oif_motion *motion, const double *row)
{
    motion->rows++;
    begin_columns(motion, row);
    (oif_machine_has_avx2() ? observe_avx2 : observe_portable)(motion, row);
}

/* ---- Learning ---- */

/* In a period of any length, at most one of them compares a value with one of nearly the same
 * phase. */
static const uint64_t lags[OIF_LAGS] = {12, 31};

OIF_INLINE void learn_mean(const four_columns *four, uint32_t field, const oif_four_masks *where,
                           const oif_four *numbers, const oif_four *rows)
{
    oif_four mean;
    load(four, field, &mean);
    mean += (*numbers - mean) / *rows;
    store(four, field, where, &mean);
}

OIF_INLINE void learn_usual(const four_columns *four, const oif_four_masks *present)
{
    oif_four shapes;
    load(four, OIF_MOTION_SHAPES_KNOWN, &shapes);
    for (oif_move k = 0; k < OIF_MOVES; k++) {
        oif_four known, moves;
        const oif_four_masks where = k == OIF_MOVE_SHAPE ? *present & (shapes > 0) : *present;
        load(four, OIF_MOTION_KNOWN + k, &known);
        known += (oif_four)((known < usual_memory) & (oif_four_masks)ones);
        store(four, OIF_MOTION_KNOWN + k, &where, &known);
        load_move(four, k, &moves);
        learn_mean(four, OIF_MOTION_USUAL + k, &where, &moves, &known);
    }
}

OIF_INLINE void learn_level(const four_columns *four, const oif_four_masks *present,
                            const oif_four *rows)
{
    oif_four last, level;
    load(four, OIF_MOTION_LAST, &last);
    load(four, OIF_MOTION_LEVEL, &level);
    const oif_four_masks is_first = ~(*rows > 1);
    const oif_four away = (oif_four)(~is_first & (oif_four_masks)(last - level)),
                   squares = away * away;
    level += away / *rows;
    oif_four_choose(&is_first, &last, &level);
    store(four, OIF_MOTION_LEVEL, present, &level);
    learn_mean(four, OIF_MOTION_LEVEL_VARIANCE, present, &squares, rows);
}

OIF_INLINE void learn_memory(const four_columns *four, const oif_four_masks *present,
                             const oif_four *rows, const double *older_row, uint32_t lag)
{
    oif_four change, last, older;
    load_move(four, OIF_MOVE_JUMP, &change);
    load(four, OIF_MOTION_LAST, &last);
    oif_four_load(&older, older_row + four->first);
    older = last - older;
    make_positive(&older);
    const oif_four_masks where = *present & (*rows > (double)lags[lag]);
    const oif_four nearer = (oif_four)((change < older) & (oif_four_masks)ones),
                   further = (oif_four)((change > older) & (oif_four_masks)ones);
    learn_mean(four, OIF_MOTION_NEARER + lag, &where, &nearer, rows);
    learn_mean(four, OIF_MOTION_FURTHER + lag, &where, &further, rows);
}

OIF_INLINE void learn_moves(oif_motion *m)
{
    const oif_four memory = ones * usual_memory;
    for (size_t j = 0; j < m->columns; j += LANES) {
        four_columns four;
        oif_four missing, rows;
        find_four(m, j, &four);
        load(&four, OIF_MOTION_IS_MISSING, &missing);
        learn_mean(&four, OIF_MOTION_MISSING_SHARE, &four.exist, &missing, &memory);
        const oif_four_masks present = four.exist & (missing == 0);
        learn_usual(&four, &present);
        load(&four, OIF_MOTION_KNOWN + OIF_MOVE_JUMP, &rows);
        learn_level(&four, &present, &rows);
        for (uint32_t i = 0; i < OIF_LAGS; i++)
            learn_memory(&four, &present, &rows, recent_row(m, lags[i]), i);
    }
}

OIF_AVX2 static void learn_moves_avx2(oif_motion *m)
{
    learn_moves(m);
}

static void learn_moves_portable(oif_motion *m)
{
    learn_moves(m);
}

static void learn_shapes(oif_motion *m)
{
    const double *rows[OIF_SHAPE_POINTS];
    find_shape_rows(m, rows);
    double *known = field_of(m, OIF_MOTION_SHAPES_KNOWN);
    for (size_t j = first_shape(m); j < m->columns; j += SHAPE_EVERY) {
        if (field_of(m, OIF_MOTION_TAKES_PART)[j] == 0 || field_of(m, OIF_MOTION_IS_MISSING)[j] > 0)
            continue;
        const oif_nearest_shape nearest = {field_of(m, OIF_MOTION_SHAPE_DISTANCE)[j],
                                           (uint32_t)field_of(m, OIF_MOTION_NEAREST_SHAPE)[j]};
        const double spread = oif_sqrt(field_of(m, OIF_MOTION_LEVEL_VARIANCE)[j]);
        double stretch[OIF_SHAPE_POINTS];
        read_stretch(rows, j, stretch);
        known[j] = oif_shapes_learn(shapes_of(m, j), (uint32_t)known[j], stretch, nearest, spread,
                                    m->rows / SHAPE_EVERY);
    }
}

/* Memory is from -1 to 1, and 0 if the row before is as far away as older ones. Equal distances do
 * not count. */
static bool has_memory(const oif_motion *m, size_t column, double least)
{
    for (uint32_t i = 0; i < OIF_LAGS; i++) {
        const double nearer = field_of(m, OIF_MOTION_NEARER + i)[column],
                     further = field_of(m, OIF_MOTION_FURTHER + i)[column],
                     compared = nearer + further, memory = (nearer - further) / compared,
                     rows = field_of(m, OIF_MOTION_KNOWN + OIF_MOVE_JUMP)[column] * compared;
        if (memory > least && memory > chance / oif_sqrt(rows) && compared > seldom)
            return true;
    }
    return false;
}

/* Returns whether columns take part after none did. */
static bool decide_on_columns(oif_motion *m)
{
    const uint32_t before = m->with_memory;
    double *takes_part = field_of(m, OIF_MOTION_TAKES_PART);
    m->with_memory = 0;
    for (size_t j = 0; j < m->columns; j++) {
        const double least = takes_part[j] > 0 ? memory_ends : memory_begins;
        takes_part[j] = m->takes_all || has_memory(m, j, least);
        m->with_memory += takes_part[j] > 0;
    }
    const bool begins = before == 0 && m->with_memory > 0;
    m->known = begins ? 0 : m->known;
    return begins;
}

static void learn_numbers(oif_motion *m)
{
    m->known += m->known < usual_memory;
    for (oif_move k = 0; k < OIF_MOVES; k++)
        m->usual[k] += (m->numbers[k] - m->usual[k]) / m->known;
}

bool oif_motion_learn(oif_motion *motion)
{
    motion->learned++;
    learn_numbers(motion);
    (oif_machine_has_avx2() ? learn_moves_avx2 : learn_moves_portable)(motion);
    learn_shapes(motion);
    const bool is_due = motion->learned % DECIDE_EVERY == 0 || motion->learned == DECIDE_EVERY / 2;
    return is_due && decide_on_columns(motion);
}

/* ---- Judging ---- */

void oif_motion_wait(oif_motion *motion)
{
    motion->counts_from = motion->learned + WAIT_ROWS;
}

bool oif_motion_counts(const oif_motion *motion)
{
    return motion->learned >= motion->counts_from;
}

/* ---- Reasons ---- */

static bool is_low(const oif_motion *m, oif_move move)
{
    return m->numbers[move] < m->usual[move];
}

bool oif_motion_is_named(const oif_motion *motion, oif_move move)
{
    return move == OIF_MOVE_FLUTTER || !is_low(motion, move);
}

static double relative_move(const oif_motion *m, oif_move move, size_t column)
{
    four_columns four;
    oif_four relative;
    find_four(m, column, &four);
    relative_moves(&four, move, &relative);
    return relative[0];
}

size_t oif_motion_column(const oif_motion *motion, oif_move move)
{
    const double sign = is_low(motion, move) ? -1 : 1;
    double most = -INFINITY;
    size_t column = 0;
    for (size_t j = 0; j < motion->columns; j++) {
        const double relative = sign * relative_move(motion, move, j);
        if (relative > most && field_of(motion, OIF_MOTION_TAKES_PART)[j] > 0) {
            most = relative;
            column = j;
        }
    }
    return column;
}

int oif_motion_direction(const oif_motion *motion, oif_move move, size_t column)
{
    const double change = field_of(motion, OIF_MOTION_CHANGE)[column],
                 flutter = field_of(motion, OIF_MOTION_FLUTTER)[column];
    switch (move) {
    case OIF_MOVE_JUMP: return (change > 0) - (change < 0);
    case OIF_MOVE_FLUTTER:
        return flutter < field_of(motion, OIF_MOTION_USUAL + OIF_MOVE_FLUTTER)[column] ? -1 : 1;
    case OIF_MOVE_SHAPE:
    case OIF_MOVES: break;
    }
    return 0;
}

bool oif_motion_expected(const oif_motion *motion, size_t column, double *low, double *high)
{
    const double usual_changes = 3; /* few jumps are larger */
    const double before = field_of(motion, OIF_MOTION_LAST)[column] -
                          field_of(motion, OIF_MOTION_CHANGE)[column],
                 most = usual_changes * field_of(motion, OIF_MOTION_USUAL + OIF_MOVE_JUMP)[column];
    *low = before - most;
    *high = before + most;
    return isfinite(*low) && isfinite(*high);
}

bool oif_motion_is_missing(const oif_motion *motion, size_t column)
{
    return field_of(motion, OIF_MOTION_IS_MISSING)[column] > 0;
}

/* ---- What rows change ---- */

/* Columns take turns. */
void oif_motion_unchanged(const oif_motion *motion, const oif_unchanged *unchanged)
{
    for (uint32_t j = 0; j < motion->columns; j++) {
        const uint32_t known = (uint32_t)field_of(motion, OIF_MOTION_SHAPES_KNOWN)[j];
        if (unchanged->rows == 1 && j % SHAPE_EVERY != first_shape(motion))
            oif_unchanged_add(unchanged, shapes_of(motion, j), sizeof(oif_shapes));
        else
            oif_shapes_unchanged(shapes_of(motion, j), known, unchanged);
    }
}

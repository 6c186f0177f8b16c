#include "pipeline/motion.h"

#include "base/block.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "pipeline/shapes.h"

#include <math.h>

enum {
    RECENT_ROWS = 32,
    FLUTTER_ROWS = 16,
    SHAPE_EVERY = 4,   /* rows; columns take turns */
    DECIDE_EVERY = 64, /* rows learned; the first time after half as many */
    WAIT_ROWS = 2048   /* then a detector knows little else but numbers that vary */
};

static const double usual_memory = 1000; /* rows */
static const double most_move = 20;      /* times the usual one */

/* The memory at which a column begins to take part, and ends. */
static const double memory_begins = 0.65, memory_ends = 0.55;

/* Of the rows. The rare changes of a column that is nearly constant say little about its memory. */
static const double seldom = 0.25;

/* After few rows it must be 3.4 standard deviations of what chance gives, so in a shuffled table
 * few columns begin. */
static const double chance = 3.4;

/* ---- Layout ---- */

static oif_motion lay_out(size_t columns)
{
    oif_motion m = {.columns = (uint32_t)columns};
    size_t bytes = oif_size_align(sizeof m);
    m.moves_at = oif_size_append(&bytes, columns, sizeof(oif_column_moves));
    m.shapes_at = oif_size_append(&bytes, columns, sizeof(oif_shapes));
    m.recent_at = oif_size_append(&bytes, oif_size_multiply(columns, RECENT_ROWS), sizeof(double));
    m.no_memory_at = oif_size_append(&bytes, columns, 1);
    m.bytes = bytes;
    return m;
}

size_t oif_motion_bytes(size_t columns)
{
    return lay_out(columns).bytes;
}

static oif_column_moves *moves_of(const oif_motion *m)
{
    return oif_block_part(m, m->moves_at);
}

static oif_shapes *shapes_of(const oif_motion *m, size_t column)
{
    return (oif_shapes *)oif_block_part(m, m->shapes_at) + column;
}

static double *recent_of(const oif_motion *m)
{
    return oif_block_part(m, m->recent_at);
}

static uint8_t *no_memory_of(const oif_motion *m)
{
    return oif_block_part(m, m->no_memory_at);
}

void oif_motion_init(oif_motion *motion, size_t columns, oif_motion_mode mode)
{
    *motion = lay_out(columns);
    motion->takes_all = mode == OIF_MOTION_ON;
    for (size_t j = 0; j < columns; j++) {
        moves_of(motion)[j].last = NAN;
        no_memory_of(motion)[j] = 1;
    }
    for (oif_move k = 0; k < OIF_MOVES; k++)
        motion->numbers[k] = motion->usual[k] = 1;
}

/* ---- Observing ---- */

static double bounded(double x)
{
    return x > OIF_MOVES_MOST ? OIF_MOVES_MOST : x < -OIF_MOVES_MOST ? -OIF_MOVES_MOST : x;
}

static double *recent_value(const oif_motion *m, uint64_t rows_ago, size_t column)
{
    return recent_of(m) + (m->rows - rows_ago) % RECENT_ROWS * m->columns + column;
}

/* The first value of a column: as if it had always been so. */
static void begin_column(oif_motion *m, size_t column, double x)
{
    oif_column_moves *moves = &moves_of(m)[column];
    moves->last = x;
    for (size_t i = 0; i < RECENT_ROWS; i++)
        recent_of(m)[i * m->columns + column] = x;
}

/* The standard deviation of the last values. */
static double flutter_of(const oif_motion *m, size_t column)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < FLUTTER_ROWS; i++)
        sum += *recent_value(m, i, column);
    for (uint32_t i = 0; i < FLUTTER_ROWS; i++) {
        const double away = *recent_value(m, i, column) - sum / FLUTTER_ROWS;
        squares += away * away;
    }
    return oif_sqrt(squares / FLUTTER_ROWS);
}

/* A missing value counts as the one before, but as a jump (relative_move). */
static void follow_value(oif_motion *m, size_t column, double value)
{
    oif_column_moves *moves = &moves_of(m)[column];
    const double x = value == value ? bounded(value) : moves->last;
    moves->is_missing = value != value;
    if (x != x)
        return;
    if (moves->last != moves->last)
        begin_column(m, column, x);
    moves->change = x - moves->last;
    moves->last = x;
    *recent_value(m, 0, column) = x;
    moves->flutter = flutter_of(m, column);
}

/* Every second of the last 32 values, less their mean. */
static void read_stretch(const oif_motion *m, size_t column, double stretch[OIF_SHAPE_POINTS])
{
    double sum = 0;
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++) {
        stretch[i] = *recent_value(m, 2 * i, column);
        sum += stretch[i];
    }
    for (uint32_t i = 0; i < OIF_SHAPE_POINTS; i++)
        stretch[i] -= sum / OIF_SHAPE_POINTS;
}

/* Whether the shape of a column is judged with the last row. */
static bool shape_is_due(const oif_motion *m, size_t column)
{
    return !no_memory_of(m)[column] && (m->rows + column) % SHAPE_EVERY == 0;
}

static void follow_shape(oif_motion *m, size_t column)
{
    double stretch[OIF_SHAPE_POINTS];
    read_stretch(m, column, stretch);
    const oif_nearest_shape nearest = oif_shapes_nearest(shapes_of(m, column), stretch);
    moves_of(m)[column].shape_distance = nearest.distance;
    moves_of(m)[column].nearest_shape = nearest.number;
}

static double move_of(const oif_column_moves *moves, oif_move move)
{
    return move == OIF_MOVE_JUMP      ? fabs(moves->change)
           : move == OIF_MOVE_FLUTTER ? moves->flutter
                                      : moves->shape_distance;
}

/* In units of the usual move; 1 if that is unknown. */
static double relative_move(const oif_motion *m, size_t column, oif_move move)
{
    const oif_column_moves *moves = &moves_of(m)[column];
    const double usual = moves->usual[move];
    if (no_memory_of(m)[column] || !(usual > 0))
        return 1;
    if (move == OIF_MOVE_JUMP && moves->is_missing) /* unless that is usual, too */
        return 1 + (most_move - 1) * (1 - moves->missing_share);
    const double relative = move_of(moves, move) / usual;
    return relative < most_move ? relative : most_move;
}

void oif_motion_observe(oif_motion *motion, const double *row)
{
    double squares[OIF_MOVES] = {0};
    motion->rows++;
    for (size_t j = 0; j < motion->columns; j++) {
        follow_value(motion, j, row[j]);
        if (shape_is_due(motion, j))
            follow_shape(motion, j);
        for (oif_move k = 0; k < OIF_MOVES; k++) {
            const double relative = relative_move(motion, j, k);
            squares[k] += relative * relative;
        }
    }
    for (oif_move k = 0; k < OIF_MOVES; k++)
        motion->numbers[k] = oif_sqrt(squares[k] / motion->columns);
}

/* ---- Learning ---- */

/* In a period of any length, at most one of them compares a value with one of nearly the same
 * phase. */
static const uint64_t lags[OIF_LAGS] = {12, 31};

static void learn_moves(oif_motion *m, size_t column)
{
    oif_column_moves *moves = &moves_of(m)[column];
    const bool knows_shapes = shapes_of(m, column)->uses[0] > 0;
    for (oif_move k = 0; k < (knows_shapes ? OIF_MOVES : OIF_MOVE_SHAPE); k++) {
        moves->known[k] += moves->known[k] < usual_memory;
        moves->usual[k] += (move_of(moves, k) - moves->usual[k]) / moves->known[k];
    }
    const double rows = moves->known[OIF_MOVE_JUMP];
    const double away = rows > 1 ? moves->last - moves->level : 0;
    moves->level = rows > 1 ? moves->level + away / rows : moves->last;
    moves->level_variance += (away * away - moves->level_variance) / rows;
    for (int i = 0; i < OIF_LAGS && rows > (double)lags[i]; i++) {
        const double change = fabs(moves->change),
                     older = fabs(moves->last - *recent_value(m, lags[i], column));
        moves->nearer[i] += ((change < older) - moves->nearer[i]) / rows;
        moves->further[i] += ((change > older) - moves->further[i]) / rows;
    }
}

static void learn_shape(oif_motion *m, size_t column)
{
    const oif_column_moves *moves = &moves_of(m)[column];
    double stretch[OIF_SHAPE_POINTS];
    read_stretch(m, column, stretch);
    oif_shapes_learn(shapes_of(m, column), stretch,
                     (oif_nearest_shape){moves->shape_distance, moves->nearest_shape},
                     oif_sqrt(moves->level_variance), m->rows / SHAPE_EVERY);
}

/* Memory is from -1 to 1, and 0 if the row before is as far away as older ones. Equal distances do
 * not count. */
static bool has_memory(const oif_column_moves *moves, double least)
{
    for (int i = 0; i < OIF_LAGS; i++) {
        const double compared = moves->nearer[i] + moves->further[i],
                     memory = (moves->nearer[i] - moves->further[i]) / compared,
                     rows = moves->known[OIF_MOVE_JUMP] * compared;
        if (memory > least && memory > chance / oif_sqrt(rows) && compared > seldom)
            return true;
    }
    return false;
}

/* Returns whether columns take part after none did. */
static bool decide_on_columns(oif_motion *m)
{
    const uint32_t before = m->with_memory;
    m->with_memory = 0;
    for (size_t j = 0; j < m->columns; j++) {
        uint8_t *no_memory = &no_memory_of(m)[j];
        const oif_column_moves *moves = &moves_of(m)[j];
        *no_memory = !(m->takes_all || has_memory(moves, *no_memory ? memory_begins : memory_ends));
        m->with_memory += !*no_memory;
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
    for (size_t j = 0; j < motion->columns; j++) {
        oif_column_moves *moves = &moves_of(motion)[j];
        moves->missing_share += (moves->is_missing - moves->missing_share) / usual_memory;
        if (moves->is_missing)
            continue;
        learn_moves(motion, j);
        if (shape_is_due(motion, j))
            learn_shape(motion, j);
    }
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

size_t oif_motion_column(const oif_motion *motion, oif_move move)
{
    const double sign = is_low(motion, move) ? -1 : 1;
    double most = -INFINITY;
    size_t column = 0;
    for (size_t j = 0; j < motion->columns; j++) {
        const double relative = sign * relative_move(motion, j, move);
        if (relative > most && !no_memory_of(motion)[j]) {
            most = relative;
            column = j;
        }
    }
    return column;
}

int oif_motion_direction(const oif_motion *motion, oif_move move, size_t column)
{
    const oif_column_moves *moves = &moves_of(motion)[column];
    switch (move) {
    case OIF_MOVE_JUMP: return (moves->change > 0) - (moves->change < 0);
    case OIF_MOVE_FLUTTER: return move_of(moves, move) < moves->usual[move] ? -1 : 1;
    case OIF_MOVE_SHAPE:
    case OIF_MOVES: break;
    }
    return 0;
}

bool oif_motion_is_missing(const oif_motion *motion, size_t column)
{
    return moves_of(motion)[column].is_missing;
}

/* ---- Snapshots ---- */

static void visit_column(oif_column_moves *moves, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "last", &moves->last, 1);
    oif_visit_f64(visitor, "change", &moves->change, 1);
    oif_visit_f64(visitor, "flutter", &moves->flutter, 1);
    oif_visit_f64(visitor, "shape_distance", &moves->shape_distance, 1);
    oif_visit_f64(visitor, "usual", moves->usual, OIF_MOVES);
    oif_visit_f64(visitor, "level", &moves->level, 1);
    oif_visit_f64(visitor, "level_variance", &moves->level_variance, 1);
    oif_visit_f64(visitor, "nearer", moves->nearer, OIF_LAGS);
    oif_visit_f64(visitor, "further", moves->further, OIF_LAGS);
    oif_visit_f64(visitor, "known", moves->known, OIF_MOVES);
    oif_visit_u32(visitor, "nearest_shape", &moves->nearest_shape, 1);
    oif_visit_u32(visitor, "is_missing", &moves->is_missing, 1);
    oif_visit_f64(visitor, "missing_share", &moves->missing_share, 1);
}

void oif_motion_visit_fields(oif_motion *motion, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "with_memory", &motion->with_memory, 1);
    oif_visit_u64(visitor, "rows", &motion->rows, 1);
    oif_visit_u64(visitor, "learned", &motion->learned, 1);
    oif_visit_u64(visitor, "counts_from", &motion->counts_from, 1);
    oif_visit_f64(visitor, "numbers", motion->numbers, OIF_MOVES);
    oif_visit_f64(visitor, "usual_numbers", motion->usual, OIF_MOVES);
    oif_visit_f64(visitor, "numbers_known", &motion->known, 1);
    for (size_t j = 0; j < motion->columns; j++)
        visit_column(&moves_of(motion)[j], visitor);
    for (size_t j = 0; j < motion->columns; j++)
        oif_shapes_visit_fields(shapes_of(motion, j), visitor);
    oif_visit_f64(visitor, "recent", recent_of(motion), (size_t)RECENT_ROWS * motion->columns);
    oif_visit_u8(visitor, "no_memory", no_memory_of(motion), motion->columns);
}

static bool is_within(double x, double least, double most)
{
    return x >= least && x <= most;
}

static bool shares_are_possible(const oif_column_moves *moves)
{
    for (int i = 0; i < OIF_LAGS; i++)
        if (!is_within(moves->nearer[i], 0, 1) || !is_within(moves->further[i], 0, 1))
            return false;
    return true;
}

static bool is_possible_column(const oif_column_moves *moves)
{
    const double most = 2 * OIF_MOVES_MOST;
    for (oif_move k = 0; k < OIF_MOVES; k++)
        if (!is_within(moves->usual[k], 0, most) || !is_within(moves->known[k], 0, usual_memory))
            return false;
    return (moves->last != moves->last || is_within(moves->last, -most, most)) &&
           is_within(moves->change, -most, most) && is_within(moves->flutter, 0, most) &&
           is_within(moves->shape_distance, 0, 2 * most) && is_within(moves->level, -most, most) &&
           is_within(moves->level_variance, 0, most * most) && shares_are_possible(moves) &&
           moves->nearest_shape <= OIF_SHAPES && moves->is_missing <= 1 &&
           is_within(moves->missing_share, 0, 1);
}

oif_status oif_motion_check(const oif_motion *motion, oif_error *error)
{
    const uint8_t *no_memory = no_memory_of(motion);
    uint32_t with_memory = 0;
    for (size_t j = 0; j < motion->columns; j++) {
        if (!is_possible_column(&moves_of(motion)[j]))
            return oif_fail(error, OIF_EINVARIANT, "the moves of a column are not possible");
        if (!oif_shapes_check(shapes_of(motion, j)))
            return oif_fail(error, OIF_EINVARIANT, "the shapes of a column are not possible");
        if (no_memory[j] > 1)
            return oif_fail(error, OIF_EINVARIANT, "a column is neither with nor without memory");
        with_memory += !no_memory[j];
    }
    for (size_t i = 0; i < (size_t)RECENT_ROWS * motion->columns; i++)
        if (!is_within(recent_of(motion)[i], -OIF_MOVES_MOST, OIF_MOVES_MOST))
            return oif_fail(error, OIF_EINVARIANT, "a recent value is out of range");
    for (oif_move k = 0; k < OIF_MOVES; k++)
        if (!is_within(motion->numbers[k], 0, most_move) ||
            !is_within(motion->usual[k], 0, most_move) ||
            !is_within(motion->known, 0, usual_memory))
            return oif_fail(error, OIF_EINVARIANT, "the motion of the last row is not possible");
    if (with_memory != motion->with_memory || motion->learned > motion->rows ||
        motion->counts_from > motion->learned + WAIT_ROWS)
        return oif_fail(error, OIF_EINVARIANT, "the motion counts more columns or rows than exist");
    return OIF_OK;
}

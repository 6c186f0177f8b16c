/* The fields of a motion: snapshots, more columns, and whether they are possible. */
#include "base/error.h"
#include "pipeline/columns/motion_layout.h"

#include <string.h>

/* ---- Snapshots ---- */

/* Arrays of the columns, and what their numbers are between; a last value may be NaN as well. */
static const struct {
    const char *name;
    uint32_t first, count;
    double least, most;
} fields[] = {
    {"last", OIF_MOTION_LAST, 1, -OIF_MOVES_MOST, OIF_MOVES_MOST},
    {"change", OIF_MOTION_CHANGE, 1, -2 * OIF_MOVES_MOST, 2 * OIF_MOVES_MOST},
    {"flutter", OIF_MOTION_FLUTTER, 1, 0, 2 * OIF_MOVES_MOST},
    {"shape_distance", OIF_MOTION_SHAPE_DISTANCE, 1, 0, 4 * OIF_MOVES_MOST},
    {"usual", OIF_MOTION_USUAL, OIF_MOVES, 0, 4 * OIF_MOVES_MOST},
    {"known", OIF_MOTION_KNOWN, OIF_MOVES, 0, usual_memory},
    {"level", OIF_MOTION_LEVEL, 1, -2 * OIF_MOVES_MOST, 2 * OIF_MOVES_MOST},
    {"level_variance", OIF_MOTION_LEVEL_VARIANCE, 1, 0, 4 * OIF_MOVES_MOST *OIF_MOVES_MOST},
    {"nearer", OIF_MOTION_NEARER, OIF_LAGS, 0, 1},
    {"further", OIF_MOTION_FURTHER, OIF_LAGS, 0, 1},
    {"missing_share", OIF_MOTION_MISSING_SHARE, 1, 0, 1},
    {"is_missing", OIF_MOTION_IS_MISSING, 1, 0, 1},
    {"nearest_shape", OIF_MOTION_NEAREST_SHAPE, 1, 0, OIF_SHAPES},
    {"shapes_known", OIF_MOTION_SHAPES_KNOWN, 1, 0, OIF_SHAPES},
    {"takes_part", OIF_MOTION_TAKES_PART, 1, 0, 1},
};

enum { FIELDS = sizeof fields / sizeof *fields };

void oif_motion_visit_fields(oif_motion *motion, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "with_memory", &motion->with_memory, 1);
    oif_visit_u64(visitor, "rows", &motion->rows, 1);
    oif_visit_u64(visitor, "learned", &motion->learned, 1);
    oif_visit_u64(visitor, "counts_from", &motion->counts_from, 1);
    oif_visit_f64(visitor, "numbers", motion->numbers, OIF_MOVES);
    oif_visit_f64(visitor, "usual_numbers", motion->usual, OIF_MOVES);
    oif_visit_f64(visitor, "numbers_known", &motion->known, 1);
    for (size_t i = 0; i < FIELDS; i++)
        oif_visit_f64(visitor, fields[i].name, field_of(motion, fields[i].first),
                      (size_t)fields[i].count * motion->columns);
    for (size_t j = 0; j < motion->columns; j++)
        oif_shapes_visit_fields(shapes_of(motion, j), visitor);
    oif_visit_f64(visitor, "recent", recent_of(motion), (size_t)RECENT_ROWS * motion->columns);
}

/* ---- More columns ---- */

void oif_motion_widen(oif_motion *wide, const oif_motion *motion)
{
    const size_t columns = motion->columns;
    wide->with_memory = motion->with_memory;
    wide->rows = motion->rows;
    wide->learned = motion->learned;
    wide->counts_from = motion->counts_from;
    wide->known = motion->known;
    memcpy(wide->numbers, motion->numbers, sizeof wide->numbers);
    memcpy(wide->usual, motion->usual, sizeof wide->usual);
    for (uint32_t field = 0; field < OIF_MOTION_FIELDS; field++)
        memcpy(field_of(wide, field), field_of(motion, field), columns * sizeof(double));
    memcpy(shapes_of(wide, 0), shapes_of(motion, 0), columns * sizeof(oif_shapes));
    for (size_t i = 0; i < RECENT_ROWS; i++)
        memcpy(recent_of(wide) + i * wide->columns, recent_of(motion) + i * columns,
               columns * sizeof(double));
    for (size_t j = columns; j < wide->columns && motion->rows > 0; j++) {
        field_of(wide, OIF_MOTION_MISSING_SHARE)[j] = motion->learned > 0;
        field_of(wide, OIF_MOTION_IS_MISSING)[j] = 1;
    }
}

/* ---- Checks ---- */

static bool are_within(const double *x, size_t count, double least, double most)
{
    for (size_t i = 0; i < count; i++)
        if (!(x[i] >= least && x[i] <= most))
            return false;
    return true;
}

static bool is_whole(double x)
{
    return x == (double)(uint32_t)x;
}

static bool are_possible_moves(const oif_motion *m, size_t column)
{
    for (size_t i = 0; i < FIELDS; i++)
        for (uint32_t k = 0; k < fields[i].count; k++) {
            const double x = field_of(m, fields[i].first + k)[column];
            if (!are_within(&x, 1, fields[i].least, fields[i].most) &&
                !(fields[i].first == OIF_MOTION_LAST && x != x))
                return false;
        }
    for (oif_move k = 0; k < OIF_MOVES; k++)
        if (!is_whole(field_of(m, OIF_MOTION_KNOWN + k)[column]))
            return false;
    return is_whole(field_of(m, OIF_MOTION_IS_MISSING)[column]) &&
           is_whole(field_of(m, OIF_MOTION_NEAREST_SHAPE)[column]) &&
           is_whole(field_of(m, OIF_MOTION_SHAPES_KNOWN)[column]) &&
           is_whole(field_of(m, OIF_MOTION_TAKES_PART)[column]);
}

oif_status oif_motion_check(const oif_motion *motion, oif_error *error)
{
    uint32_t with_memory = 0;
    for (size_t j = 0; j < motion->columns; j++) {
        if (!are_possible_moves(motion, j))
            return oif_fail(error, OIF_EINVARIANT, "the moves of a column are not possible");
        const uint32_t known = (uint32_t)field_of(motion, OIF_MOTION_SHAPES_KNOWN)[j];
        if (!oif_shapes_check(shapes_of(motion, j), known))
            return oif_fail(error, OIF_EINVARIANT, "the shapes of a column are not possible");
        with_memory += field_of(motion, OIF_MOTION_TAKES_PART)[j] > 0;
    }
    if (!are_within(recent_of(motion), (size_t)RECENT_ROWS * motion->columns, -OIF_MOVES_MOST,
                    OIF_MOVES_MOST))
        return oif_fail(error, OIF_EINVARIANT, "a recent value is out of range");
    if (!are_within(motion->numbers, OIF_MOVES, 0, most_move) ||
        !are_within(motion->usual, OIF_MOVES, 0, most_move) ||
        !are_within(&motion->known, 1, 0, usual_memory) || !is_whole(motion->known))
        return oif_fail(error, OIF_EINVARIANT, "the motion of the last row is not possible");
    if (with_memory != motion->with_memory || motion->learned > motion->rows ||
        motion->counts_from > motion->learned + WAIT_ROWS)
        return oif_fail(error, OIF_EINVARIANT, "the motion counts more columns or rows than exist");
    return OIF_OK;
}

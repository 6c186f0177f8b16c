/* The layout of the block of a motion. Only motion*.c includes this. */
#ifndef OIF_PIPELINE_MOTION_LAYOUT_H
#define OIF_PIPELINE_MOTION_LAYOUT_H

#include "base/block.h"
#include "pipeline/columns/motion.h"
#include "pipeline/columns/shapes.h"

enum {
    RECENT_ROWS = 32,
    WAIT_ROWS = 2048 /* then a detector knows little else but numbers that vary */
};

static const double usual_memory = 1000; /* rows */
static const double most_move = 20;      /* times the usual one */

static inline double *field_of(const oif_motion *m, uint32_t field)
{
    return (double *)oif_block_part(m, m->fields_at) + (size_t)field * m->columns;
}

static inline oif_shapes *shapes_of(const oif_motion *m, size_t column)
{
    return (oif_shapes *)oif_block_part(m, m->shapes_at) + column;
}

static inline double *recent_of(const oif_motion *m)
{
    return oif_block_part(m, m->recent_at);
}

#endif

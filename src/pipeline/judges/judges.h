/* The judges beside the detectors of a model (finding.h): what moved or is stuck (watch.h), a
 * column that no longer follows another one (partner.h), a value that is unusual for its time
 * (season.h). The block has no pointers and may be part of another. */
#ifndef OIF_PIPELINE_JUDGES_JUDGES_H
#define OIF_PIPELINE_JUDGES_JUDGES_H

#include "pipeline/judges/finding.h"
#include "pipeline/judges/partner.h"
#include "pipeline/judges/season.h"
#include "pipeline/judges/watch.h"

enum { OIF_SEASONS_MAX = 3 /* one in rows, two in seconds */ };

typedef struct oif_judges_options {
    uint64_t season_count; /* with the one that is searched for */
    oif_season_options seasons[OIF_SEASONS_MAX];
} oif_judges_options;

/* The head of the block. */
typedef struct oif_judges {
    size_t columns, bytes;
    size_t watch_at, partner_at; /* partner_at is 0 with a single column */
    size_t season_count;
    size_t seasons_at[OIF_SEASONS_MAX];
} oif_judges;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_judges_bytes(size_t columns, const oif_judges_options *options);

/* Initialises judges without rows in a zeroed block of that many bytes. */
void oif_judges_init(oif_judges *judges, size_t columns, const oif_judges_options *options);

oif_watch *oif_judges_watch(const oif_judges *judges);

/* Judges the next row and sets the findings of these judges. The watch learns each row at once: one
 * row hardly changes what is usual. */
void oif_judges_observe(oif_judges *judges, const double *row, double seconds,
                        oif_finding findings[OIF_JUDGES]);

/* Lets the others learn the row observed last, if it counts as normal. */
void oif_judges_learn(oif_judges *judges, const double *row);

/* Skips a row that is neither judged nor learned. */
void oif_judges_pass(oif_judges *judges, const double *row);

/* Before the rows of a finished table are judged that were all observed: what is usual stays known,
 * seasons begin again. */
void oif_judges_rewind(oif_judges *judges, const oif_judges_options *options);

/* The range that the judge of a finding expected of its column in the last row, which is `row`.
 * Returns false if it expects none. */
bool oif_judges_expected(const oif_judges *judges, const oif_finding *found, const double *row,
                         double *low, double *high);

/* The column that a column is compared with; the column itself if there is none. */
size_t oif_judges_partner(const oif_judges *judges, size_t column);

/* A season by its number; NULL if there is none. */
const oif_season *oif_judges_season(const oif_judges *judges, size_t index);

/* Makes judges without rows those of `judges`, which have fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_judges_widen(oif_judges *wide, const oif_judges *judges);

/* Reports parts that the last rows have not changed. */
void oif_judges_unchanged(const oif_judges *judges, const oif_unchanged *unchanged);

void oif_judges_visit_fields(oif_judges *judges, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_judges_check(const oif_judges *judges, oif_error *error);

#endif

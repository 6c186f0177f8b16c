/* The senses of a model. A sense asks a question that no detector asks, and judges rows beside the
 * detectors (judges.h):
 *
 *     stuck      has a column repeated one value longer than it ever did?
 *     partner    does a column still follow another one as it did?
 *     season     is a value unusual for this time of the period?
 *
 * A sense observes every row, and learns those accepted as usual. The block has no pointers and may
 * be part of another.
 */
#ifndef OIF_PIPELINE_SENSES_SENSES_H
#define OIF_PIPELINE_SENSES_SENSES_H

#include "pipeline/senses/season.h"

enum {
    OIF_SEASONS_MAX = 3, /* one in rows, two in seconds */
    OIF_SENSES_MAX = 2 + OIF_SEASONS_MAX
};

typedef struct oif_senses_options {
    uint16_t stuck, partner; /* 0 or 1 */
    uint32_t season_count;   /* with the one that is searched for */
    oif_season_options seasons[OIF_SEASONS_MAX];
} oif_senses_options;

/* What a sense finds unusual about a row. */
typedef struct oif_finding {
    oif_reason reason;
    int direction; /* 1: high, -1: low, 0: neither */
    uint32_t column, partner;
} oif_finding;

/* The head of the block; the senses follow at `at`. */
typedef struct oif_senses {
    size_t columns, bytes;
    uint32_t count;
    oif_reason reasons[OIF_SENSES_MAX];
    size_t at[OIF_SENSES_MAX];
    oif_finding findings[OIF_SENSES_MAX]; /* of the last row */
} oif_senses;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_senses_bytes(size_t columns, const oif_senses_options *options);

/* The number of senses with these options. */
uint32_t oif_senses_count(const oif_senses_options *options);

/* Initialises senses without rows in a zeroed block of that many bytes. */
void oif_senses_init(oif_senses *senses, size_t columns, const oif_senses_options *options);

/* Observes the next row. `evidence` gets one number per sense: 0 if it finds nothing. */
void oif_senses_observe(oif_senses *senses, const double *row, double seconds, double evidence[]);

/* Skips a row that is neither observed nor learned. */
void oif_senses_pass(oif_senses *senses);

/* The range that a sense, by its number, expected of a column of the row observed last, which is
 * `row`. Returns false if it expects nothing. */
bool oif_senses_expected(const oif_senses *senses, uint32_t sense, const double *row, size_t column,
                         double *low, double *high);

/* The column that a column is compared with; the column itself if there is none. */
size_t oif_senses_partner(const oif_senses *senses, size_t column);

/* A season by its number; NULL if there is none. */
const oif_season *oif_senses_season(const oif_senses *senses, size_t index);

/* Learns the row observed last, which is usual. `is_change`: what was unusual has lasted so long
 * that it is accepted. */
void oif_senses_learn(oif_senses *senses, const double *row, bool is_change);

/* Makes senses without rows those of `senses`, which have fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_senses_widen(oif_senses *wide, const oif_senses *senses);

/* Reports parts that the last rows have not changed. */
void oif_senses_unchanged(const oif_senses *senses, const oif_unchanged *unchanged);

void oif_senses_visit_fields(oif_senses *senses, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_senses_check(const oif_senses *senses, oif_error *error);

#endif

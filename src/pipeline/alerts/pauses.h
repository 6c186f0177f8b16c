/* The pauses of a key: when is it silent for too long? The longest pause of recent weeks says so.
 * Times are in seconds; NaN if unknown. Rows without a time have no pauses. */
#ifndef OIF_PIPELINE_ALERTS_PAUSES_H
#define OIF_PIPELINE_ALERTS_PAUSES_H

#include "base/state_visitor.h"
#include "oif.h"

typedef enum oif_silence_state {
    OIF_SILENCE_NONE,
    OIF_SILENCE_REPORTED, /* it was too long */
    OIF_SILENCE_HELD      /* it is too long, and a rule holds that back */
} oif_silence_state;

typedef struct oif_pauses {
    double limit;          /* a pause that is an alert; 0: learned; -1: no pause is */
    double last_seconds;   /* the latest time of a row; NaN before the first */
    double usual_pause;    /* the mean time from row to row */
    double longest_pause;  /* of about the last month */
    uint32_t timed_pauses; /* pauses learned, up to the number averaged over */
    uint32_t silence;      /* an oif_silence_state: the current pause */
} oif_pauses;

void oif_pauses_init(oif_pauses *pauses, double limit);

/* Call it for each row. Sets result->pause. Returns whether the pause was too long. */
bool oif_pauses_arrive(oif_pauses *pauses, double seconds, bool learns, oif_result *result);

/* When the current pause becomes too long, or has done so; +infinity: never, or reported. */
double oif_pauses_deadline(const oif_pauses *pauses);

/* A lower bound of that deadline after a row at `seconds` and any number of rows within half a day
 * after it. */
double oif_pauses_earliest_deadline(const oif_pauses *pauses, double seconds);

/* Visits the fields that rows change. */
void oif_pauses_visit_fields(oif_pauses *pauses, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_pauses_check(const oif_pauses *pauses);

#endif

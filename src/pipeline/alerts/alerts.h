/* Turns the anomalies of one key into alerts: episodes and pauses.
 *
 *     rows      . . . ! . ! ! . . . . . . . . . . . !        ! an anomaly
 *     episode         begins, lasts ... | ends      | within the cooldown: it continues
 *                                       calm rows
 *
 * Times are in seconds; NaN if unknown. Rows without a time have episodes, but no cooldown and no
 * pauses.
 */
#ifndef OIF_PIPELINE_ALERTS_H
#define OIF_PIPELINE_ALERTS_H

#include "base/state_visitor.h"
#include "oif.h"

typedef struct oif_alert_options {
    uint64_t calm; /* rows without an anomaly that end an episode */
    /* An anomaly this soon after an episode continues that episode; 0: never. */
    double cooldown;
    double silence; /* a pause that is an alert; 0: learned; -1: no pause is */
} oif_alert_options;

typedef enum oif_silence_state {
    OIF_SILENCE_NONE,
    OIF_SILENCE_REPORTED, /* it was too long */
    OIF_SILENCE_HELD      /* it is too long, and a rule holds that back */
} oif_silence_state;

typedef struct oif_alerts {
    oif_alert_options options;

    uint32_t in_episode;      /* 1 from the first anomaly of an episode to its end */
    uint32_t calm_rows;       /* since the last anomaly of the episode */
    oif_episode_info episode; /* the current or last one; number 0: none yet */

    double last_seconds;   /* the latest time of a row; NaN before the first */
    double usual_pause;    /* the mean time from row to row */
    double longest_pause;  /* of about the last month */
    uint32_t timed_pauses; /* pauses learned, up to the number averaged over */
    uint32_t silence;      /* an oif_silence_state: the current pause */
} oif_alerts;

void oif_alerts_init(oif_alerts *alerts, const oif_alert_options *options);

/* Call it for each row. Sets result->pause, and result->reason if the pause was too long. */
void oif_alerts_arrive(oif_alerts *alerts, double seconds, bool learns, oif_result *result);

/* Call it once the row is judged; `row` counts the rows of the key from 1. Sets result->episode. */
void oif_alerts_follow(oif_alerts *alerts, uint64_t row, double seconds, oif_result *result);

/* Stores the first reason of the last row, number `row`, if it is the worst row of its episode. */
void oif_alerts_note_reason(oif_alerts *alerts, uint64_t row, const double *values,
                            const oif_attribution *attributions, size_t columns);

/* When the current pause becomes too long, or has done so; +infinity: never, or reported. */
double oif_alerts_deadline(const oif_alerts *alerts);

/* A lower bound of that deadline after a row at `seconds` and any number of rows within half a day
 * after it. */
double oif_alerts_earliest_deadline(const oif_alerts *alerts, double seconds);

/* Visits the fields that rows change. */
void oif_alerts_visit_fields(oif_alerts *alerts, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_alerts_check(const oif_alerts *alerts, uint64_t rows, size_t columns);

#endif

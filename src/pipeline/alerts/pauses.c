#include "pipeline/alerts/pauses.h"

#include <float.h>
#include <math.h>

enum {
    PAUSES_KNOWN = 32,  /* needed before "too long" is defined */
    USUAL_PAUSES = 1024 /* that the usual pause is averaged over */
};

static const double pause_memory = 30 * 86400.; /* seconds after which a pause counts 1/e */

void oif_pauses_init(oif_pauses *pauses, double limit)
{
    *pauses = (oif_pauses){.limit = limit, .last_seconds = NAN};
}

static double allowed_pause(const oif_pauses *p)
{
    if (p->limit != 0)
        return p->limit > 0 ? p->limit : INFINITY;
    if (p->timed_pauses < PAUSES_KNOWN)
        return INFINITY;
    return 2 * p->longest_pause + 3 * p->usual_pause;
}

double oif_pauses_deadline(const oif_pauses *pauses)
{
    if (pauses->silence == OIF_SILENCE_REPORTED || pauses->last_seconds != pauses->last_seconds)
        return INFINITY;
    return pauses->last_seconds + allowed_pause(pauses);
}

/* A pause of t seconds takes at most the share t / pause_memory from the longest one, however many
 * rows divide it: within half a day, a sixtieth. So 1.9 times the longest pause stay allowed. */
double oif_pauses_earliest_deadline(const oif_pauses *pauses, double seconds)
{
    const double half_a_day = 43200, pause = seconds - pauses->last_seconds;
    if (pauses->limit != 0)
        return seconds + allowed_pause(pauses);
    if (pause >= pause_memory || pause <= -pause_memory)
        return seconds;
    const double kept = pause > 0 ? 1 - pause / pause_memory : 1;
    const double allowed = 1.9 * kept * pauses->longest_pause;
    return seconds + (allowed < half_a_day ? allowed : half_a_day);
}

/* Learns even a pause that was too long, or every night would be an alert. Forgets it over weeks,
 * or one outage would hide all shorter ones. */
static void learn_pause(oif_pauses *p, double pause)
{
    p->timed_pauses += p->timed_pauses < USUAL_PAUSES;
    p->usual_pause += (pause - p->usual_pause) / p->timed_pauses;
    p->longest_pause -= p->longest_pause * (pause < pause_memory ? pause / pause_memory : 1);
    if (pause > p->longest_pause)
        p->longest_pause = pause;
}

bool oif_pauses_arrive(oif_pauses *pauses, double seconds, bool learns, oif_result *result)
{
    const double pause = seconds - pauses->last_seconds;
    result->pause = pause >= 0 ? pause : NAN;
    if (seconds != seconds || (pause < 0 && pause > -pause_memory))
        return false; /* a late row says nothing about pauses */
    if (pause < 0) {  /* the previous time was wrong, and so was the pause before it */
        pauses->last_seconds = seconds;
        pauses->timed_pauses = 0;
        pauses->usual_pause = pauses->longest_pause = 0;
        return false;
    }
    const bool is_too_long = pause > allowed_pause(pauses);
    if (pause > 0 && learns) /* rows with the same time say nothing about pauses */
        learn_pause(pauses, pause);
    pauses->last_seconds = seconds;
    pauses->silence = OIF_SILENCE_NONE;
    return is_too_long;
}

/* ---- Snapshots ---- */

void oif_pauses_visit_fields(oif_pauses *p, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "last_seconds", &p->last_seconds, 1);
    oif_visit_f64(visitor, "usual_pause", &p->usual_pause, 1);
    oif_visit_f64(visitor, "longest_pause", &p->longest_pause, 1);
    oif_visit_u32(visitor, "timed_pauses", &p->timed_pauses, 1);
    oif_visit_u32(visitor, "silence", &p->silence, 1);
}

static bool is_pause(double seconds)
{
    return seconds >= 0 && seconds <= DBL_MAX;
}

bool oif_pauses_check(const oif_pauses *p)
{
    return p->silence <= OIF_SILENCE_HELD && p->timed_pauses <= USUAL_PAUSES &&
           (p->last_seconds != p->last_seconds || fabs(p->last_seconds) <= DBL_MAX) &&
           is_pause(p->usual_pause) && is_pause(p->longest_pause);
}

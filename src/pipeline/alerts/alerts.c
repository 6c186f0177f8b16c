#include "pipeline/alerts/alerts.h"

#include <float.h>
#include <math.h>

enum {
    PAUSES_KNOWN = 32,  /* needed before "too long" is defined */
    USUAL_PAUSES = 1024 /* that the usual pause is averaged over */
};

static const double pause_memory = 30 * 86400.; /* seconds after which a pause counts 1/e */

void oif_alerts_init(oif_alerts *alerts, const oif_alert_options *options)
{
    *alerts = (oif_alerts){.options = *options, .last_seconds = NAN};
    alerts->episode.first_seconds = alerts->episode.last_seconds = NAN;
    alerts->episode.value = NAN;
    alerts->episode.column = OIF_UNKNOWN_COLUMN;
}

/* ---- Pauses ---- */

static double allowed_pause(const oif_alerts *a)
{
    if (a->options.silence != 0)
        return a->options.silence > 0 ? a->options.silence : INFINITY;
    if (a->timed_pauses < PAUSES_KNOWN)
        return INFINITY;
    return 2 * a->longest_pause + 3 * a->usual_pause;
}

double oif_alerts_deadline(const oif_alerts *alerts)
{
    if (alerts->silence == OIF_SILENCE_REPORTED || alerts->last_seconds != alerts->last_seconds)
        return INFINITY;
    return alerts->last_seconds + allowed_pause(alerts);
}

/* A pause of t seconds takes at most the share t / pause_memory from the longest one, however many
 * rows divide it: within half a day, a sixtieth. So 1.9 times the longest pause stay allowed. */
double oif_alerts_earliest_deadline(const oif_alerts *alerts, double seconds)
{
    const double half_a_day = 43200, pause = seconds - alerts->last_seconds;
    if (alerts->options.silence != 0)
        return seconds + allowed_pause(alerts);
    if (pause >= pause_memory || pause <= -pause_memory)
        return seconds;
    const double kept = pause > 0 ? 1 - pause / pause_memory : 1;
    const double allowed = 1.9 * kept * alerts->longest_pause;
    return seconds + (allowed < half_a_day ? allowed : half_a_day);
}

/* Learns even a pause that was too long, or every night would be an alert. Forgets it over weeks,
 * or one outage would hide all shorter ones. */
static void learn_pause(oif_alerts *a, double pause)
{
    a->timed_pauses += a->timed_pauses < USUAL_PAUSES;
    a->usual_pause += (pause - a->usual_pause) / a->timed_pauses;
    a->longest_pause -= a->longest_pause * (pause < pause_memory ? pause / pause_memory : 1);
    if (pause > a->longest_pause)
        a->longest_pause = pause;
}

void oif_alerts_arrive(oif_alerts *alerts, double seconds, bool learns, oif_result *result)
{
    double pause = seconds - alerts->last_seconds;
    result->pause = pause >= 0 ? pause : NAN;
    if (seconds != seconds || (pause < 0 && pause > -pause_memory))
        return;      /* a late row says nothing about pauses */
    if (pause < 0) { /* the previous time was wrong, and so was the pause before it */
        alerts->last_seconds = seconds;
        alerts->timed_pauses = 0;
        alerts->usual_pause = alerts->longest_pause = 0;
        return;
    }
    if (pause > allowed_pause(alerts))
        result->reason = OIF_REASON_SILENCE;
    if (pause > 0 && learns) /* rows with the same time say nothing about pauses */
        learn_pause(alerts, pause);
    alerts->last_seconds = seconds;
    alerts->silence = OIF_SILENCE_NONE;
}

/* ---- Episodes ---- */

static bool continues(const oif_alerts *a, double seconds)
{
    return a->episode.number > 0 && a->options.cooldown > 0 &&
           fabs(seconds - a->episode.last_seconds) < a->options.cooldown;
}

static void begin_episode(oif_alerts *a, uint64_t row, double seconds)
{
    a->episode = (oif_episode_info){.number = a->episode.number + 1,
                                    .first_row = row,
                                    .first_seconds = seconds,
                                    .last_seconds = seconds,
                                    .peak_severity = -INFINITY,
                                    .column = OIF_UNKNOWN_COLUMN,
                                    .value = NAN};
}

/* Adds the row to its episode. */
static void count_row(oif_alerts *a, uint64_t row, double seconds, const oif_result *result)
{
    oif_episode_info *episode = &a->episode;
    episode->rows = row - episode->first_row + 1;
    episode->anomalies += result->anomaly;
    if (!(seconds < episode->last_seconds))
        episode->last_seconds = seconds;
    if (!result->anomaly || !(result->severity > episode->peak_severity))
        return;
    episode->peak_row = row;
    episode->peak_severity = result->severity;
    episode->peak_score = result->score;
    episode->peak_grade = result->grade;
    episode->column = OIF_UNKNOWN_COLUMN;
    episode->value = NAN;
    episode->direction = 0;
    episode->reason = result->reason;
}

static oif_episode next_step(oif_alerts *a, uint64_t row, double seconds, bool anomaly)
{
    bool lasted = a->in_episode;
    if (anomaly) {
        bool is_new = !lasted && !continues(a, seconds);
        if (is_new)
            begin_episode(a, row, seconds);
        a->in_episode = 1;
        a->calm_rows = 0;
        return is_new ? OIF_EPISODE_BEGINS : OIF_EPISODE_LASTS;
    }
    if (!lasted)
        return OIF_EPISODE_NONE;
    a->in_episode = ++a->calm_rows < a->options.calm;
    return a->in_episode ? OIF_EPISODE_LASTS : OIF_EPISODE_ENDS;
}

void oif_alerts_follow(oif_alerts *alerts, uint64_t row, double seconds, oif_result *result)
{
    result->episode = next_step(alerts, row, seconds, result->anomaly);
    alerts->episode.is_over = !alerts->in_episode;
    result->episode_grade = OIF_GRADE_NONE;
    if (result->episode == OIF_EPISODE_NONE)
        return;
    result->episode_grade = alerts->episode.peak_grade;
    count_row(alerts, row, seconds, result);
}

void oif_alerts_note_reason(oif_alerts *alerts, uint64_t row, const double *values,
                            const oif_attribution *attributions, size_t columns)
{
    oif_episode_info *episode = &alerts->episode;
    size_t first = 0;
    if (episode->number == 0 || episode->peak_row != row)
        return;
    for (size_t i = 1; i < columns; i++)
        if (attributions[i].share > attributions[first].share)
            first = i;
    if (!(attributions[first].share > 0))
        return;
    episode->column = (uint32_t)first;
    episode->value = values[first];
    episode->direction = attributions[first].direction;
    episode->reason = attributions[first].reason;
}

/* ---- Snapshots ---- */

void oif_alerts_visit_fields(oif_alerts *a, oif_state_visitor *visitor)
{
    oif_episode_info *episode = &a->episode;
    uint32_t grade = (uint32_t)episode->peak_grade, reason = (uint32_t)episode->reason;
    int32_t direction = episode->direction;
    oif_visit_u32(visitor, "in_episode", &a->in_episode, 1);
    oif_visit_u32(visitor, "calm_rows", &a->calm_rows, 1);
    oif_visit_u64(visitor, "episode", &episode->number, 1);
    oif_visit_u64(visitor, "first_row", &episode->first_row, 1);
    oif_visit_u64(visitor, "episode_rows", &episode->rows, 1);
    oif_visit_u64(visitor, "anomalies", &episode->anomalies, 1);
    oif_visit_f64(visitor, "first_seconds", &episode->first_seconds, 1);
    oif_visit_f64(visitor, "last_of_episode", &episode->last_seconds, 1);
    oif_visit_u64(visitor, "peak_row", &episode->peak_row, 1);
    oif_visit_f64(visitor, "peak_score", &episode->peak_score, 1);
    oif_visit_f64(visitor, "peak_severity", &episode->peak_severity, 1);
    oif_visit_u32(visitor, "peak_grade", &grade, 1);
    oif_visit_u32(visitor, "peak_reason", &reason, 1);
    oif_visit_u32(visitor, "peak_column", &episode->column, 1);
    oif_visit_i32(visitor, "peak_direction", &direction, 1);
    oif_visit_f64(visitor, "peak_value", &episode->value, 1);
    oif_visit_f64(visitor, "last_seconds", &a->last_seconds, 1);
    oif_visit_f64(visitor, "usual_pause", &a->usual_pause, 1);
    oif_visit_f64(visitor, "longest_pause", &a->longest_pause, 1);
    oif_visit_u32(visitor, "timed_pauses", &a->timed_pauses, 1);
    oif_visit_u32(visitor, "silence", &a->silence, 1);
    episode->peak_grade = (oif_grade)grade;
    episode->reason = (oif_reason)reason;
    episode->direction = direction;
    episode->is_over = !a->in_episode;
}

static bool is_time(double seconds)
{
    return seconds != seconds || fabs(seconds) <= DBL_MAX;
}

static bool is_pause(double seconds)
{
    return seconds >= 0 && seconds <= DBL_MAX;
}

static bool check_episode(const oif_episode_info *episode, uint64_t rows, size_t columns)
{
    uint64_t last = episode->first_row + episode->rows - 1;
    return episode->first_row > 0 && episode->first_row <= rows && episode->rows > 0 &&
           episode->rows <= rows && last <= rows && episode->anomalies > 0 &&
           episode->anomalies <= episode->rows && episode->peak_row >= episode->first_row &&
           episode->peak_row <= last && (unsigned)episode->peak_grade <= OIF_GRADE_CRITICAL &&
           (unsigned)episode->reason <= OIF_REASON_SHAPE && episode->direction >= -1 &&
           episode->direction <= 1 &&
           (episode->column < columns || episode->column == OIF_UNKNOWN_COLUMN);
}

bool oif_alerts_check(const oif_alerts *alerts, uint64_t rows, size_t columns)
{
    const oif_episode_info *episode = &alerts->episode;
    if (alerts->in_episode > 1 || alerts->silence > OIF_SILENCE_HELD ||
        alerts->timed_pauses > USUAL_PAUSES || !is_time(alerts->last_seconds) ||
        !is_time(episode->first_seconds) || !is_time(episode->last_seconds) ||
        !is_pause(alerts->usual_pause) || !is_pause(alerts->longest_pause))
        return false;
    return episode->number == 0 ? !alerts->in_episode : check_episode(episode, rows, columns);
}

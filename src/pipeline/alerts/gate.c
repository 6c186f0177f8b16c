#include "pipeline/alerts/gate.h"

#include "base/stable_math.h"

#include <math.h>

enum { NEWS_AFTER = OIF_CALM_ROWS /* rows of an episode before a peak begins the next one */ };

/* The cap: what an episode costs, how far the rows can save up, and where it ends. */
static const double cost_without_debt = 1.2, cost_with_debt = 0.5, most_saved = 2,
                    most_overspent = 30, per_episode = 0.1, highest_bar = 16;

/* A debt, the share of what rows earn that pays it back, and where it ends. */
static const double debt_step = 1, debt_share = 0.6, most_debt = 100;

static const double news = 1; /* beyond the peak of an episode */

void oif_gate_init(oif_gate *gate)
{
    *gate = (oif_gate){0};
    gate->episode.first_seconds = gate->episode.last_seconds = NAN;
    gate->episode.value = gate->episode.size = gate->episode.usual = NAN;
    gate->episode.column = OIF_UNKNOWN_COLUMN;
}

/* ---- The bar ---- */

/* Judges that find something often in some streams. */
static bool has_debt(oif_judge judge)
{
    return judge == OIF_JUDGE_RUN || judge == OIF_JUDGE_PARTNER || judge == OIF_JUDGE_SEASON;
}

static double cost_of(oif_judge judge)
{
    return has_debt(judge) ? cost_with_debt : cost_without_debt;
}

double oif_gate_bar(const oif_gate *gate)
{
    const double log2_of_e = 1.4426950408889634;
    const double paid = gate->in_episode ? cost_of((oif_judge)gate->opened_by) : 0,
                 steps = per_episode * (gate->overspent - paid),
                 bar = OIF_LOWEST_BAR + (steps > 0 ? oif_exp2(steps * log2_of_e) - 1 : 0);
    return bar < highest_bar ? bar : INFINITY;
}

double oif_gate_severity(const oif_gate *gate, oif_judge judge, double severity)
{
    const bool is_own = gate->in_episode && gate->opened_by == (uint32_t)judge;
    if (!has_debt(judge))
        return severity;
    const double left = severity - gate->debts[judge] + (is_own ? debt_step : 0);
    return left > 0 ? left : 0;
}

oif_grade oif_grade_of(double severity)
{
    return severity < OIF_WARNING_SEVERITY    ? OIF_GRADE_NOTE
           : severity < OIF_CRITICAL_SEVERITY ? OIF_GRADE_WARNING
                                              : OIF_GRADE_CRITICAL;
}

void oif_gate_earn(oif_gate *gate, double earned)
{
    const double left = gate->overspent - earned, paid = debt_step * debt_share * earned;
    gate->overspent = left > -most_saved ? left : -most_saved;
    for (oif_judge i = 0; i < OIF_JUDGES; i++)
        gate->debts[i] = gate->debts[i] > paid ? gate->debts[i] - paid : 0;
}

/* ---- Episodes ---- */

static void begin_episode(oif_gate *gate, oif_judge judge, uint64_t row, double seconds)
{
    gate->episode = (oif_episode_info){.number = gate->episode.number + 1,
                                       .first_row = row,
                                       .first_seconds = seconds,
                                       .last_seconds = seconds,
                                       .peak_severity = -INFINITY,
                                       .column = OIF_UNKNOWN_COLUMN,
                                       .value = NAN,
                                       .size = NAN,
                                       .usual = NAN};
    gate->opened_by = judge;
    if (gate->overspent < most_overspent)
        gate->overspent += cost_of(judge);
    if (has_debt(judge) && gate->debts[judge] < most_debt)
        gate->debts[judge] += debt_step;
}

/* Adds the row to its episode. */
static void count_row(oif_gate *gate, uint64_t row, double seconds, const oif_result *result)
{
    oif_episode_info *episode = &gate->episode;
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
    episode->value = episode->size = episode->usual = NAN;
    episode->direction = 0;
    episode->reason = result->reason;
}

bool oif_gate_is_news(const oif_gate *gate, uint64_t row, const oif_result *result)
{
    return !gate->in_episode || (row - gate->episode.first_row >= NEWS_AFTER &&
                                 result->severity > gate->episode.peak_severity + news);
}

static oif_episode next_step(oif_gate *gate, oif_judge judge, uint64_t row, double seconds,
                             const oif_result *result)
{
    if (result->anomaly) {
        const bool begins = oif_gate_is_news(gate, row, result);
        if (begins)
            begin_episode(gate, judge, row, seconds);
        gate->in_episode = 1;
        gate->calm_rows = 0;
        return begins ? OIF_EPISODE_BEGINS : OIF_EPISODE_LASTS;
    }
    if (!gate->in_episode)
        return OIF_EPISODE_NONE;
    gate->in_episode = ++gate->calm_rows < OIF_CALM_ROWS;
    return gate->in_episode ? OIF_EPISODE_LASTS : OIF_EPISODE_ENDS;
}

void oif_gate_follow(oif_gate *gate, oif_judge judge, uint64_t row, double seconds,
                     oif_result *result)
{
    result->episode = next_step(gate, judge, row, seconds, result);
    gate->episode.is_over = !gate->in_episode;
    result->episode_grade = OIF_GRADE_NONE;
    if (result->episode == OIF_EPISODE_NONE)
        return;
    result->episode_grade = gate->episode.peak_grade;
    count_row(gate, row, seconds, result);
}

void oif_gate_note_reason(oif_gate *gate, uint64_t row, const double *values,
                          const oif_attribution *attributions, size_t columns)
{
    oif_episode_info *episode = &gate->episode;
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
    episode->size = attributions[first].size;
    episode->usual = attributions[first].usual;
}

/* ---- Snapshots ---- */

void oif_gate_visit_fields(oif_gate *gate, oif_state_visitor *visitor)
{
    oif_episode_info *episode = &gate->episode;
    uint32_t grade = (uint32_t)episode->peak_grade, reason = (uint32_t)episode->reason;
    int32_t direction = episode->direction;
    oif_visit_f64(visitor, "overspent", &gate->overspent, 1);
    oif_visit_f64(visitor, "debts", gate->debts, OIF_JUDGES);
    oif_visit_u32(visitor, "in_episode", &gate->in_episode, 1);
    oif_visit_u32(visitor, "calm_rows", &gate->calm_rows, 1);
    oif_visit_u32(visitor, "opened_by", &gate->opened_by, 1);
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
    oif_visit_f64(visitor, "peak_size", &episode->size, 1);
    oif_visit_f64(visitor, "peak_usual", &episode->usual, 1);
    episode->peak_grade = (oif_grade)grade;
    episode->reason = (oif_reason)reason;
    episode->direction = direction;
    episode->is_over = !gate->in_episode;
}

static bool is_time(double seconds)
{
    return seconds != seconds || fabs(seconds) <= DBL_MAX;
}

static bool check_episode(const oif_episode_info *episode, uint64_t rows, size_t columns)
{
    const uint64_t last = episode->first_row + episode->rows - 1;
    return is_time(episode->first_seconds) && is_time(episode->last_seconds) &&
           episode->first_row > 0 && episode->first_row <= rows && episode->rows > 0 &&
           episode->rows <= rows && last <= rows && episode->anomalies > 0 &&
           episode->anomalies <= episode->rows && episode->peak_row >= episode->first_row &&
           episode->peak_row <= last && (unsigned)episode->peak_grade <= OIF_GRADE_CRITICAL &&
           (unsigned)episode->reason < OIF_REASONS && !isinf(episode->size) &&
           !isinf(episode->usual) && episode->direction >= -1 && episode->direction <= 1 &&
           (episode->column < columns || episode->column == OIF_UNKNOWN_COLUMN);
}

bool oif_gate_could_owe(double overspent)
{
    return overspent >= -most_saved && overspent <= 2 * most_overspent;
}

bool oif_gate_check(const oif_gate *gate, uint64_t rows, size_t columns)
{
    if (!oif_gate_could_owe(gate->overspent) || gate->in_episode > 1 ||
        gate->opened_by >= OIF_JUDGES)
        return false;
    for (oif_judge i = 0; i < OIF_JUDGES; i++)
        if (!(gate->debts[i] >= 0 && gate->debts[i] <= 2 * most_debt))
            return false;
    return gate->episode.number == 0 ? !gate->in_episode
                                     : check_episode(&gate->episode, rows, columns);
}

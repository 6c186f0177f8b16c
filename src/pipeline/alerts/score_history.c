#include "pipeline/alerts/score_history.h"

#include "base/stable_math.h"

#include <math.h>
#include <string.h>

enum { PRECISION = 32 };

static const double whole_group = 0.25; /* a lighter group is merged with the next */
static const double log2_of_e = 1.4426950408889634;

typedef oif_score_history history;

void oif_score_history_init(history *h, double memory)
{
    *h = (history){0};
    oif_score_history_set_memory(h, memory);
}

void oif_score_history_set_memory(history *h, double memory)
{
    h->memory = memory;
    h->decay = oif_exp2(-OIF_HISTORY_PENDING * log2_of_e / memory);
}

/* ---- Grouping ---- */

static void sort_waiting(history *h)
{
    for (uint32_t i = 1; i < h->pending; i++) {
        double score = h->waiting[i];
        uint32_t at = i;
        for (; at > 0 && h->waiting[at - 1] > score; at--)
            h->waiting[at] = h->waiting[at - 1];
        h->waiting[at] = score;
    }
}

/* Old groups and new scores with their weights, highest first. */
typedef struct merged {
    uint32_t count;
    double scores[OIF_HISTORY_GROUPS + OIF_HISTORY_PENDING];
    double weights[OIF_HISTORY_GROUPS + OIF_HISTORY_PENDING];
} merged;

static void merge(const history *h, merged *m)
{
    uint32_t old = h->groups, new = h->pending;
    m->count = 0;
    while (old > 0 || new > 0) {
        bool take_old = new == 0 || (old > 0 && h->scores[old - 1] >= h->waiting[new - 1]);
        if (take_old) {
            double above = old < h->groups ? h->weights[old] : 0;
            old--;
            m->scores[m->count] = h->scores[old];
            m->weights[m->count++] = (h->weights[old] - above) * h->decay;
        } else {
            m->scores[m->count] = h->waiting[--new];
            m->weights[m->count++] = 1;
        }
    }
}

/* Merges neighbours, highest first, as long as a group is a small part of the weight at or above
 * it. Returns the number of groups, which are then at the front of `m` with their own weights. */
static uint32_t group(merged *m, double precision)
{
    double above = 0; /* the weight above the last group */
    uint32_t groups = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (groups > 0) {
            double joint = m->weights[groups - 1] + m->weights[i],
                   apart = m->scores[i] - m->scores[groups - 1];
            if (apart == 0 || joint <= whole_group || joint * precision <= above + joint) {
                m->scores[groups - 1] += apart * (m->weights[i] / joint);
                m->weights[groups - 1] = joint;
                continue;
            }
            above += m->weights[groups - 1];
        }
        m->scores[groups] = m->scores[i];
        m->weights[groups++] = m->weights[i];
    }
    return groups;
}

static void take_in(history *h)
{
    merged m;
    sort_waiting(h);
    merge(h, &m);
    h->pending = 0;
    /* Steadily falling scores could each need their own group: reduce the precision. */
    for (double precision = PRECISION; (m.count = group(&m, precision)) > OIF_HISTORY_GROUPS;)
        precision /= 2;
    h->groups = m.count;
    h->total = 0;
    for (uint32_t i = 0; i < m.count; i++) {
        h->total += m.weights[i];
        h->scores[m.count - 1 - i] = m.scores[i];
        h->weights[m.count - 1 - i] = h->total;
    }
}

void oif_score_history_add(history *h, double score)
{
    h->waiting[h->pending++] = score;
    if (h->pending == OIF_HISTORY_PENDING)
        take_in(h);
}

/* ---- Questions ---- */

/* The first group whose score is at least this one. */
static uint32_t first_as_high(const history *h, double score)
{
    uint32_t low = 0, high = h->groups;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (h->scores[middle] >= score)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double share_of(const history *h, double weight)
{
    return (weight + 1) / (h->total + 1);
}

double oif_score_history_share(const history *h, double score)
{
    uint32_t at = first_as_high(h, score);
    return share_of(h, at < h->groups ? h->weights[at] : 0);
}

double oif_score_history_threshold(const history *h, double rate)
{
    /* Groups before `low` are too common, those from `high` on are not. */
    uint32_t low = 0, high = h->groups;
    if (share_of(h, 0) > rate)
        return INFINITY;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (share_of(h, h->weights[middle]) <= rate)
            high = middle;
        else
            low = middle + 1;
    }
    return low > 0 ? h->scores[low - 1] : -INFINITY;
}

double oif_score_history_at(const history *h, double share)
{
    uint32_t low = 0,
             high = h->groups; /* groups before `low` are as common, those from `high` on not */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (h->weights[middle] >= share * h->total)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? h->scores[low - 1] : -INFINITY;
}

/* ---- Between the groups ---- */

/* The fraction of scores as high as the middle of a group. */
static double middle_share(const history *h, uint32_t group)
{
    double above = group + 1 < h->groups ? h->weights[group + 1] : 0;
    return share_of(h, (h->weights[group] + above) / 2);
}

double oif_score_history_smooth_share(const history *h, double score)
{
    uint32_t at = first_as_high(h, score);
    if (at == 0)
        return h->groups > 0 && score == h->scores[0] ? middle_share(h, 0) : 1;
    double below = middle_share(h, at - 1);
    if (at == h->groups)
        return score == h->scores[at - 1] ? below : share_of(h, 0);
    double part = (score - h->scores[at - 1]) / (h->scores[at] - h->scores[at - 1]);
    return below + (middle_share(h, at) - below) * part;
}

double oif_score_history_smooth_at(const history *h, double share)
{
    uint32_t low = 0, high = h->groups; /* groups before `low` are as common */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (middle_share(h, middle) >= share)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || low == h->groups)
        return h->groups == 0 ? -INFINITY : h->scores[low == 0 ? 0 : low - 1];
    double common = middle_share(h, low - 1), rare = middle_share(h, low);
    double part = (common - share) / (common - rare);
    return h->scores[low - 1] + (h->scores[low] - h->scores[low - 1]) * part;
}

/* ---- Snapshots ---- */

void oif_score_history_visit_fields(history *h, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "total", &h->total, 1);
    oif_visit_u32(visitor, "groups", &h->groups, 1);
    oif_visit_u32(visitor, "pending", &h->pending, 1);
    oif_visit_f64(visitor, "scores", h->scores, OIF_HISTORY_GROUPS);
    oif_visit_f64(visitor, "weights", h->weights, OIF_HISTORY_GROUPS);
    oif_visit_f64(visitor, "waiting", h->waiting, OIF_HISTORY_PENDING);
}

/* The difference of two such scores is finite: groups can be merged. */
static bool is_score(double number)
{
    return fabs(number) <= 0x1p1020;
}

bool oif_score_history_check(const history *h)
{
    if (h->groups > OIF_HISTORY_GROUPS || h->pending >= OIF_HISTORY_PENDING)
        return false;
    for (uint32_t i = 0; i < h->pending; i++)
        if (!is_score(h->waiting[i]))
            return false;
    for (uint32_t i = 0; i < h->groups; i++) {
        double above = i + 1 < h->groups ? h->weights[i + 1] : 0;
        if (!(h->weights[i] > above && h->weights[i] < 0x1p60))
            return false;
        if (!is_score(h->scores[i]) || (i + 1 < h->groups && h->scores[i] > h->scores[i + 1]))
            return false;
    }
    return h->total == (h->groups ? h->weights[0] : 0);
}

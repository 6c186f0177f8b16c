#include "pipeline/alerts/score_history.h"

#include "base/double_bits.h"
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

/* Groups while new scores are merged in, highest first: number 0 has the highest score. They are
 * written over the old groups, from behind, while those are read. No group is written over before
 * it was read, because the first OIF_HISTORY_PENDING groups are in `highest`:
 *
 *     scores    | old groups ...      <- read | free | <- written     highest | 0 to 31 |
 */
typedef struct merging {
    history *h;
    uint32_t groups;
    double score, weight; /* of the last group, which is written once it is closed */
    double above;         /* the weight above the last group */
    double highest_scores[OIF_HISTORY_PENDING], highest_weights[OIF_HISTORY_PENDING];
} merging;

static double *score_at(merging *m, uint32_t group)
{
    return group < OIF_HISTORY_PENDING
               ? &m->highest_scores[group]
               : &m->h->scores[OIF_HISTORY_GROUPS - 1 - (group - OIF_HISTORY_PENDING)];
}

/* Its own weight, without those above. */
static double *weight_at(merging *m, uint32_t group)
{
    return group < OIF_HISTORY_PENDING
               ? &m->highest_weights[group]
               : &m->h->weights[OIF_HISTORY_GROUPS - 1 - (group - OIF_HISTORY_PENDING)];
}

static void close_last(merging *m)
{
    if (m->groups == 0)
        return;
    *score_at(m, m->groups - 1) = m->score;
    *weight_at(m, m->groups - 1) = m->weight;
    m->above += m->weight;
}

/* Adds the next group, which is not higher than the last. They become one as long as that is a
 * small part of the weight at or above it. */
static inline void add_group(merging *m, double score, double weight, double precision)
{
    const double joint = m->weight + weight, apart = score - m->score;
    if (m->groups > 0 &&
        (apart == 0 || joint <= whole_group || joint * precision <= m->above + joint)) {
        m->score += apart * (weight / joint);
        m->weight = joint;
        return;
    }
    close_last(m);
    m->score = score;
    m->weight = weight;
    m->groups++;
}

static void merge(merging *m)
{
    const history *h = m->h;
    uint32_t old = h->groups, new = h->pending;
    double above = 0; /* the weight of the old groups that were read */
    while (old > 0 || new > 0) {
        bool take_old = new == 0 || (old > 0 && h->scores[old - 1] >= h->waiting[new - 1]);
        if (take_old) {
            old--;
            const double score = h->scores[old], with_above = h->weights[old];
            add_group(m, score, (with_above - above) * h->decay, PRECISION);
            above = with_above;
        } else {
            add_group(m, h->waiting[--new], 1, PRECISION);
        }
    }
    close_last(m);
}

/* Groups the groups again. */
static void group_again(merging *m, double precision)
{
    const uint32_t count = m->groups;
    m->groups = 0;
    m->above = 0;
    for (uint32_t i = 0; i < count; i++)
        add_group(m, *score_at(m, i), *weight_at(m, i), precision);
    close_last(m);
}

/* The number of groups may come from a damaged snapshot that has not been checked yet. */
static void clear_unused(history *h)
{
    if (h->groups >= OIF_HISTORY_GROUPS)
        return;
    const size_t unused = OIF_HISTORY_GROUPS - h->groups;
    memset(h->scores + h->groups, 0, unused * sizeof *h->scores);
    memset(h->weights + h->groups, 0, unused * sizeof *h->weights);
}

/* Moves the groups to the front, lowest first, and adds up their weights. What is free becomes
 * blank, so a packed model leaves it out. */
static void store(merging *m)
{
    history *h = m->h;
    const uint32_t groups = m->groups,
                   high = groups < OIF_HISTORY_PENDING ? groups : OIF_HISTORY_PENDING,
                   low = groups - high;
    memmove(h->scores, h->scores + OIF_HISTORY_GROUPS - low, low * sizeof *h->scores);
    memmove(h->weights, h->weights + OIF_HISTORY_GROUPS - low, low * sizeof *h->weights);
    for (uint32_t i = 0; i < high; i++) {
        h->scores[groups - 1 - i] = m->highest_scores[i];
        h->weights[groups - 1 - i] = m->highest_weights[i];
    }
    h->groups = groups;
    clear_unused(h);
    h->total = 0;
    for (uint32_t i = groups; i > 0; i--)
        h->weights[i - 1] = h->total += h->weights[i - 1];
}

static void take_in(history *h)
{
    merging m = {.h = h};
    sort_waiting(h);
    merge(&m);
    h->pending = 0;
    /* Steadily falling scores could each need their own group: reduce the precision. */
    for (double precision = PRECISION / 2.0; m.groups > OIF_HISTORY_GROUPS; precision /= 2)
        group_again(&m, precision);
    store(&m);
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

/* Groups change when enough scores wait, which then are none. */
void oif_score_history_unchanged(const history *h, const oif_unchanged *unchanged)
{
    const uint32_t first = h->pending >= unchanged->rows ? 0 : h->groups;
    const size_t bytes = (OIF_HISTORY_GROUPS - first) * sizeof *h->scores;
    if (first > 0 && unchanged->rows != OIF_ALL_ROWS)
        return;
    oif_unchanged_add(unchanged, h->scores + first, bytes);
    oif_unchanged_add(unchanged, h->weights + first, bytes);
}

/* The difference of two such scores is finite: groups can be merged. */
static bool is_score(double number)
{
    return fabs(number) <= 0x1p1020;
}

/* Whether the numbers of unused groups are blank, to the bit: packed models rely on it
 * (oif_score_history_unchanged). */
static bool is_blank(const double numbers[OIF_HISTORY_GROUPS], uint32_t used)
{
    uint64_t bits = 0;
    for (uint32_t i = used; i < OIF_HISTORY_GROUPS; i++)
        bits |= oif_bits_of_double(numbers[i]);
    return bits == 0;
}

bool oif_score_history_check(const history *h)
{
    if (h->groups > OIF_HISTORY_GROUPS || h->pending >= OIF_HISTORY_PENDING)
        return false;
    for (uint32_t i = 0; i < h->pending; i++)
        if (!is_score(h->waiting[i]))
            return false;
    if (!is_blank(h->scores, h->groups) || !is_blank(h->weights, h->groups))
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

#include "incidents/evidence.h"

#include "base/stable_math.h"

#include <math.h>
#include <string.h>

static const double half_life = 86400, longest_pause = 1e12;
static const double ln2 = 0x1.62e42fefa39efp-1;
/* Before anything is known: one episode in an hour, at times of a resolution of a minute. */
static const double usual_seconds = 3600, usual_step = 60;
static const double least_step = 1, most_step = 300;
static const double exceptions = 0.05;  /* of the members do not have what the others share */
static const double common_share = 0.9; /* from here on a trait says nothing */
static const double most_shares = 4096; /* episodes; then half of them are forgotten */

enum { GAPS_NEEDED = 8 };

void oif_evidence_init(oif_evidence *evidence)
{
    memset(evidence, 0, sizeof *evidence);
    evidence->rate_seconds = evidence->last_begin = NAN;
}

/* ---- Traits ---- */

uint64_t oif_incident_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ next[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29; /* the last bits choose a set */
}

static bool has_trait(const oif_trait *traits, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++)
        if (traits[i].hash == hash)
            return true;
    return false;
}

static size_t add_trait(oif_trait traits[OIF_EVENT_TRAITS_MAX], size_t count, oif_trait_kind kind,
                        const char *text, size_t bytes)
{
    uint64_t hash = oif_incident_hash(UINT64_C(14695981039346656037) + kind, text, bytes);
    if (has_trait(traits, count, hash))
        return count;
    oif_trait *trait = &traits[count];
    *trait = (oif_trait){.hash = hash, .members = 1, .kind = (uint8_t)kind};
    trait->bytes = (uint8_t)(bytes < OIF_TRAIT_TEXT_BYTES ? bytes : OIF_TRAIT_TEXT_BYTES);
    memcpy(trait->text, text, trait->bytes);
    return count + 1;
}

static bool is_separator(char c)
{
    return c == '/' || c == '.' || c == '-' || c == ':';
}

static bool is_number(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && text[i] >= '0' && text[i] <= '9')
        i++;
    return i == bytes;
}

/* "eu/rack-2/host-17" has eu, rack, rack-2, host and host-17: a number alone says nothing. */
static size_t add_key(oif_trait traits[OIF_EVENT_TRAITS_MAX], const char *key, size_t bytes)
{
    size_t count = 0, before = bytes; /* where the trait of the part before begins */
    for (size_t at = 0, parts = 0; at < bytes && parts < OIF_KEY_PARTS_MAX; parts++) {
        while (at < bytes && is_separator(key[at]))
            at++;
        size_t start = at;
        while (at < bytes && !is_separator(key[at]))
            at++;
        if (at == start)
            break;
        if (is_number(key + start, at - start) && before < start)
            start = before;
        count = add_trait(traits, count, OIF_TRAIT_KEY_PART, key + start, at - start);
        before = start;
    }
    return count;
}

size_t oif_traits_of(const oif_incident_event *event, oif_trait traits[OIF_EVENT_TRAITS_MAX])
{
    size_t count = add_key(traits, event->key, event->key ? event->key_bytes : 0);
    if (event->column && *event->column)
        count = add_trait(traits, count, OIF_TRAIT_COLUMN, event->column, strlen(event->column));
    if (event->stream && *event->stream)
        count = add_trait(traits, count, OIF_TRAIT_STREAM, event->stream, strlen(event->stream));
    return count;
}

/* The one that the fewest members have, of several the oldest. */
static oif_trait *rarest(oif_trait_list *list)
{
    oif_trait *found = list->traits;
    for (uint32_t i = 1; i < list->count; i++)
        if (list->traits[i].members < found->members)
            found = &list->traits[i];
    return found;
}

void oif_trait_list_add(oif_trait_list *list, const oif_trait *traits, size_t count)
{
    list->members++;
    for (size_t t = 0; t < count; t++) {
        uint32_t i = 0;
        while (i < list->count && list->traits[i].hash != traits[t].hash)
            i++;
        if (i < list->count)
            list->traits[i].members++;
        else if (list->count < OIF_INCIDENT_TRAITS_MAX)
            list->traits[list->count++] = traits[t];
        else
            *rarest(list) = traits[t];
    }
}

/* ---- Shares ---- */

/* Half an episode more that has the trait: no share is 0, and what all have has the share 1. */
double oif_evidence_share(const oif_evidence *evidence, uint64_t hash)
{
    const size_t set = hash % OIF_SHARE_SETS;
    double weight = 0;
    for (size_t way = 0; way < OIF_SHARE_WAYS; way++)
        if (evidence->weights[set][way] > 0 && evidence->hashes[set][way] == hash)
            weight = evidence->weights[set][way];
    return (weight + 0.5) / (evidence->share_total + 0.5);
}

static void count_trait(oif_evidence *evidence, uint64_t hash, double weight)
{
    const size_t set = hash % OIF_SHARE_SETS;
    double *weights = evidence->weights[set];
    uint64_t *hashes = evidence->hashes[set];
    size_t least = 0, way = 0;
    for (; way < OIF_SHARE_WAYS && !(weights[way] > 0 && hashes[way] == hash); way++)
        if (weights[way] < weights[least])
            least = way;
    if (way == OIF_SHARE_WAYS) {
        way = least;
        weights[way] = 0;
        hashes[way] = hash;
    }
    weights[way] += weight;
}

static void halve_shares(oif_evidence *evidence)
{
    evidence->share_total /= 2;
    for (size_t set = 0; set < OIF_SHARE_SETS; set++)
        for (size_t way = 0; way < OIF_SHARE_WAYS; way++)
            evidence->weights[set][way] /= 2;
}

/* ---- Rates and delays ---- */

void oif_evidence_advance(oif_evidence *evidence, double seconds)
{
    if (isnan(evidence->rate_seconds))
        evidence->rate_seconds = seconds;
    double passed = seconds - evidence->rate_seconds;
    if (!(passed > 0))
        return;
    double kept = oif_exp2(-(passed < longest_pause ? passed : longest_pause) / half_life);
    evidence->counted *= kept;
    evidence->elapsed = evidence->elapsed * kept + half_life / ln2 * (1 - kept);
    evidence->rate_seconds = seconds;
}

static double rate_of(const oif_evidence *evidence)
{
    return (evidence->counted + 1) / (evidence->elapsed + usual_seconds);
}

static double step_of(const oif_evidence *evidence)
{
    double least = most_step;
    if (evidence->gap_count < GAPS_NEEDED)
        return usual_step;
    for (size_t i = 0; i < OIF_GAPS && i < evidence->gap_count; i++)
        if (evidence->gaps[i] < least)
            least = evidence->gaps[i];
    return least > least_step ? least : least_step;
}

oif_delays oif_evidence_delays(const oif_evidence *evidence, double window)
{
    const double step = step_of(evidence);
    return (oif_delays){step, window, 1 / (ln2 * oif_log2((window + step) / step))};
}

double oif_delays_density(const oif_delays *delays, double gap)
{
    return gap <= delays->window ? delays->scale / (gap + delays->step) : 0;
}

/* What a newcomer that has the trait multiplies the weight of the hypothesis with. */
static double gain_of(const oif_evidence *evidence, uint64_t hash)
{
    return (1 - exceptions) / oif_evidence_share(evidence, hash) + exceptions;
}

double oif_evidence_about(const oif_evidence *evidence, const oif_trait_list *list,
                          const oif_trait *trait)
{
    return (double)(trait->members - 1) * oif_log2(gain_of(evidence, trait->hash)) +
           (double)(list->members - trait->members) * oif_log2(exceptions);
}

static double lift_of(const oif_evidence *evidence, const oif_trait_list *list,
                      const oif_newcomer *newcomer)
{
    double about[OIF_INCIDENT_TRAITS_MAX], highest = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        about[i] = oif_evidence_about(evidence, list, &list->traits[i]);
        highest = about[i] > highest ? about[i] : highest;
    }
    double weights = oif_exp2(-highest), sum = weights; /* of the hypothesis: about no trait */
    for (uint32_t i = 0; i < list->count; i++) {
        const uint64_t hash = list->traits[i].hash;
        if (oif_evidence_share(evidence, hash) > common_share)
            continue;
        double weight = oif_exp2(about[i] - highest);
        weights += weight;
        sum += weight * (has_trait(newcomer->traits, newcomer->trait_count, hash)
                             ? gain_of(evidence, hash)
                             : exceptions);
    }
    return sum / weights;
}

/* ---- Odds ---- */

double oif_evidence_odds(const oif_evidence *evidence, const oif_trait_list *list,
                         const oif_newcomer *newcomer, double density)
{
    return density > 0 ? density * lift_of(evidence, list, newcomer) / rate_of(evidence) : 0;
}

void oif_evidence_learn(oif_evidence *evidence, const oif_newcomer *newcomer, double odds)
{
    double weight = 1 / (1 + odds), gap = evidence->rate_seconds - evidence->last_begin;
    if (gap > 0)
        evidence->gaps[evidence->gap_count++ % OIF_GAPS] = gap;
    evidence->last_begin = evidence->rate_seconds;
    evidence->counted += weight;
    evidence->share_total += weight;
    for (size_t i = 0; i < newcomer->trait_count; i++)
        count_trait(evidence, newcomer->traits[i].hash, weight);
    if (evidence->share_total > most_shares)
        halve_shares(evidence);
}

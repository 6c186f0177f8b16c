/* Whether two episodes that begin at about the same time have one cause: the odds of that.
 *
 * Episodes begin by chance, too: at a rate that the feed itself shows, and evenly over keys and
 * columns as far as the feed shows that. So a newcomer belongs to an incident with
 * the odds
 *
 *               density of delays at its gap   x   lift of its traits
 *       odds =  -----------------------------------------------------
 *                      rate of episodes that begin by chance
 *
 *   - Delays: the gap is the time since the last member began. Every order of magnitude of it,
 *     from the resolution of the times to the window, is as likely, so its density is
 *     1 / ((gap + step) ln((window + step) / step)). The step is the shortest of the last gaps
 *     between begins: rows that come every 5 minutes cannot show less.
 *   - Rate: an episode counts with 1 / (1 + odds), its probability to be there by chance, so
 *     incidents do not raise the rate much. One that joins m members at the very moment
 *     of the last of them counts with 1 / (1 + m odds): a thousand hosts that fail at once are not
 *     a rate of chance. Counts and time are forgotten, half of them in a day.
 *   - Traits: the parts of the key, the column and the stream. An incident may be about one of its
 *     traits, or about none. Each of these hypotheses has a weight: each member that has the trait
 *     multiplies it by 1 / share, where `share` of all episodes have it, and each member without it
 *     by 0.05. A trait of nearly all episodes says nothing and is left out. The lift is the
 *     weighted mean of what the hypotheses say about the newcomer.
 *
 * That is Bayes' rule. What was tried and was not better in experiments/incidents: to add up the
 * densities of all members, which makes incidents of many members attract chance, and to compare
 * the severity with that of episodes that joined before. Only IEEE operations are used, so every
 * machine decides alike. */
#ifndef OIF_INCIDENTS_EVIDENCE_H
#define OIF_INCIDENTS_EVIDENCE_H

#include "oif.h"

enum {
    OIF_KEY_PARTS_MAX = 8, /* further parts of a key are no traits */
    OIF_EVENT_TRAITS_MAX = OIF_KEY_PARTS_MAX + 2,
    OIF_INCIDENT_TRAITS_MAX = 48,
    OIF_TRAIT_TEXT_BYTES = 78,
    OIF_SHARE_SETS = 256, /* of traits, by the hash */
    OIF_SHARE_WAYS = 4,
    OIF_GAPS = 16
};

/* Something that episodes can share. */
typedef struct oif_trait {
    uint64_t hash;    /* of its kind and all of its text */
    uint64_t members; /* of the incident, that have it */
    uint8_t kind;     /* an oif_trait_kind */
    uint8_t bytes;
    char text[OIF_TRAIT_TEXT_BYTES]; /* its start */
} oif_trait;

/* The traits of an incident. */
typedef struct oif_trait_list {
    uint64_t members; /* all of the incident, kept or not */
    uint32_t count;
    oif_trait traits[OIF_INCIDENT_TRAITS_MAX];
} oif_trait_list;

/* What is known about episodes that begin by chance. */
typedef struct oif_evidence {
    double counted, elapsed; /* episodes and seconds, both half forgotten */
    double rate_seconds;     /* the time that they are about; NaN: none yet */
    double last_begin;       /* NaN: none yet */
    double gaps[OIF_GAPS];   /* the last ones above 0, in a ring */
    uint64_t gap_count;      /* of all */
    double share_total;      /* episodes that the shares are about */
    uint64_t hashes[OIF_SHARE_SETS][OIF_SHARE_WAYS];
    double weights[OIF_SHARE_SETS][OIF_SHARE_WAYS]; /* 0: not used */
} oif_evidence;

void oif_evidence_init(oif_evidence *evidence);

uint64_t oif_incident_hash(uint64_t hash, const void *bytes, size_t count);

/* Fills in the traits of an episode; returns how many. */
size_t oif_traits_of(const oif_incident_event *event, oif_trait traits[OIF_EVENT_TRAITS_MAX]);

/* Adds those of another member. A rare trait makes room for a new one if there are too many. */
void oif_trait_list_add(oif_trait_list *list, const oif_trait *traits, size_t count);

/* The share of episodes that have a trait, above 0. */
double oif_evidence_share(const oif_evidence *evidence, uint64_t hash);

/* The base-2 logarithm of the weight of the hypothesis that the incident is about this trait; that
 * it is about none has 0. */
double oif_evidence_about(const oif_evidence *evidence, const oif_trait_list *list,
                          const oif_trait *trait);

/* An episode that begins. */
typedef struct oif_newcomer {
    size_t trait_count;
    oif_trait traits[OIF_EVENT_TRAITS_MAX];
} oif_newcomer;

/* The density of delays. */
typedef struct oif_delays {
    double step, window, scale;
} oif_delays;

oif_delays oif_evidence_delays(const oif_evidence *evidence, double window);
double oif_delays_density(const oif_delays *delays, double gap);

/* Lets time pass, and then: the odds of a newcomer, given the density at its gap. */
void oif_evidence_advance(oif_evidence *evidence, double seconds);
double oif_evidence_odds(const oif_evidence *evidence, const oif_trait_list *list,
                         const oif_newcomer *newcomer, double density);

/* Learns that it has begun at the time that was advanced to, with these odds to belong to an
 * incident. */
void oif_evidence_learn(oif_evidence *evidence, const oif_newcomer *newcomer, double odds);

#endif

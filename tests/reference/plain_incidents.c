#include "plain_incidents.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { EPISODES_MAX = 4096, TRAITS_MAX = 12, TEXT_BYTES = 64, WINDOW = 3600, GAPS = 16 };

typedef struct episode {
    double seconds, weight;
    uint64_t incident;
    char traits[TRAITS_MAX][TEXT_BYTES]; /* the first character is the kind */
    int trait_count;
} episode;

struct plain_incidents {
    double start;
    uint64_t incidents;
    int count;
    episode episodes[EPISODES_MAX];
};

plain_incidents *plain_incidents_new(double start)
{
    plain_incidents *made = calloc(1, sizeof *made);
    if (made)
        made->start = start;
    return made;
}

void plain_incidents_free(plain_incidents *incidents)
{
    free(incidents);
}

/* ---- Traits ---- */

static bool has(const episode *e, const char *trait)
{
    for (int i = 0; i < e->trait_count; i++)
        if (strcmp(e->traits[i], trait) == 0)
            return true;
    return false;
}

static void add(episode *e, char kind, const char *text, size_t bytes)
{
    char trait[TEXT_BYTES] = {kind};
    memcpy(trait + 1, text, bytes);
    if (!has(e, trait))
        strcpy(e->traits[e->trait_count++], trait);
}

/* A part that is a number begins where the part before it does. */
static void add_parts(episode *e, const char *key)
{
    const char *before = NULL;
    for (const char *at = key; *at;) {
        const char *start = at + strspn(at, "/.-:");
        size_t bytes = strcspn(start, "/.-:");
        if (bytes == 0)
            break;
        at = start + bytes;
        if (strspn(start, "0123456789") >= bytes && before)
            start = before;
        add(e, 'k', start, (size_t)(at - start));
        before = start;
    }
}

/* ---- Counts over all of the past ---- */

static double rate(const plain_incidents *p, double now)
{
    double counted = 0, day = 86400;
    for (int i = 0; i < p->count; i++)
        counted += p->episodes[i].weight * exp2(-(now - p->episodes[i].seconds) / day);
    return (counted + 1) / (day / log(2) * (1 - exp2(-(now - p->start) / day)) + 3600);
}

static double share(const plain_incidents *p, const char *trait)
{
    double with = 0, all = 0;
    for (int i = 0; i < p->count; i++) {
        all += p->episodes[i].weight;
        with += has(&p->episodes[i], trait) ? p->episodes[i].weight : 0;
    }
    return (with + 0.5) / (all + 0.5);
}

static double step(const plain_incidents *p)
{
    double least = 300;
    int gaps = 0;
    for (int i = p->count - 1; i > 0 && gaps < GAPS; i--) {
        double gap = p->episodes[i].seconds - p->episodes[i - 1].seconds;
        gaps += gap > 0;
        least = gap > 0 ? fmin(least, gap) : least;
    }
    return gaps < 8 ? 60 : fmax(least, 1);
}

/* ---- Odds ---- */

/* The weight of the hypothesis that the incident is about this trait. */
static double weight_of(const plain_incidents *p, uint64_t incident, const char *trait, double gain)
{
    double weight = 1;
    bool is_first = true;
    for (int i = 0; i < p->count; i++) {
        const episode *e = &p->episodes[i];
        if (e->incident != incident)
            continue;
        weight *= !has(e, trait) ? 0.05 : is_first ? 1 : gain;
        is_first = is_first && !has(e, trait);
    }
    return weight;
}

static double lift(const plain_incidents *p, uint64_t incident, const episode *newcomer)
{
    double sum = 1, weights = 1;
    for (int i = 0; i < p->count; i++) {
        const episode *e = &p->episodes[i];
        for (int t = 0; e->incident == incident && t < e->trait_count; t++) {
            bool is_known = false; /* from a member before */
            for (int k = 0; k < i; k++)
                is_known |=
                    p->episodes[k].incident == incident && has(&p->episodes[k], e->traits[t]);
            if (is_known)
                continue;
            if (share(p, e->traits[t]) > 0.9)
                continue;
            double gain = 0.95 / share(p, e->traits[t]) + 0.05,
                   weight = weight_of(p, incident, e->traits[t], gain);
            weights += weight;
            sum += weight * (has(newcomer, e->traits[t]) ? gain : 0.05);
        }
    }
    return sum / weights;
}

static double last_begin(const plain_incidents *p, uint64_t incident)
{
    double last = -INFINITY;
    for (int i = 0; i < p->count; i++)
        if (p->episodes[i].incident == incident)
            last = fmax(last, p->episodes[i].seconds);
    return last;
}

static int members_of(const plain_incidents *p, uint64_t incident)
{
    int members = 0;
    for (int i = 0; i < p->count; i++)
        members += p->episodes[i].incident == incident;
    return members;
}

uint64_t plain_incidents_begin(plain_incidents *p, const char *key, const char *column,
                               double seconds, double *odds)
{
    episode newcomer = {.seconds = seconds};
    int members = 1;
    add_parts(&newcomer, key);
    add(&newcomer, 'c', column, strlen(column));
    *odds = 0;
    for (uint64_t incident = 1; incident <= p->incidents; incident++) {
        double gap = seconds - last_begin(p, incident), s = step(p);
        if (gap > WINDOW)
            continue;
        double here = 1 / ((gap + s) * log((WINDOW + s) / s)) * lift(p, incident, &newcomer) /
                      rate(p, seconds);
        if (here > *odds) {
            *odds = here;
            newcomer.incident = incident;
        }
    }
    if (!(*odds >= 1))
        newcomer.incident = ++p->incidents;
    else if (seconds <= last_begin(p, newcomer.incident))
        members = members_of(p, newcomer.incident);
    newcomer.weight = 1 / (1 + members * *odds);
    p->episodes[p->count++] = newcomer;
    return newcomer.incident;
}

#include "plain_incidents.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, PARTS = 16, TEXT = 64 };

typedef struct plain_episode {
    uint64_t incident;
    double seconds;
    char traits[PARTS][TEXT]; /* the column after a '=', then the parts of the key */
    int count;
} plain_episode;

struct plain_incidents {
    double window;
    uint64_t incidents;
    plain_episode all[MOST];
    int count;
};

plain_incidents *plain_incidents_new(double window)
{
    plain_incidents *made = calloc(1, sizeof *made);
    if (made)
        made->window = window;
    return made;
}

void plain_incidents_free(plain_incidents *incidents)
{
    free(incidents);
}

static void add_parts(plain_episode *one, const char *key)
{
    char copy[TEXT];
    strcpy(copy, key);
    for (char *part = strtok(copy, "/.: "); part; part = strtok(NULL, "/.: ")) {
        bool has_letter = false;
        for (const char *c = part; *c; c++)
            has_letter |= isalpha((unsigned char)*c) != 0;
        if (has_letter)
            strcpy(one->traits[one->count++], part);
    }
}

static bool has(const plain_episode *one, const char *trait)
{
    for (int i = 0; i < one->count; i++)
        if (strcmp(one->traits[i], trait) == 0)
            return true;
    return false;
}

static bool all_have(const plain_incidents *incidents, uint64_t number, const char *trait)
{
    for (int i = 0; i < incidents->count; i++)
        if (incidents->all[i].incident == number && !has(&incidents->all[i], trait))
            return false;
    return true;
}

static bool is_near(const plain_incidents *incidents, uint64_t number, double seconds)
{
    for (int i = 0; i < incidents->count; i++)
        if (incidents->all[i].incident == number &&
            fabs(incidents->all[i].seconds - seconds) <= incidents->window)
            return true;
    return false;
}

uint64_t plain_incidents_begin(plain_incidents *incidents, const char *key, const char *column,
                               double seconds)
{
    plain_episode *one = &incidents->all[incidents->count];
    one->seconds = seconds;
    one->traits[0][0] = '=';
    strcpy(one->traits[0] + 1, column);
    one->count = 1;
    add_parts(one, key);
    for (uint64_t number = incidents->incidents; number > 0 && one->incident == 0; number--)
        for (int i = 0; i < one->count && is_near(incidents, number, seconds); i++)
            if (all_have(incidents, number, one->traits[i]))
                one->incident = number;
    if (one->incident == 0)
        one->incident = ++incidents->incidents;
    incidents->count++;
    return one->incident;
}

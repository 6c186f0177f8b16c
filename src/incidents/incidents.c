#include "incidents/incidents.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/params.h"

#include <math.h>
#include <string.h>

/* ---- Options ---- */

static const oif_param option_list[] = {
    {"max_incidents", "open incidents; beyond that the quietest one is over", OIF_PARAM_INTEGER, 1,
     1024, 64, NULL},
    {"max_members",
     "episodes kept per incident; further ones replace those that have ended, or are only counted",
     OIF_PARAM_INTEGER, 1, 1024, 64, NULL},
    {"window_seconds", "the longest delay after which an episode can join an incident",
     OIF_PARAM_REAL, 1, 1e9, 3600, NULL},
    {"quiet_seconds", "time without an event after which an incident without episodes is over",
     OIF_PARAM_REAL, 0, 1e9, 600, NULL},
    {"stale_seconds", "the same with episodes whose end is missing", OIF_PARAM_REAL, 1, 1e12, 86400,
     NULL},
    {"odds", "odds against a coincidence from which on an episode joins", OIF_PARAM_REAL, 0, 1e9, 1,
     NULL},
};

static const oif_param_table options_table = {
    .name = "incidents",
    .summary = "which episodes begin together",
    .params = option_list,
    .param_count = sizeof option_list / sizeof *option_list,
};

void oif_incidents_options_init(oif_params *options)
{
    oif_params_init_table(options, &options_table);
}

oif_status oif_incidents_options_named(oif_params *options, const char *name, oif_error *error)
{
    if (strcmp(name, options_table.name) != 0)
        return oif_fail(error, OIF_EPARAM, "these are not the options of incidents");
    oif_incidents_options_init(options);
    return OIF_OK;
}

/* ---- Create and free ---- */

static void read_options(oif_incidents *incidents, const oif_params *options)
{
    incidents->options = *options;
    incidents->max_incidents = (uint32_t)oif_params_value(options, "max_incidents");
    incidents->max_members = (uint32_t)oif_params_value(options, "max_members");
    incidents->window = oif_params_value(options, "window_seconds");
    incidents->quiet = oif_params_value(options, "quiet_seconds");
    incidents->stale = oif_params_value(options, "stale_seconds");
    incidents->least_odds = oif_params_value(options, "odds");
}

static oif_incidents *make(const oif_params *options)
{
    const size_t slot_count = 2 * (size_t)oif_params_value(options, "max_incidents"),
                 members = (size_t)oif_params_value(options, "max_members");
    size_t bytes = 0;
    oif_size_append(&bytes, 1, sizeof(oif_incidents));
    size_t slots_at = oif_size_append(&bytes, slot_count, sizeof(oif_incident)),
           members_at = oif_size_append(&bytes, slot_count * members, sizeof(oif_member));
    char *block = oif_memory_new(bytes);
    if (!block)
        return NULL;
    oif_incidents *made = (oif_incidents *)(void *)block;
    *made = (oif_incidents){.now = NAN, .next_due = INFINITY};
    made->slots = (oif_incident *)(void *)(block + slots_at);
    for (size_t i = 0; i < slot_count; i++) {
        made->slots[i] = (oif_incident){.state = OIF_INCIDENT_FREE};
        made->slots[i].members = (oif_member *)(void *)(block + members_at) + i * members;
    }
    oif_evidence_init(&made->evidence);
    read_options(made, options);
    return made;
}

oif_status oif_incidents_new(const oif_params *options, oif_incidents **incidents, oif_error *error)
{
    oif_params usual;
    oif_incidents_options_init(&usual);
    if (!options)
        options = &usual;
    if (options->table != &options_table)
        return oif_fail(error, OIF_EPARAM,
                        "these are not the options of incidents; fill them with "
                        "oif_incidents_options_init");
    oif_status status = oif_params_check(options, error);
    if (status != OIF_OK)
        return status;
    oif_incidents *made = make(options);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "out of memory");
    *incidents = made;
    return OIF_OK;
}

void oif_incidents_free(oif_incidents *incidents)
{
    oif_memory_free(incidents);
}

/* ---- Slots ---- */

/* The incident in a state with the lowest number; NULL: none. */
static oif_incident *oldest(const oif_incidents *incidents, oif_incident_state state)
{
    oif_incident *found = NULL;
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state == state && (!found || i->number < found->number))
            found = i;
    return found;
}

static oif_incident *quietest(const oif_incidents *incidents)
{
    oif_incident *found = NULL;
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state == OIF_INCIDENT_OPEN &&
            (!found || i->last_event < found->last_event ||
             (i->last_event == found->last_event && i->number < found->number)))
            found = i;
    return found;
}

size_t oif_incidents_count(const oif_incidents *incidents)
{
    size_t count = 0;
    for (const oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        count += i->state == OIF_INCIDENT_OPEN;
    return count;
}

/* A slot for one more open incident. */
static oif_incident *take_slot(oif_incidents *incidents)
{
    oif_incident *quiet = quietest(incidents);
    if (quiet && oif_incidents_count(incidents) == incidents->max_incidents)
        quiet->state = OIF_INCIDENT_OVER;
    oif_incident *slot = oldest(incidents, OIF_INCIDENT_FREE);
    return slot ? slot : oldest(incidents, OIF_INCIDENT_OVER);
}

/* ---- Time ---- */

/* The first time of all: sequences before it have nothing in common with times. */
static void start_clock(oif_incidents *incidents, double seconds)
{
    incidents->has_seconds = true;
    incidents->now = incidents->evidence.rate_seconds = seconds;
    incidents->evidence.last_begin = NAN;
}

static double time_of(oif_incidents *incidents, const oif_incident_event *event)
{
    if (isnan(event->seconds))
        return incidents->has_seconds ? incidents->now : (double)event->sequence;
    if (!incidents->has_seconds)
        start_clock(incidents, event->seconds);
    return event->seconds;
}

/* One wrong time must not end all incidents, nor stop the clock until it comes true. So a time far
 * from the clock is in doubt, and moves it only after others in the same direction. */
static const double doubtful_seconds = 7 * 86400.;

static bool is_doubtful(const oif_incidents *incidents, double seconds)
{
    return incidents->has_seconds && fabs(seconds - incidents->now) > doubtful_seconds;
}

static void set_clock(oif_incidents *incidents, double seconds)
{
    const int32_t direction = seconds > incidents->now ? 1 : -1;
    if (is_doubtful(incidents, seconds)) {
        incidents->doubted =
            incidents->doubted * direction > 0 ? incidents->doubted + direction : direction;
        if (incidents->doubted * direction < OIF_AGREEING_TIMES)
            return;
        if (direction < 0) {
            start_clock(incidents, seconds);
            incidents->next_due = -INFINITY; /* what is ahead of it now is over */
        }
        incidents->now = seconds;
    } else if (!(seconds <= incidents->now)) {
        incidents->now = seconds;
    }
    incidents->doubted = 0;
}

/* Whether the time of an incident was wrong, which the times after it show. */
static bool is_far_ahead(const oif_incidents *incidents, const oif_incident *incident)
{
    return incident->last_event > incidents->now && is_doubtful(incidents, incident->last_event);
}

static void find_next_due(oif_incidents *incidents)
{
    incidents->next_due = INFINITY;
    for (const oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state == OIF_INCIDENT_OPEN)
            incidents->next_due =
                is_far_ahead(incidents, i)
                    ? -INFINITY
                    : -oif_higher(-incidents->next_due, -oif_incident_due(incidents, i));
}

/* Frees what was taken, and finds what is over by now. */
static void find_over(oif_incidents *incidents)
{
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++) {
        if (i->state == OIF_INCIDENT_TAKEN)
            i->state = OIF_INCIDENT_FREE;
        else if (i->state == OIF_INCIDENT_OPEN &&
                 (incidents->now >= oif_incident_due(incidents, i) ||
                  (incidents->doubted == 0 && is_far_ahead(incidents, i))))
            i->state = OIF_INCIDENT_OVER;
    }
    find_next_due(incidents);
}

static void pass_time(oif_incidents *incidents, double seconds)
{
    set_clock(incidents, seconds);
    find_over(incidents);
}

void oif_incidents_advance(oif_incidents *incidents, double seconds)
{
    if (!isfinite(seconds))
        return;
    if (!incidents->has_seconds)
        start_clock(incidents, seconds);
    set_clock(incidents, seconds);
    if (incidents->now >= incidents->next_due)
        find_over(incidents);
}

void oif_incidents_finish(oif_incidents *incidents)
{
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state == OIF_INCIDENT_OPEN && i->open == 0)
            i->state = OIF_INCIDENT_OVER;
}

bool oif_incidents_next_over(oif_incidents *incidents, uint64_t *number)
{
    oif_incident *over = oldest(incidents, OIF_INCIDENT_OVER);
    if (!over)
        return false;
    over->state = OIF_INCIDENT_TAKEN;
    *number = over->number;
    return true;
}

/* ---- Starts and ends ---- */

static oif_status check_event(const oif_incident_event *event, oif_error *error)
{
    if (isinf(event->seconds))
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_INFINITE_VALUE,
                                "the time of an event is infinite");
    if (event->key && event->key_bytes > OIF_KEY_MAX_BYTES)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_KEY_TOO_LONG,
                                "a key of %zu bytes is too long; the most are %d", event->key_bytes,
                                OIF_KEY_MAX_BYTES);
    return OIF_OK;
}

/* The open incident that an open episode belongs to; NULL: none. */
static oif_incident *find_member(const oif_incidents *incidents, const oif_member *like,
                                 oif_member **member)
{
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state == OIF_INCIDENT_OPEN && (*member = oif_member_find(i, like)))
            return i;
    return NULL;
}

/* The open incident with the highest odds, of several the oldest; NULL: all have none. */
static oif_incident *likeliest(const oif_incidents *incidents, const oif_newcomer *newcomer,
                               double seconds, double *odds)
{
    oif_incident *found = NULL;
    *odds = 0;
    const oif_delays delays = oif_evidence_delays(&incidents->evidence, incidents->window);
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++) {
        if (i->state != OIF_INCIDENT_OPEN)
            continue;
        double here = oif_evidence_odds(&incidents->evidence, &i->traits, newcomer,
                                        oif_incident_density(i, &delays, seconds));
        if (here > *odds || (found && here == *odds && i->number < found->number)) {
            found = i;
            *odds = here;
        }
    }
    return found;
}

oif_status oif_incidents_begin(oif_incidents *incidents, const oif_incident_event *event,
                               oif_incident_place *place, oif_error *error)
{
    oif_status status = check_event(event, error);
    if (status != OIF_OK)
        return status;
    const double seconds = time_of(incidents, event);
    const oif_member member = oif_member_make(event, seconds);
    oif_newcomer newcomer;
    newcomer.trait_count = oif_traits_of(event, newcomer.traits);
    oif_member *known;
    pass_time(incidents, seconds);
    *place = (oif_incident_place){0};
    oif_incident *to = find_member(incidents, &member, &known);
    if (to) {
        known->severity = oif_higher(known->severity, member.severity);
        to->peak_severity = oif_higher(to->peak_severity, member.severity);
        place->incident = to->number;
        return OIF_OK;
    }
    oif_evidence_advance(&incidents->evidence, incidents->now);
    to = likeliest(incidents, &newcomer, seconds, &place->odds);
    if (!(place->odds >= incidents->least_odds))
        to = NULL;
    const bool is_at_once = to && seconds <= to->last_begin;
    oif_evidence_learn(&incidents->evidence, &newcomer,
                       place->odds * (is_at_once ? (double)to->traits.members : 1));
    place->joins = to != NULL;
    place->is_new = !to;
    if (!to) {
        to = take_slot(incidents);
        if (!to)
            return oif_fail(error, OIF_EINVARIANT, "there is no slot for an incident");
        oif_incident_start(to, ++incidents->incidents);
    }
    oif_trait_list_add(&to->traits, newcomer.traits, newcomer.trait_count);
    oif_incident_add(to, &member, incidents->max_members);
    place->incident = to->number;
    find_next_due(incidents);
    return OIF_OK;
}

oif_status oif_incidents_end(oif_incidents *incidents, const oif_incident_event *event,
                             oif_incident_place *place, oif_error *error)
{
    oif_status status = check_event(event, error);
    if (status != OIF_OK)
        return status;
    const double seconds = time_of(incidents, event);
    const oif_member like = oif_member_make(event, seconds);
    oif_member *member = NULL;
    pass_time(incidents, seconds);
    *place = (oif_incident_place){0};
    oif_incident *of = find_member(incidents, &like, &member);
    if (!of)
        return OIF_OK;
    /* a wrong time of one member must not be that of all */
    member->end_seconds =
        oif_higher(is_doubtful(incidents, seconds) ? incidents->now : seconds, member->seconds);
    member->severity = oif_higher(member->severity, like.severity);
    of->peak_severity = oif_higher(of->peak_severity, like.severity);
    of->last_event = oif_higher(of->last_event, member->end_seconds);
    of->open--;
    place->incident = of->number;
    find_next_due(incidents);
    return OIF_OK;
}

/* ---- Questions ---- */

uint64_t oif_incidents_number(const oif_incidents *incidents, size_t index)
{
    uint64_t number = 0;
    for (size_t k = 0; k <= index; k++) { /* the lowest number above that of the step before */
        uint64_t next = UINT64_MAX;
        for (const oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
            if (i->state == OIF_INCIDENT_OPEN && i->number > number && i->number < next)
                next = i->number;
        if (next == UINT64_MAX)
            return 0;
        number = next;
    }
    return number;
}

static const oif_incident *find(const oif_incidents *incidents, uint64_t number)
{
    for (const oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state != OIF_INCIDENT_FREE && i->number == number)
            return i;
    return NULL;
}

bool oif_incidents_info(const oif_incidents *incidents, uint64_t number, oif_incident_info *info)
{
    const oif_incident *incident = find(incidents, number);
    const oif_trait *shared[OIF_INCIDENT_TRAITS_MAX];
    if (!incident)
        return false;
    *info = (oif_incident_info){
        .number = number,
        .members = incident->traits.members,
        .kept = incident->kept,
        .open = incident->open,
        .worst = oif_incident_worst(incident),
        .shared = oif_incident_shared_traits(incident, &incidents->evidence, shared),
        .first_seconds = incident->first_begin,
        .last_seconds = incident->last_event,
        .peak_severity = incident->peak_severity,
        .is_over = incident->state != OIF_INCIDENT_OPEN};
    return true;
}

bool oif_incidents_member(const oif_incidents *incidents, uint64_t number, size_t index,
                          oif_incident_member *member)
{
    const oif_incident *incident = find(incidents, number);
    if (!incident || index >= incident->kept)
        return false;
    const oif_member *kept = &incident->members[index];
    *member = (oif_incident_member){.stream = kept->stream,
                                    .key = kept->key,
                                    .column = kept->column,
                                    .stream_bytes = kept->stream_bytes,
                                    .key_bytes = kept->key_bytes,
                                    .column_bytes = kept->column_bytes,
                                    .seconds = kept->seconds,
                                    .end_seconds = kept->end_seconds,
                                    .severity = kept->severity,
                                    .episode = kept->episode};
    return true;
}

bool oif_incidents_shared(const oif_incidents *incidents, uint64_t number, size_t index,
                          oif_incident_shared *shared)
{
    const oif_incident *incident = find(incidents, number);
    const oif_trait *traits[OIF_INCIDENT_TRAITS_MAX];
    if (!incident || index >= oif_incident_shared_traits(incident, &incidents->evidence, traits))
        return false;
    *shared = (oif_incident_shared){
        .text = traits[index]->text,
        .bytes = traits[index]->bytes,
        .kind = (oif_trait_kind)traits[index]->kind,
        .members = traits[index]->members,
        .share = oif_evidence_share(&incidents->evidence, traits[index]->hash)};
    return true;
}

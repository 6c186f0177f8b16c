#include "incidents/incidents.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/params.h"

#include <math.h>
#include <string.h>

/* ---- Options ---- */

static const oif_param option_list[] = {
    {"max_members", "episodes of all open incidents; further ones belong to none",
     OIF_PARAM_INTEGER, 1, 65536, 1024, NULL},
    {"window_seconds", "the longest time between the begins of two episodes of an incident",
     OIF_PARAM_REAL, 0, 1e9, 300, NULL},
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

oif_status oif_incidents_new(const oif_params *options, oif_incidents **incidents, oif_error *error)
{
    oif_params usual;
    size_t bytes = 0;
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
    const uint32_t max_members = (uint32_t)oif_params_value(options, "max_members");
    oif_size_append(&bytes, 1, sizeof(oif_incidents));
    const size_t members_at = oif_size_append(&bytes, max_members, sizeof(oif_member));
    char *block = oif_memory_new(bytes);
    if (!block)
        return oif_fail(error, OIF_EMEMORY, "out of memory");
    *incidents = (oif_incidents *)(void *)block;
    **incidents = (oif_incidents){.options = *options,
                                  .max_members = max_members,
                                  .window = oif_params_value(options, "window_seconds"),
                                  .members = (oif_member *)(void *)(block + members_at)};
    return OIF_OK;
}

void oif_incidents_free(oif_incidents *incidents)
{
    oif_memory_free(incidents);
}

/* ---- Members ---- */

/* Cut between two characters of UTF-8. */
static uint8_t copy_text(char *to, size_t most, const char *text, size_t bytes)
{
    if (!text)
        return 0;
    if (bytes > most)
        for (bytes = most; bytes + 4 > most && ((unsigned char)text[bytes] & 0xc0) == 0x80;)
            bytes--;
    memcpy(to, text, bytes);
    return (uint8_t)bytes;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

/* A stream ends with a byte of 0: "ab" and "c" differ from "a" and "bc". */
static uint64_t hash_of(const oif_incident_event *event)
{
    const char *stream = event->stream ? event->stream : "";
    const uint64_t hash = hash_bytes(UINT64_C(14695981039346656037), stream, strlen(stream) + 1);
    return hash_bytes(hash, event->key, event->key ? event->key_bytes : 0);
}

static void take_reason(oif_member *member, const oif_incident_event *event)
{
    const char *reason = event->reason;
    member->reason_bytes =
        copy_text(member->reason, OIF_INCIDENT_REASON_BYTES, reason, reason ? strlen(reason) : 0);
}

static oif_member make_member(const oif_incident_event *event, double seconds)
{
    const char *stream = event->stream, *column = event->column;
    oif_member made = {.episode = event->episode,
                       .hash = hash_of(event),
                       .seconds = seconds,
                       .end_seconds = NAN,
                       .severity = isfinite(event->severity) ? event->severity : 0};
    made.stream_bytes =
        copy_text(made.stream, OIF_INCIDENT_TEXT_BYTES, stream, stream ? strlen(stream) : 0);
    made.key_bytes = copy_text(made.key, OIF_INCIDENT_TEXT_BYTES, event->key, event->key_bytes);
    made.column_bytes =
        copy_text(made.column, OIF_INCIDENT_TEXT_BYTES, column, column ? strlen(column) : 0);
    take_reason(&made, event);
    return made;
}

static bool is_same_text(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0;
}

/* The open episode; NULL: it is not known. */
static oif_member *find_open(const oif_incidents *incidents, const oif_member *like)
{
    for (oif_member *m = incidents->members; m < incidents->members + incidents->count; m++)
        if (m->hash == like->hash && m->episode == like->episode && isnan(m->end_seconds) &&
            is_same_text(m->key, m->key_bytes, like->key, like->key_bytes) &&
            is_same_text(m->stream, m->stream_bytes, like->stream, like->stream_bytes))
            return m;
    return NULL;
}

/* The member of an incident that comes after another; NULL: the first, or none. */
static const oif_member *next_member(const oif_incidents *incidents, uint64_t number,
                                     const oif_member *after)
{
    const oif_member *m = after ? after + 1 : incidents->members;
    while (m < incidents->members + incidents->count && m->incident != number)
        m++;
    return m < incidents->members + incidents->count ? m : NULL;
}

/* ---- What members share ---- */

static bool is_separator(char c)
{
    return c == '/' || c == '.' || c == ':' || c == ' ';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The next part of a key, from *at on: what is between separators and has a letter. */
static bool next_part(const oif_member *member, size_t *at, oif_incident_shared *part)
{
    bool has_letter = false;
    while (*at < member->key_bytes && !has_letter) {
        const size_t first = *at;
        for (; *at < member->key_bytes && !is_separator(member->key[*at]); ++*at)
            has_letter |= is_letter(member->key[*at]);
        *part = (oif_incident_shared){.text = member->key + first, .bytes = *at - first};
        *at += *at < member->key_bytes;
    }
    return has_letter;
}

static bool has(const oif_member *member, const oif_incident_shared *what)
{
    oif_incident_shared part;
    size_t at = 0;
    if (what->is_column)
        return is_same_text(member->column, member->column_bytes, what->text, what->bytes);
    while (next_part(member, &at, &part))
        if (is_same_text(part.text, part.bytes, what->text, what->bytes))
            return true;
    return false;
}

static bool all_have(const oif_incidents *incidents, uint64_t number,
                     const oif_incident_shared *what)
{
    const oif_member *m = NULL;
    while ((m = next_member(incidents, number, m)))
        if (!has(m, what))
            return false;
    return true;
}

/* What one member shares with all of an incident, from index 0 on. */
static bool find_shared(const oif_incidents *incidents, uint64_t number, const oif_member *one,
                        size_t index, oif_incident_shared *shared)
{
    size_t at = 0;
    *shared =
        (oif_incident_shared){.text = one->column, .bytes = one->column_bytes, .is_column = true};
    if (one->column_bytes > 0 && all_have(incidents, number, shared) && index-- == 0)
        return true;
    while (next_part(one, &at, shared))
        if (all_have(incidents, number, shared) && index-- == 0)
            return true;
    return false;
}

/* The newest incident below a number with a begin that is near; 0: none. */
static uint64_t find_near(const oif_incidents *incidents, const oif_member *one, uint64_t below)
{
    uint64_t found = 0;
    for (const oif_member *m = incidents->members; m < incidents->members + incidents->count; m++)
        if (m->incident < below && m->incident > found &&
            fabs(m->seconds - one->seconds) <= incidents->window &&
            is_same_text(m->stream, m->stream_bytes, one->stream, one->stream_bytes))
            found = m->incident;
    return found;
}

static uint64_t find_incident(const oif_incidents *incidents, const oif_member *one)
{
    oif_incident_shared shared;
    uint64_t number = UINT64_MAX;
    while ((number = find_near(incidents, one, number)) != 0)
        if (find_shared(incidents, number, one, 0, &shared))
            return number;
    return 0;
}

/* ---- Events ---- */

static oif_status start_event(oif_incidents *incidents, const oif_incident_event *event,
                              oif_incident_place *place, oif_error *error)
{
    if (isinf(event->seconds))
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_INFINITE_VALUE,
                                "the time of an event is infinite");
    if (event->key && event->key_bytes > OIF_KEY_MAX_BYTES)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_KEY_TOO_LONG,
                                "a key of %zu bytes is too long; the most are %d", event->key_bytes,
                                OIF_KEY_MAX_BYTES);
    uint32_t kept = 0;
    for (uint32_t i = 0; incidents->over != 0 && i < incidents->count; i++)
        if (incidents->members[i].incident != incidents->over)
            incidents->members[kept++] = incidents->members[i];
    incidents->count = incidents->over != 0 ? kept : incidents->count;
    incidents->over = 0;
    incidents->now = isnan(event->seconds) ? incidents->now : event->seconds;
    *place = (oif_incident_place){0};
    return OIF_OK;
}

static void worsen(oif_member *known, const oif_member *now, const oif_incident_event *event)
{
    if (!(now->severity > known->severity))
        return;
    known->severity = now->severity;
    if (event->reason && *event->reason)
        take_reason(known, event);
}

static double peak_of(const oif_incidents *incidents, uint64_t number)
{
    oif_incident_info info;
    return oif_incidents_info(incidents, number, &info) ? info.peak_severity : 0;
}

oif_status oif_incidents_begin(oif_incidents *incidents, const oif_incident_event *event,
                               oif_incident_place *place, oif_error *error)
{
    oif_status status = start_event(incidents, event, place, error);
    if (status != OIF_OK)
        return status;
    oif_member member = make_member(event, incidents->now);
    oif_member *known = find_open(incidents, &member);
    member.incident = known ? known->incident : find_incident(incidents, &member);
    place->peak_before = peak_of(incidents, member.incident);
    if (known) {
        worsen(known, &member, event);
        place->incident = known->incident;
    } else if (incidents->count < incidents->max_members) {
        place->is_new = member.incident == 0;
        place->joins = !place->is_new;
        if (place->is_new)
            member.incident = ++incidents->incidents;
        incidents->members[incidents->count++] = member;
        place->incident = member.incident;
    }
    return OIF_OK;
}

oif_status oif_incidents_end(oif_incidents *incidents, const oif_incident_event *event,
                             oif_incident_place *place, oif_error *error)
{
    oif_status status = start_event(incidents, event, place, error);
    if (status != OIF_OK)
        return status;
    const oif_member like = make_member(event, incidents->now);
    oif_member *known = find_open(incidents, &like);
    if (!known)
        return OIF_OK;
    oif_incident_info info;
    place->incident = known->incident;
    place->peak_before = peak_of(incidents, known->incident);
    known->end_seconds = like.seconds > known->seconds ? like.seconds : known->seconds;
    worsen(known, &like, event);
    oif_incidents_info(incidents, known->incident, &info);
    place->is_over = info.is_over;
    incidents->over = info.is_over ? known->incident : 0;
    return OIF_OK;
}

/* ---- Questions ---- */

uint64_t oif_incidents_number(const oif_incidents *incidents, size_t index)
{
    uint64_t number = 0;
    for (const oif_member *m = incidents->members; m < incidents->members + incidents->count; m++)
        if (m->incident > number && m->incident != incidents->over) { /* its first member */
            number = m->incident;
            if (index-- == 0)
                return number;
        }
    return 0;
}

bool oif_incidents_info(const oif_incidents *incidents, uint64_t number, oif_incident_info *info)
{
    const oif_member *m = NULL, *worst = NULL;
    *info =
        (oif_incident_info){.number = number, .first_seconds = INFINITY, .last_seconds = -INFINITY};
    while ((m = next_member(incidents, number, m))) {
        const bool is_open = isnan(m->end_seconds),
                   is_worst_open = worst && isnan(worst->end_seconds);
        const double last = is_open ? m->seconds : m->end_seconds;
        if (!worst || (is_open && !is_worst_open) ||
            (is_open == is_worst_open && m->severity > worst->severity)) {
            worst = m;
            info->worst = info->members;
        }
        info->members++;
        info->open += is_open;
        info->first_seconds = m->seconds < info->first_seconds ? m->seconds : info->first_seconds;
        info->last_seconds = last > info->last_seconds ? last : info->last_seconds;
        info->peak_severity = m->severity > info->peak_severity ? m->severity : info->peak_severity;
    }
    info->is_over = info->open == 0;
    return worst != NULL;
}

bool oif_incidents_member(const oif_incidents *incidents, uint64_t number, size_t index,
                          oif_incident_member *member)
{
    const oif_member *m = next_member(incidents, number, NULL);
    while (m && index-- > 0)
        m = next_member(incidents, number, m);
    if (!m)
        return false;
    *member = (oif_incident_member){.stream = m->stream,
                                    .key = m->key,
                                    .column = m->column,
                                    .reason = m->reason,
                                    .stream_bytes = m->stream_bytes,
                                    .key_bytes = m->key_bytes,
                                    .column_bytes = m->column_bytes,
                                    .reason_bytes = m->reason_bytes,
                                    .seconds = m->seconds,
                                    .end_seconds = m->end_seconds,
                                    .severity = m->severity,
                                    .episode = m->episode};
    return true;
}

bool oif_incidents_shared(const oif_incidents *incidents, uint64_t number, size_t index,
                          oif_incident_shared *shared)
{
    const oif_member *first = next_member(incidents, number, NULL);
    return first && next_member(incidents, number, first) &&
           find_shared(incidents, number, first, index, shared);
}

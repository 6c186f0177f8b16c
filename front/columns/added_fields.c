#include "added_fields.h"

#include "front/advice/advice.h"
#include "front/text/cut.h"

#include <string.h>

const char *const added_field_names[FIELDS_MAX] = {"score", "severity", "threshold", "anomaly",
                                                   "grade", "ready",    "episode",   "episode_id",
                                                   "why",   "expected"};

int added_field_find(const char *name, size_t name_bytes)
{
    int field = 0;
    while (field < FIELDS_MAX && (strlen(added_field_names[field]) != name_bytes ||
                                  memcmp(added_field_names[field], name, name_bytes) != 0))
        field++;
    return field;
}

/* Some neighbouring columns, and which fields they are. */
typedef struct field_run {
    size_t first, end;
    bool holds[FIELDS_MAX];
    size_t count; /* of different fields */
} field_run;

static void add_field(field_run *run, int field)
{
    run->count += !run->holds[field];
    run->holds[field] = true;
}

/* Two such names, one of them a verdict, cannot be a coincidence. */
static bool is_convincing(const field_run *run)
{
    return run->count > 1 &&
           (run->holds[added_field_find("score", 5)] || run->holds[added_field_find("anomaly", 7)]);
}

/* Returns whether any of them was used. */
static bool leave_out(const column_source *from, const field_run *run, column_use uses[])
{
    bool was_used = false;
    for (size_t i = run->first; i < run->end; i++) {
        if (uses[i] != COLUMN_LEARNED ||
            known_columns_have(from->known, oif_reader_column_name(from->reader, i)))
            continue;
        uses[i] = COLUMN_ADDED;
        was_used = true;
    }
    return was_used;
}

/* ---- CSV ---- */

/* The columns before `end` that one oif has added. */
static field_run run_before(const column_source *from, size_t end)
{
    field_run run = {.first = end, .end = end};
    while (run.first > 0) {
        const char *name = oif_reader_column_name(from->reader, run.first - 1);
        const int field = added_field_find(name, strlen(name));
        if (field == FIELDS_MAX || run.holds[field])
            break;
        add_field(&run, field);
        run.first--;
    }
    return run;
}

static void leave_out_last_columns(const column_source *from, column_use uses[])
{
    size_t count = oif_reader_column_count(from->reader), first = count;
    bool was_used = false;
    advice given;
    for (;;) {
        field_run run = run_before(from, first);
        if (!is_convincing(&run))
            break;
        was_used |= leave_out(from, &run, uses);
        first = run.first;
    }
    if (was_used)
        note_because(
            advice_on(&given, ADVICE_FIELDS_ADDED, NULL),
            "%s: columns %s to %s were added by an earlier 'oif score' and are not learned",
            from->name, cut_name(oif_reader_column_name(from->reader, first)).text,
            cut_name(oif_reader_column_name(from->reader, count - 1)).text);
}

/* ---- NDJSON ---- */

/* The bytes of the first key in a path such as oif.why.0.share. */
static size_t key_bytes(const char *path)
{
    size_t bytes = 0;
    while (path[bytes] && path[bytes] != '.')
        bytes += path[bytes] == '\\' && path[bytes + 1] ? 2 : 1;
    return bytes;
}

/* The leaves of one member of the object from `first` on; without fields if any of them is
 * something else. */
static field_run run_of_member(const column_source *from, size_t first)
{
    field_run run = {.first = first, .end = first};
    const char *member = oif_reader_column_name(from->reader, first);
    size_t member_bytes = key_bytes(member);
    bool is_other = false;
    for (; run.end < oif_reader_column_count(from->reader); run.end++) {
        const char *path = oif_reader_column_name(from->reader, run.end);
        if (key_bytes(path) != member_bytes || memcmp(path, member, member_bytes) != 0)
            break;
        const char *rest = path + member_bytes + (path[member_bytes] == '.');
        int field = path[member_bytes] ? added_field_find(rest, key_bytes(rest)) : FIELDS_MAX;
        if (field == FIELDS_MAX)
            is_other = true;
        else
            add_field(&run, field);
    }
    if (is_other)
        run.count = 0;
    return run;
}

static void leave_out_members(const column_source *from, column_use uses[])
{
    advice given;
    for (size_t i = 0; i < oif_reader_column_count(from->reader);) {
        field_run run = run_of_member(from, i);
        const char *name = oif_reader_column_name(from->reader, i);
        bool is_usual = key_bytes(name) == 3 && memcmp(name, "oif", 3) == 0;
        if ((is_convincing(&run) || (is_usual && run.count > 0)) && leave_out(from, &run, uses))
            note_because(advice_on(&given, ADVICE_FIELD_ADDED, NULL),
                         "%s: '%.*s' was added by an earlier 'oif score' and is not learned",
                         from->name, (int)key_bytes(name), name);
        i = run.end;
    }
}

void added_fields_leave_out(const column_source *from, column_use uses[])
{
    if (from->format == OIF_FORMAT_NDJSON)
        leave_out_members(from, uses);
    else if (from->format == OIF_FORMAT_CSV && oif_reader_has_header(from->reader))
        leave_out_last_columns(from, uses);
}

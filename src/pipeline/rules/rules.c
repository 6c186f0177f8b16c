#include "pipeline/rules/rules.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- Memory ---- */

static size_t bytes_of(size_t count)
{
    return sizeof(oif_rules) + count * sizeof(oif_rule);
}

size_t oif_rules_bytes(const oif_rules *rules)
{
    return rules ? bytes_of(rules->count) : 0;
}

static oif_rules *make_room(size_t count)
{
    oif_rules *made = oif_memory_new(bytes_of(count));
    if (made)
        memset(made, 0, bytes_of(count));
    return made;
}

oif_status oif_rules_clone(const oif_rules *rules, oif_rules **copy, oif_error *error)
{
    *copy = NULL;
    if (!rules)
        return OIF_OK;
    *copy = make_room(rules->count);
    if (!*copy)
        return oif_fail(error, OIF_EMEMORY, "no memory for the rules");
    memcpy(*copy, rules, bytes_of(rules->count));
    return OIF_OK;
}

void oif_rules_free(oif_rules *rules)
{
    oif_memory_free(rules);
}

/* ---- From text ---- */

/* The next line of the text, which is taken off it; without its end and the spaces before it. */
static oif_text next_line(oif_text *text)
{
    const char *end = memchr(text->text, '\n', text->bytes);
    oif_text line = {text->text, end ? (size_t)(end - text->text) : text->bytes};
    text->text += line.bytes + (end != NULL);
    text->bytes -= line.bytes + (end != NULL);
    while (line.bytes > 0 && strchr(" \t\r", line.text[line.bytes - 1]))
        line.bytes--;
    while (line.bytes > 0 && strchr(" \t", *line.text)) {
        line.text++;
        line.bytes--;
    }
    return line;
}

static bool is_rule(oif_text line)
{
    return line.bytes > 0 && *line.text != '#';
}

static size_t count_rules(oif_text text)
{
    size_t count = 0;
    while (text.bytes > 0)
        count += is_rule(next_line(&text));
    return count;
}

static bool matches_a_name(oif_text pattern, const oif_column_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *name = oif_column_names_at(names, i);
        if (oif_pattern_matches(pattern, (oif_text){name, strlen(name)}))
            return true;
    }
    return false;
}

/* A name with a slip would hold nothing back, silently. */
static oif_status check_columns(const oif_rule *rule, const oif_column_names *names, uint64_t line,
                                oif_error *error)
{
    const oif_text all = oif_rule_text(rule, rule->columns);
    for (const char *at = all.text, *end = at + all.bytes; names && at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const oif_text item = {at, (size_t)((comma ? comma : end) - at)};
        if (!matches_a_name(item, names))
            return oif_fail_because_at(error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_COLUMN, line,
                                       (uint64_t)(at - rule->text) + 1, "no column is called %.*s",
                                       (int)(item.bytes < 100 ? item.bytes : 100), item.text);
        at += item.bytes + 1;
    }
    return OIF_OK;
}

static void keep_counts(oif_rule *rule, const oif_rules *before)
{
    for (size_t i = 0; before && i < before->count; i++) {
        const oif_rule *old = &before->list[i];
        if (old->text_bytes != rule->text_bytes ||
            memcmp(old->text, rule->text, rule->text_bytes) != 0)
            continue;
        rule->held = old->held;
        rule->first_held = old->first_held;
        rule->last_held = old->last_held;
    }
}

static oif_status fill(oif_rules *rules, oif_text text, const oif_column_names *names,
                       const oif_rules *before, oif_error *error)
{
    oif_status status = OIF_OK;
    for (uint64_t number = 1; text.bytes > 0 && status == OIF_OK; number++) {
        const oif_text line = next_line(&text);
        if (!is_rule(line))
            continue;
        oif_rule *rule = &rules->list[rules->count++];
        status = oif_rule_parse(rule, line.text, line.bytes, number, error);
        if (status == OIF_OK)
            status = check_columns(rule, names, number, error);
        keep_counts(rule, before);
        rules->ignoring += rule->ignores;
    }
    return status;
}

/* Numbers the zones, so those of equal rules have one clock. */
static void number_zones(oif_rules *rules)
{
    uint32_t zones = 0;
    for (size_t i = 0; i < rules->count; i++) {
        size_t same = 0;
        while (memcmp(&rules->list[same].zone, &rules->list[i].zone, sizeof(oif_zone)) != 0)
            same++;
        rules->list[i].zone_number = same < i ? rules->list[same].zone_number : zones++;
    }
}

oif_status oif_rules_new(const char *text, size_t bytes, const oif_column_names *names,
                         const oif_rules *before, oif_rules **rules, oif_error *error)
{
    const oif_text all = {text, bytes};
    *rules = NULL;
    const size_t count = bytes <= OIF_RULES_TEXT_MAX ? count_rules(all) : SIZE_MAX;
    if (count == 0)
        return OIF_OK;
    if (count > OIF_RULES_MAX)
        return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_BAD_RULE,
                                "there are at most %d rules, of %d bytes together", OIF_RULES_MAX,
                                OIF_RULES_TEXT_MAX);
    oif_rules *made = make_room(count);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for %zu rules", count);
    oif_status status = fill(made, all, names, before, error);
    number_zones(made);
    if (status == OIF_OK)
        *rules = made;
    else
        oif_rules_free(made);
    return status;
}

oif_status oif_rules_check(const char *text, size_t bytes, oif_error *error)
{
    oif_rules *rules;
    oif_status status = oif_rules_new(text, bytes, NULL, NULL, &rules, error);
    if (status == OIF_OK)
        oif_rules_free(rules);
    return status;
}

oif_status oif_rules_join(const oif_rules *first, const oif_rules *more, oif_rules **all,
                          oif_error *error)
{
    const size_t before = first ? first->count : 0, count = before + more->count;
    if (count > OIF_RULES_MAX)
        return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_BAD_RULE, "there are at most %d rules",
                                OIF_RULES_MAX);
    oif_rules *made = make_room(count);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for %zu rules", count);
    if (first)
        memcpy(made->list, first->list, before * sizeof *made->list);
    memcpy(made->list + before, more->list, more->count * sizeof *made->list);
    made->count = count;
    made->ignoring = (first ? first->ignoring : 0) + more->ignoring;
    number_zones(made);
    *all = made;
    return OIF_OK;
}

/* ---- Asking ---- */

uint32_t oif_rules_ignore(const oif_rules *rules, oif_text key, double seconds)
{
    oif_rule_clocks clocks;
    clocks.known = 0;
    for (size_t i = 0; rules->ignoring > 0 && i < rules->count; i++)
        if (rules->list[i].ignores && oif_rule_is_in_force(&rules->list[i], key, seconds, &clocks))
            return (uint32_t)i + 1;
    return 0;
}

uint32_t oif_rules_mute(const oif_rules *rules, const oif_rule_question *question)
{
    oif_rule_clocks clocks;
    clocks.known = 0;
    for (size_t i = 0; i < rules->count; i++)
        if (oif_rule_matches(&rules->list[i], question, &clocks))
            return (uint32_t)i + 1;
    return 0;
}

uint32_t oif_rules_mute_silence(const oif_rules *rules, oif_text key, double seconds)
{
    const uint32_t rule = oif_rules_ignore(rules, key, seconds);
    return rule > 0 ? rule
                    : oif_rules_mute(rules, &(oif_rule_question){.key = key,
                                                                 .reason = OIF_REASON_SILENCE,
                                                                 .change = NAN,
                                                                 .change_share = NAN,
                                                                 .seconds = seconds});
}

bool oif_rules_hide_silence(const oif_rules *rules, oif_text key, double since, double seconds)
{
    const int most = 1000; /* windows that follow each other without a gap; beyond that: hidden */
    for (int i = 0; i < most && since < seconds; i++) {
        const uint32_t rule = oif_rules_mute_silence(rules, key, since);
        if (rule == 0)
            return false;
        since = oif_rule_lasts_until(&rules->list[rule - 1], since);
    }
    return true;
}

void oif_rules_count(oif_rules *rules, uint32_t rule, double seconds)
{
    oif_rule *held = &rules->list[rule - 1];
    held->held++;
    if (!(held->first_held <= seconds))
        held->first_held = seconds == seconds ? seconds : held->first_held;
    if (!(held->last_held >= seconds))
        held->last_held = seconds == seconds ? seconds : held->last_held;
}

/* ---- Snapshots ---- */

static void visit_rule(oif_rule *rule, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "held", &rule->held, 1);
    oif_visit_f64(visitor, "first_held", &rule->first_held, 1);
    oif_visit_f64(visitor, "last_held", &rule->last_held, 1);
    oif_visit_u32(visitor, "text_bytes", &rule->text_bytes, 1);
}

void oif_rules_write(oif_section_writer *writer, const oif_rules *rules)
{
    oif_byte_counter counter = oif_byte_counter_new();
    if (!rules)
        return;
    uint64_t bytes = 0;
    for (size_t i = 0; i < rules->count; i++) {
        oif_rule rule = rules->list[i];
        visit_rule(&rule, &counter.visitor);
        bytes += rule.text_bytes;
    }
    oif_section_writer_begin(writer, OIF_SECTION_RULES, counter.bytes + bytes);
    for (size_t i = 0; i < rules->count; i++) {
        oif_rule rule = rules->list[i];
        visit_rule(&rule, &writer->visitor);
        oif_visit_u8(&writer->visitor, "text", (uint8_t *)rule.text, rule.text_bytes);
    }
    oif_section_writer_end(writer);
}

/* Reads a rule; its text has the zone as POSIX writes it, so no file is needed. */
static void read_rule(oif_section_reader *reader, oif_rule *rule)
{
    oif_rule stored = {.held = 0};
    visit_rule(&stored, &reader->visitor);
    if (reader->status == OIF_OK && stored.text_bytes >= sizeof stored.text)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a rule is too long");
    if (reader->status != OIF_OK)
        return;
    oif_visit_u8(&reader->visitor, "text", (uint8_t *)stored.text, stored.text_bytes);
    if (reader->status == OIF_OK &&
        oif_rule_parse(rule, stored.text, stored.text_bytes, 1, NULL) != OIF_OK)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a rule is invalid");
    rule->held = stored.held;
    rule->first_held = stored.first_held;
    rule->last_held = stored.last_held;
}

oif_rules *oif_rules_read(oif_section_reader *reader)
{
    oif_rules *made = make_room(OIF_RULES_MAX), *rules = NULL;
    if (!made)
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for the rules");
    while (reader->status == OIF_OK && reader->left > 0) {
        if (made->count == OIF_RULES_MAX)
            oif_section_reader_fail(reader, OIF_ECORRUPT, "there are too many rules");
        else
            read_rule(reader, &made->list[made->count++]);
        if (reader->status == OIF_OK)
            made->ignoring += made->list[made->count - 1].ignores;
    }
    oif_section_reader_end(reader);
    if (made)
        number_zones(made);
    if (reader->status == OIF_OK && made->count > 0 &&
        oif_rules_clone(made, &rules, NULL) != OIF_OK)
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for the rules");
    oif_rules_free(made);
    return rules;
}

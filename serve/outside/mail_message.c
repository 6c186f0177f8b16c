#include "mail_message.h"

#include "front/text/cut.h"
#include "front/text/output.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* A line of a message has at most 998 bytes. */
enum { TEXT_BYTES_MAX = 800, MEMBERS_MAX = 50, DATE_BYTES = 64 };

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* Keys and columns may have any bytes. */
static void write_plain(const char *text)
{
    const size_t bytes = cut_bytes(text, strlen(text), TEXT_BYTES_MAX);
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char one = (unsigned char)text[i];
        const char shown = one < ' ' || one == 0x7f ? '?' : text[i];
        output_write(&shown, 1);
    }
    output_text(text[bytes] ? "..." : "");
}

/* Only what oif has made itself: a number, and words of a list. */
static void write_subject(const incident_notice *notice, const json_t *record)
{
    static const char *const grades[] = {"note", "warning", "critical"};
    const char *grade = text_of(record, "grade"), *known = "";
    for (size_t i = 0; i < sizeof grades / sizeof *grades; i++)
        known = strcmp(grade, grades[i]) == 0 ? grades[i] : known;
    output_print("Subject: oif: incident %" PRIu64 " %s%s%s%s\n", notice->number,
                 notice->is_end ? "is over" : "begins", *known ? " (" : "", known,
                 *known ? ")" : "");
}

/* The end is shown below the begin. The moment of the first row makes ids of two servers, or of one
 * that was set up again, differ. */
static void write_ids(const incident_notice *notice, const json_t *record)
{
    char start[32];
    snprintf(start, sizeof start, "%.31s", text_of(record, "start"));
    for (char *c = start; *c; c++)
        *c = (*c >= '0' && *c <= '9') ? *c : '-';
    output_print("Message-ID: <%s.%" PRIu64 ".%s@oif.invalid>\n", notice->is_end ? "end" : "begin",
                 notice->number, start);
    if (notice->is_end)
        output_print("In-Reply-To: <begin.%" PRIu64 ".%s@oif.invalid>\n", notice->number, start);
}

static void write_headers(const mail_config *config, const incident_notice *notice,
                          const json_t *record, double now)
{
    char date[DATE_BYTES];
    const time_t seconds = (time_t)now;
    struct tm parts;
    output_print("To: %s\n", config->to);
    if (config->from)
        output_print("From: %s\n", config->from);
    write_subject(notice, record);
    if (gmtime_r(&seconds, &parts) &&
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S +0000", &parts) > 0)
        output_print("Date: %s\n", date);
    write_ids(notice, record);
    output_print("Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
                 "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n");
}

/* "2026-11-15T19:05:01Z  fleet / rack-2/host-17: latency" */
static void write_member(const json_t *member)
{
    static const char *const names[] = {"start", "stream", "key", "column"};
    static const char *const before[] = {"", "  ", " / ", ": "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = text_of(member, names[i]);
        output_text(*text ? before[i] : "");
        write_plain(text);
    }
    output_text("\n");
}

static void write_members(const json_t *record)
{
    size_t i;
    const json_t *list = json_object_get(record, "order"), *member;
    const size_t count = json_array_size(list);
    output_text(count > 0 ? "\n" : "");
    json_array_foreach(list, i, member) {
        if (i < MEMBERS_MAX)
            write_member(member);
    }
    if (count > MEMBERS_MAX)
        output_print("and %zu more\n", count - MEMBERS_MAX);
}

bool mail_message_write(const mail_config *config, const char *page_url,
                        const incident_notice *notice, double now)
{
    json_t *record = json_loadb(notice->text, notice->bytes, JSON_ALLOW_NUL, NULL);
    if (!record)
        return false;
    write_headers(config, notice, record, now);
    write_plain(text_of(record, "text"));
    output_text("\n");
    write_members(record);
    output_print("\n%s/\n", page_url);
    json_decref(record);
    return true;
}

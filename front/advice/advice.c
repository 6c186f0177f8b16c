#include "advice.h"

#include <string.h>

#define CONVERT "; convert it: {command} | oif score"
#define LIST_ALL "list all columns with --columns A,B,..."
#define LIST_ALL_SETTING "list all columns in the setting \"columns\"."
#define MISSING_SETTING "Set \"on-bad-row\" to \"null\" to make it missing."
#define SKIPPED "; --on-bad-row skip leaves such rows out"
#define SKIPPED_SETTING "Set \"on-bad-row\" to \"skip\" to leave such rows out."
#define EXCLUDE_SETTING "The setting \"exclude\" leaves it out."
#define JOIN "f the time of day is in another column, name both: "

/* At most 20 words each, besides those filled in: {command} and {count} are those of
 * the caller, {columns} are the names as an option has them, and {list} as people read them. */
static const struct remedy {
    unsigned topic;
    const char *shell, *service;
} remedies[] = {
    {OIF_CAUSE_INFINITE_VALUE, " (--on-bad-row null)", MISSING_SETTING},
    {OIF_CAUSE_DECIMAL_COMMA, " with --csv decimal=,", "Set \"csv\" to \"decimal=,\"."},
    {OIF_CAUSE_TOO_FEW_FIELDS, SKIPPED, SKIPPED_SETTING},
    {OIF_CAUSE_TOO_MANY_FIELDS, SKIPPED, SKIPPED_SETTING},
    {OIF_CAUSE_TRAILING_DELIMITER, CONVERT, "Remove the delimiter at the end of each row."},
    {OIF_CAUSE_COMMENT, " with --csv comment=#", "Set \"csv\" to \"comment=#\"."},
    {OIF_CAUSE_BAD_JSON, "", "Send one JSON object per line."},
    {OIF_CAUSE_NUL_BYTES, CONVERT, "Remove the NUL bytes."},
    {OIF_CAUSE_NOT_TEXT, "; if it has NUL bytes after a power cut: {command} | oif score",
     "Send CSV or NDJSON as UTF-8 text."},
    {ADVICE_OTHER_FORMAT, CONVERT, "Send CSV or NDJSON as UTF-8 text."},
    {ADVICE_ZIPPED_TEXT, CONVERT "; if it is a zipped text: unzip -p ARCHIVE | oif score",
     "Send CSV or NDJSON as UTF-8 text."},
    {ADVICE_JSON_LAYOUT, CONVERT, "Send one JSON object, or one row of CSV, per line."},
    {ADVICE_LONE_RETURNS, CONVERT, "End each line with LF, or with CR and LF."},
    {ADVICE_NO_FIRST_ROW, "; skip text before the header with --csv skip=N",
     "Leave text before the header out of the body."},
    {ADVICE_ALL_BAD, "; without --on-bad-row the first one is shown",
     "Without the setting \"on-bad-row\" the first one is shown."},
    {ADVICE_BLANKS,
     "; if blanks separate the columns: --csv sep=space; if it is a log: count its lines per "
     "minute "
     "first",
     "If blanks separate the columns, set \"csv\" to \"sep=space\"."},
    {ADVICE_EXCLUDE, " (--exclude {columns})", "The setting \"exclude\" leaves the column out."},
    {ADVICE_EXCLUDE_REPEATED, " (give each column its own name, then --exclude {columns})",
     "Give each column its own name; then the setting \"exclude\" can leave it out."},
    {ADVICE_HEADER, ": if it is a header, add --csv header=yes",
     "If it is a header, set \"csv\" to \"header=yes\"."},
    {ADVICE_COMMENTS, "; leave comments out with --csv comment=#",
     "Set \"csv\" to \"comment=#\" to leave comments out."},
    {ADVICE_TIME_TAKEN, ", as if you had given --time {columns}; --exclude {columns} leaves it out",
     EXCLUDE_SETTING},
    {ADVICE_TIMES_BACKWARD,
     "; sort the rows, oldest first{command}; or use the times anyway with --time {columns}",
     "Send the oldest rows first, or use the times anyway with the setting \"time\"."},
    {ADVICE_TIMES_MIXED,
     "; the times in {list} go backwards in {count}: if it is the time of the rows, sort the rows, "
     "oldest first{command}",
     "The times in {list} go backwards in {count}: if it is the time, send the oldest first."},
    {ADVICE_TIMES_REPEATED, "; --rate without --time learns the increase from row to row",
     "Without \"time\" the setting \"rate\" learns the increase from row to row."},
    {ADVICE_TIMES_OF_DAY, "; i" JOIN "--time Date+Time", "I" JOIN "\"time\": \"Date+Time\"."},
    {ADVICE_KEY, "; --key {columns} gives each a model of its own",
     "The setting \"key\" gives each a model of its own: {list}."},
    {ADVICE_LABEL_TAKEN, ", as if you had given --label {columns}; to learn it, " LIST_ALL,
     "To learn it, " LIST_ALL_SETTING},
    {ADVICE_TEXT_LEFT_OUT,
     "; use it with --category, --key, --time or --label, or add --exclude {columns} to leave it "
     "out without this note",
     "Settings that use it are \"category\", \"key\", \"time\" and \"label\"."},
    {ADVICE_TEXT_LATE, "; --exclude {columns} leaves it out", EXCLUDE_SETTING},
    {ADVICE_TEXT_IS_ALL, "; to learn which texts are rare, add --category {columns}",
     "To learn which texts are rare, name them in the setting \"category\"."},
    {ADVICE_TEXT_STRICT, ": add --exclude {columns}, or use it with --key, --label or --category",
     "Name it in one of the settings \"exclude\", \"key\", \"label\" and \"category\"."},
    {ADVICE_TIME_STRICT, "; times are used with --time {columns}",
     "Times are used with the setting \"time\"."},
    {ADVICE_TEXT_LEARNED, "; add --exclude {columns} and start another state",
     "Leave it out with the setting \"exclude\" of another stream."},
    {ADVICE_TIME_PAIR, ", as if you had given --time {columns}",
     "The setting \"time\" names another column."},
    {ADVICE_DAY_ORDER, "; --time-format {count} reads it the other way",
     "Set \"time-format\" to \"{count}\" to read it the other way."},
    {ADVICE_MARK, "; if it means missing, add --missing {count}",
     "If it means missing, set \"missing\" to \"{count}\"."},
    {ADVICE_INDEX, "; to learn it, " LIST_ALL, "To learn it, " LIST_ALL_SETTING},
    {ADVICE_CALENDAR, "; to learn it, " LIST_ALL, "To learn it, " LIST_ALL_SETTING},
    {ADVICE_RISING_TIME, "; if it is the time: --time {columns}",
     "If {list} is the time, name it in the setting \"time\"."},
    {ADVICE_RISING_EVENLY, "; leave it out with --exclude {columns}",
     "Leave {list} out with the setting \"exclude\"."},
    {ADVICE_RISING_COUNTER, "; for a counter add --rate {columns}",
     "A counter is learned with the setting \"rate\": {list}."},
    {ADVICE_FIELD_ADDED, "; to learn it, " LIST_ALL, "To learn it, " LIST_ALL_SETTING},
    {ADVICE_FIELDS_ADDED, "; to learn them, " LIST_ALL, "To learn them, " LIST_ALL_SETTING},
    {ADVICE_NEW_COLUMN, "; a new state learns them",
     "A stream keeps its columns; make another one for rows that have more."},
    {ADVICE_FIELD_THERE, "; the last one is of this run", "The last one is of this stream."},
};

/* ---- Words in a remedy ---- */

/* A text that grows; what does not fit is cut. */
typedef struct growing_text {
    char *text;
    size_t bytes, used;
} growing_text;

static void append(growing_text *to, const char *text, size_t bytes)
{
    if (to->used < to->bytes)
        snprintf(to->text + to->used, to->bytes - to->used, "%.*s", (int)bytes, text);
    to->used += strlen(to->text + to->used);
}

/* A name that needs no quotes in a shell, SQL or Python is shown in the command, unless it is that
 * of a compressed file, which the command could not read. */
static bool is_plain_name(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
    enum { MOST_NAME_BYTES = 256 };
    const char *ending = strrchr(name, '.');
    return name[0] != '-' && name[0] != '\0' && name[strspn(name, plain)] == '\0' &&
           strlen(name) <= MOST_NAME_BYTES &&
           !(ending && (strcmp(ending, ".gz") == 0 || strcmp(ending, ".zst") == 0));
}

/* With the name of the file in place of FILE, where the name needs no quotes. */
static void append_command(growing_text *to, const char *command, const char *name)
{
    static const char file[] = "FILE";
    const char *shown = name && is_plain_name(name) ? name : file;
    for (const char *place; (place = strstr(command, file)); command = place + strlen(file)) {
        append(to, command, (size_t)(place - command));
        append(to, shown, strlen(shown));
    }
    append(to, command, strlen(command));
}

static void append_word(growing_text *to, const char *word, const advice_words *words)
{
    const char *text = strncmp(word, "{columns}", 9) == 0 ? names_text_paste(words->names)
                       : strncmp(word, "{list}", 6) == 0  ? names_text_read(words->names)
                                                          : words->count;
    if (strncmp(word, "{command}", 9) == 0)
        append_command(to, words->command, words->file);
    else
        append(to, text, strlen(text));
}

static void append_remedy(growing_text *to, const char *text, const advice_words *words)
{
    for (const char *word; (word = strchr(text, '{')); text = strchr(word, '}') + 1) {
        append(to, text, (size_t)(word - text));
        append_word(to, word, words);
    }
    append(to, text, strlen(text));
}

/* ---- Remedies ---- */

void advice_add(advice *to, unsigned topic, const advice_words *words)
{
    growing_text shell = {to->shell, sizeof to->shell, strlen(to->shell)},
                 service = {to->service, sizeof to->service, strlen(to->service)};
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (remedies[i].topic != topic)
            continue;
        append_remedy(&shell, remedies[i].shell, words);
        append(&service, " ", service.used > 0 && *remedies[i].service);
        append_remedy(&service, remedies[i].service, words);
        to->reason.is_conversion |= strncmp(remedies[i].shell, CONVERT, sizeof CONVERT - 1) == 0;
    }
}

const complaint_reason *advice_reason(advice *given, oif_cause cause)
{
    given->reason.cause = cause;
    given->reason.shell = given->shell;
    given->reason.service = given->service;
    return &given->reason;
}

const complaint_reason *advice_on(advice *room, unsigned topic, const advice_words *words)
{
    *room = (advice){.shell = ""};
    advice_add(room, topic, words);
    return advice_reason(room, OIF_CAUSE_NONE);
}

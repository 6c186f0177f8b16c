#include "audit.h"

#include "front/text/durations.h"
#include "front/text/output.h"
#include "front/text/write_json.h"
#include "serve/base/log.h"
#include "serve/base/name_patterns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_BYTES_MAX = 8 << 20,
    OLD_FILES = 4,
    PATH_BYTES = 4096,
    DETAILS_BYTES_MAX = 2048,
    NAME_BYTES = 65
};

static const char streams_path[] = "/api/v1/streams/";

struct audit {
    char path[PATH_BYTES]; /* "": none */
    pthread_mutex_t lock;
    int file; /* -1: it could not be opened */
    off_t bytes;
    uint64_t failures;
    bool is_failing;
};

/* ---- The file ---- */

static void open_file(audit *log)
{
    struct stat info;
    log->file = open(log->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    log->bytes = log->file >= 0 && fstat(log->file, &info) == 0 ? info.st_size : 0;
}

audit *audit_open(const char *folder)
{
    audit *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    pthread_mutex_init(&log->lock, NULL);
    log->file = -1;
    if (folder)
        snprintf(log->path, sizeof log->path, "%s/audit.log", folder);
    return log;
}

void audit_close(audit *log)
{
    if (!log)
        return;
    if (log->file >= 0)
        close(log->file);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

/* audit.log for 0, audit.log.1, ... */
static const char *name_of(const audit *log, unsigned number, char path[PATH_BYTES + 8])
{
    snprintf(path, PATH_BYTES + 8, number > 0 ? "%s.%u" : "%s", log->path, number);
    return path;
}

static void rotate(audit *log)
{
    char from[PATH_BYTES + 8], to[PATH_BYTES + 8];
    close(log->file);
    for (unsigned number = OLD_FILES; number > 0; number--)
        (void)!rename(name_of(log, number - 1, from), name_of(log, number, to));
    open_file(log);
}

/* A line is written as a whole; what a full disk has taken of one is cut off again. */
static bool append(audit *log, const char *line, size_t bytes)
{
    if (log->file < 0)
        open_file(log);
    if (log->file >= 0 && log->bytes >= FILE_BYTES_MAX)
        rotate(log);
    if (log->file < 0)
        return false;
    const ssize_t written = write(log->file, line, bytes);
    if (written == (ssize_t)bytes && fdatasync(log->file) == 0) {
        log->bytes += written;
        return true;
    }
    const int reason = written < 0 ? errno : ENOSPC;
    (void)!ftruncate(log->file, log->bytes);
    errno = reason;
    return false;
}

static void report(audit *log, bool is_written, int reason)
{
    if (!is_written && !log->is_failing)
        note("%s: cannot be written: %s; changes are not recorded until it can", log->path,
             strerror(reason));
    if (is_written && log->is_failing)
        note("%s: writing works again", log->path);
    log->failures += !is_written;
    log->is_failing = !is_written;
}

/* ---- Entries ---- */

/* Long details are left out: a line is one write. */
static void write_details(json_t *details)
{
    char *text = details ? json_dumps(details, JSON_COMPACT) : NULL;
    if (text && strlen(text) <= DETAILS_BYTES_MAX)
        output_print(",\"asked\":%s", text);
    else if (text)
        output_print(",\"asked\":\"%zu bytes\"", strlen(text));
    free(text);
}

static char *make_line(const audit_entry *entry, size_t *bytes)
{
    char moment[MOMENT_TEXT_BYTES];
    output_divert();
    output_print("{\"time\":\"%s\"", moment_text((double)time(NULL), moment));
    write_json_text("who", entry->who ? entry->who->name : NULL);
    write_json_string("role", access_level_word(entry->who ? entry->who->level : ACCESS_ADMIN));
    write_json_string("from", entry->from);
    write_json_string("method", entry->method);
    write_json_string("path", entry->path);
    if (entry->status > 0)
        output_print(",\"status\":%d", entry->status);
    write_details(entry->details);
    output_print("}\n");
    return output_diverted(bytes);
}

void audit_add(audit *log, const audit_entry *entry)
{
    size_t bytes;
    if (!log->path[0]) {
        log_line("info", "audit", "who", entry->who ? entry->who->name : "", "from", entry->from,
                 "method", entry->method, "path", entry->path, (char *)NULL);
        return;
    }
    char *line = make_line(entry, &bytes);
    pthread_mutex_lock(&log->lock);
    const bool is_written = line && append(log, line, bytes);
    report(log, is_written, line ? errno : ENOMEM);
    pthread_mutex_unlock(&log->lock);
    free(line);
}

uint64_t audit_failures(audit *log)
{
    pthread_mutex_lock(&log->lock);
    const uint64_t failures = log->failures;
    pthread_mutex_unlock(&log->lock);
    return failures;
}

/* ---- Reading ---- */

/* Whether a line is about a stream that the patterns match. */
static bool is_visible(const char *line, size_t bytes, const char *patterns)
{
    char name[NAME_BYTES];
    if (!patterns)
        return true;
    json_t *entry = json_loadb(line, bytes, 0, NULL);
    const char *path = json_string_value(json_object_get(entry, "path"));
    const bool is_of_stream = path && strncmp(path, streams_path, sizeof streams_path - 1) == 0;
    if (is_of_stream)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(path + sizeof streams_path - 1, "/"),
                 path + sizeof streams_path - 1);
    const bool may = is_of_stream && name_patterns_match(patterns, name);
    json_decref(entry);
    return may;
}

/* The last line of the text, without its line end; the text becomes what is before it. */
static const char *take_last_line(const char *text, size_t *text_bytes, size_t *line_bytes)
{
    size_t end = *text_bytes;
    while (end > 0 && text[end - 1] == '\n')
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    *text_bytes = start;
    *line_bytes = end - start;
    return text + start;
}

static size_t write_latest(const char *text, size_t bytes, const char *patterns, size_t limit,
                           size_t written)
{
    while (bytes > 0 && written < limit) {
        size_t line_bytes;
        const char *line = take_last_line(text, &bytes, &line_bytes);
        if (line_bytes == 0 || *line != '{' || line[line_bytes - 1] != '}' ||
            !is_visible(line, line_bytes, patterns))
            continue;
        output_print(written++ > 0 ? ",\n" : "");
        output_write(line, line_bytes);
    }
    return written;
}

/* The caller frees it. */
static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(2 * FILE_BYTES_MAX) : NULL;
    *bytes = text ? fread(text, 1, 2 * FILE_BYTES_MAX, file) : 0;
    if (file)
        fclose(file);
    return text;
}

void audit_write(audit *log, const char *patterns, size_t limit)
{
    char path[PATH_BYTES + 8];
    size_t written = 0;
    output_print("{\"entries\":[");
    for (unsigned number = 0; log->path[0] && number <= OLD_FILES && written < limit; number++) {
        size_t bytes;
        char *text = read_file(name_of(log, number, path), &bytes);
        written = write_latest(text, bytes, patterns, limit, written);
        free(text);
    }
    output_print("]}\n");
}

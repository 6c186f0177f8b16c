/* How a stream is stored: when a snapshot is made (stream_snapshot.c), and the journal between
 * them. */
#include "stream_parts.h"

#include "front/text/clock.h"
#include "front/text/cut.h"
#include "serve/base/descriptors.h"
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOURNAL_BYTES_MAX = 64 << 20 };

/* When a snapshot began. */
typedef struct snapshot_facts {
    uint64_t rows, changes, failures;
} snapshot_facts;

/* ---- Saving ---- */

/* Before the first row there is no state; settings.json has everything. */
static bool save_beginning(stream *one, problem *why)
{
    const stream_snapshot none = {.exists = false, .bad_rows = one->bad_rows};
    return settings_file_write(one, one->settings.object, &none, why) &&
           stream_empty_journal(one, why);
}

void stream_set_error(stream *one, const char *message)
{
    bool was_failing = one->is_failing;
    one->is_failing = true;
    one->failures++;
    snprintf(one->error, sizeof one->error, "%s", message);
    if (!was_failing)
        complain(EXIT_FAILED, "stream %s: %s", one->name, message);
}

static void clear_error(stream *one)
{
    if (one->is_failing)
        note("stream %s: saving works again", one->name);
    one->is_failing = false;
    one->refused_bytes = 0;
    one->error[0] = '\0';
}

static bool is_saved_already(const stream *one)
{
    return !one->is_failing && one->snapshot_rows == stream_row_count(one) &&
           one->saved_changes == one->changes;
}

static bool is_journal_long(const stream *one)
{
    uint64_t twice = 2 * (uint64_t)one->snapshot_bytes;
    return one->log.bytes > (twice > JOURNAL_BYTES_MAX ? twice : JOURNAL_BYTES_MAX);
}

/* Of the file: to count them would pack every model once more. */
size_t stream_state_bytes(const stream *one)
{
    char path[STREAM_PATH_BYTES];
    struct stat info;
    const bool is_there = one->pipeline && stat(stream_path(one, "state", path), &info) == 0;
    return is_there ? (size_t)info.st_size : 0;
}

static void note_save(stream *one, const snapshot_facts *of)
{
    if (one->failures == of->failures) /* none since the snapshot began */
        clear_error(one);
    if (one->saved < of->rows)
        one->saved = of->rows;
    one->snapshot_rows = of->rows;
    one->saved_changes = of->changes;
    one->snapshot_bytes = stream_state_bytes(one);
}

static bool save(stream *one, problem *why)
{
    bool is_saved = stream_end_all_waiting(one, why);
    const snapshot_facts of = {stream_row_count(one), one->changes, one->failures};
    is_saved =
        is_saved && (one->pipeline ? stream_write_snapshot(one, why) : save_beginning(one, why));
    if (is_saved) {
        note_save(one, &of);
        return true;
    }
    one->counted.failed_saves++;
    stream_set_error(one, why->message);
    return false;
}

bool stream_save(stream *one, problem *why)
{
    if (!one->folder || one->is_broken || one->is_removed ||
        (one->pipeline ? is_saved_already(one) : !is_journal_long(one)))
        return true;
    if (pthread_mutex_trylock(&one->saving) != 0)
        return true; /* another thread does it now */
    bool is_saved = save(one, why);
    pthread_mutex_unlock(&one->saving);
    return is_saved;
}

bool stream_is_save_due(const stream *one)
{
    return one->folder && !one->is_broken && (one->is_failing || is_journal_long(one));
}

/* The state of many keys has gigabytes, so it is not rewritten for a few rows. */
bool stream_is_cheap_to_replay(const stream *one)
{
    const uint64_t few_bytes = 1 << 20, large_bytes = 64 << 20;
    return one->folder && !one->is_failing && one->snapshot_bytes > large_bytes &&
           one->log.bytes < few_bytes;
}

static void begin_refusal(stream *one, size_t bytes, const problem *why)
{
    if (one->refused_bytes == 0)
        complain(EXIT_FAILED, "stream %s: %s", one->name, why->message);
    one->refused_bytes = bytes + 1;
    if (!one->is_failing)
        snprintf(one->error, sizeof one->error, "%s", why->message);
}

static void end_refusal(stream *one)
{
    if (one->refused_bytes == 0)
        return;
    note("stream %s: can be written again", one->name);
    one->refused_bytes = 0;
    if (!one->is_failing)
        one->error[0] = '\0';
}

bool stream_keep_record(stream *one, const journal_record *record, problem *why)
{
    if (!one->folder)
        return true;
    one->is_dirty = true;
    bool is_kept = journal_append(&one->log, record, why);
    if (is_kept)
        end_refusal(one);
    else
        begin_refusal(one, record->bytes, why);
    return is_kept;
}

static bool write_zeros(int fd, size_t bytes)
{
    static const char zeros[4096];
    while (bytes > 0) {
        ssize_t written = write(fd, zeros, bytes < sizeof zeros ? bytes : sizeof zeros);
        if (written <= 0)
            return false;
        bytes -= (size_t)written;
    }
    return true;
}

/* Uses a separate file, because the journal may contain only records. */
void stream_try_disk(stream *one)
{
    const size_t most = 1 << 20, bytes = one->refused_bytes;
    char path[STREAM_PATH_BYTES];
    if (bytes == 0 || !one->folder || one->is_removed)
        return;
    int fd =
        open(stream_path(one, "room.new", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool has_room = write_zeros(fd, bytes < most ? bytes : most);
    has_room = close(fd) == 0 && has_room;
    unlink(path);
    if (has_room)
        end_refusal(one);
}

static void count_saved(stream *one, uint64_t rows)
{
    if (one->folder && !one->is_failing && rows > one->saved)
        one->saved = rows;
}

/* After a failed sync, data may be lost although the next sync succeeds. So a snapshot is made
 * after a failure. */
static bool sync_journal(stream *one)
{
    stream_read_lock(one);
    uint64_t rows = stream_row_count(one);
    int descriptor = one->folder && one->is_dirty ? journal_descriptor(&one->log) : -1;
    bool is_needed = one->folder && one->is_dirty;
    one->is_dirty = false;
    if (!is_needed) /* the last sync may have covered a body that was only partly processed then */
        count_saved(one, rows);
    stream_read_unlock(one);
    if (!is_needed)
        return true;
    bool is_synced = descriptor >= 0 && fdatasync(descriptor) == 0;
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    stream_read_lock(one);
    if (!is_synced) {
        char message[ERROR_BYTES];
        snprintf(message, sizeof message, "%.*s: cannot be written: %s",
                 (int)cut_bytes(one->log.path, strlen(one->log.path), 900), one->log.path,
                 strerror(reason));
        stream_set_error(one, message);
        one->is_dirty = true;
    } else if (one->is_failing && !one->pipeline) {
        clear_error(one); /* there is nothing to make a snapshot of */
    } else {
        count_saved(one, rows);
    }
    stream_read_unlock(one);
    return is_synced;
}

/* A thread that comes during another sync waits for it: that sync is not on disk yet. */
bool stream_sync(stream *one)
{
    pthread_mutex_lock(&one->sync_lock);
    bool is_synced = sync_journal(one);
    pthread_mutex_unlock(&one->sync_lock);
    return is_synced;
}

#include "input_file.h"

#include "front/text/quoting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORED_CAPACITY = 1 << 16 };

/* ---- Names in messages ---- */

static bool make_pasted(const char *path, const char *end, char text[PASTED_PATH_BYTES])
{
    int bytes = snprintf(text, PASTED_PATH_BYTES, "%s%s", path, end);
    return bytes < PASTED_PATH_BYTES && quoting_for_shell(text, PASTED_PATH_BYTES);
}

const char *path_to_paste(const char *path, char text[PASTED_PATH_BYTES])
{
    return make_pasted(path, "", text) ? text : "FILE";
}

/* In the name of the folder, the characters of patterns mean themselves. */
const char *files_in_to_paste(const char *folder, char text[PASTED_PATH_BYTES])
{
    char literal[PASTED_PATH_BYTES];
    size_t bytes = 0;
    for (; *folder && bytes + 2 < sizeof literal; folder++) {
        if (strchr("*?[\\", *folder))
            literal[bytes++] = '\\';
        literal[bytes++] = *folder;
    }
    literal[bytes] = '\0';
    return !*folder && make_pasted(literal, "/*", text) ? text : "'FOLDER/*'";
}

/* ---- Opening ---- */

bool input_file_open(input_file *file, const char *path)
{
    *file = (input_file){.name = "<stdin>", .fd = STDIN_FILENO};
    if (strcmp(path, "-") != 0) {
        file->name = path;
        file->fd = open(path, O_RDONLY);
        if (file->fd < 0)
            snprintf(file->problem, sizeof file->problem, "%s: %s", path, strerror(errno));
    } else if (isatty(file->fd)) {
        fputs("oif: reading from the terminal; press Ctrl-D to end\n", stderr);
    }
    return file->fd >= 0;
}

void input_file_close(input_file *file)
{
    decompressor_free(file->decompressor);
    free(file->stored);
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    file->decompressor = NULL;
    file->stored = NULL;
    file->fd = -1;
}

/* ---- Stored bytes ---- */

/* Retries after a signal, and waits for a source that another program left in non-blocking
 * mode. */
static bool should_retry(int fd)
{
    struct pollfd wait_for_input = {.fd = fd, .events = POLLIN};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&wait_for_input, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

static ptrdiff_t read_stored(input_file *file, char *buffer, size_t capacity,
                             const input_wait *wait)
{
    ssize_t count;
    char inside[PASTED_PATH_BYTES];
    if (!wait->wait(wait->context, file->fd))
        return -1;
    do
        count = read(file->fd, buffer, capacity);
    while (count < 0 && should_retry(file->fd));
    if (count < 0 && errno == EISDIR)
        snprintf(file->problem, sizeof file->problem, "%s: %s; to read the files in it, give %s",
                 file->name, strerror(errno), files_in_to_paste(file->name, inside));
    else if (count < 0)
        snprintf(file->problem, sizeof file->problem, "%s: %s", file->name, strerror(errno));
    else
        file->stored_bytes += (uint64_t)count;
    file->has_ended = count == 0;
    return count;
}

/* Adds to the stored bytes that are kept. */
static ptrdiff_t keep_stored(input_file *file, const input_wait *wait)
{
    if (file->stored_at == file->stored_end)
        file->stored_at = file->stored_end = 0;
    ptrdiff_t count = read_stored(file, file->stored + file->stored_end,
                                  STORED_CAPACITY - file->stored_end, wait);
    file->stored_end += count > 0 ? (size_t)count : 0;
    return count;
}

/* ---- The kind of bytes ---- */

static bool refuse_kind(input_file *file)
{
    const char *name = compression_name(file->kind), *command = compression_command(file->kind);
    bool may_be_built_in = file->kind == COMPRESSION_GZIP || file->kind == COMPRESSION_ZSTD;
    char path[PASTED_PATH_BYTES];
    snprintf(file->problem, sizeof file->problem, "%s: %s %s: %s %s | oif score", file->name,
             may_be_built_in ? "built without" : "oif does not read", name, command,
             file->fd == STDIN_FILENO ? "FILE" : path_to_paste(file->name, path));
    return false;
}

static bool begin(input_file *file, const input_wait *wait)
{
    bool is_undecided = true;
    if (!file->stored)
        file->stored = malloc(STORED_CAPACITY);
    if (!file->stored) {
        snprintf(file->problem, sizeof file->problem, "%s: out of memory", file->name);
        return false;
    }
    while (is_undecided && !file->has_ended) {
        if (keep_stored(file, wait) < 0)
            return false;
        file->kind = compression_of(file->stored, file->stored_end, &is_undecided);
    }
    if (!decompressor_exists(file->kind))
        return refuse_kind(file);
    if (file->kind != COMPRESSION_NONE) {
        file->decompressor = decompressor_new(file->kind);
        if (!file->decompressor) {
            snprintf(file->problem, sizeof file->problem, "%s: out of memory", file->name);
            return false;
        }
    }
    file->is_begun = true;
    return true;
}

/* ---- Reading ---- */

static ptrdiff_t give_stored(input_file *file, char *buffer, size_t capacity)
{
    size_t left = file->stored_end - file->stored_at, count = left < capacity ? left : capacity;
    memcpy(buffer, file->stored + file->stored_at, count);
    file->stored_at += count;
    return (ptrdiff_t)count;
}

static ptrdiff_t fail_cut_off(input_file *file)
{
    snprintf(file->problem, sizeof file->problem,
             "%s: the %s data is cut off: it ends at byte %" PRIu64
             ", too early; the rows before it were read",
             file->name, compression_name(file->kind), file->stored_bytes);
    return -1;
}

static ptrdiff_t decompress(input_file *file, char *buffer, size_t capacity, const input_wait *wait)
{
    for (;;) {
        const char *in = file->stored + file->stored_at;
        size_t in_bytes = file->stored_end - file->stored_at, given;
        const char *problem =
            decompressor_run(file->decompressor, &in, &in_bytes, buffer, capacity, &given);
        file->stored_at = file->stored_end - in_bytes;
        if (problem)
            snprintf(file->problem, sizeof file->problem,
                     "%s: the %s data cannot be decompressed at byte %" PRIu64
                     ": %s; the rows before it were read",
                     file->name, compression_name(file->kind), file->stored_bytes - in_bytes,
                     problem);
        if (problem || given > 0)
            return given > 0 ? (ptrdiff_t)given : -1;
        if (file->has_ended)
            return decompressor_may_end(file->decompressor) ? 0 : fail_cut_off(file);
        if (keep_stored(file, wait) < 0)
            return -1;
    }
}

ptrdiff_t input_file_read(input_file *file, char *buffer, size_t capacity, const input_wait *wait)
{
    if (file->problem[0] != '\0' || (!file->is_begun && !begin(file, wait)))
        return -1;
    if (file->decompressor)
        return decompress(file, buffer, capacity, wait);
    if (file->stored_at < file->stored_end)
        return give_stored(file, buffer, capacity);
    return file->has_ended ? 0 : read_stored(file, buffer, capacity, wait);
}

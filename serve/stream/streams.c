#include "streams.h"

#include "front/text/clock.h"
#include "serve/base/background.h"
#include "serve/base/descriptors.h"
#include "serve/base/folder.h"
#include "stream_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    USUAL_MAX_STREAMS = 1000,
    USUAL_MAX_COLUMNS = 1000,
    USUAL_HISTORY_BYTES = 64 << 20,
    FOLDER_BYTES = 3072
};

struct streams {
    char *folder;          /* DIR/streams; NULL: nothing is stored */
    streams_options asked; /* with the usual limits for 0 */
    feed *events;
    removed_reports removed;
    int lock_file; /* keeps other servers out of the folder; -1: none */

    pthread_mutex_t changing; /* one stream is created or removed at a time */
    pthread_mutex_t lock;     /* protects the list, and the references of its streams */
    stream **list;            /* by name; the list holds a reference to each */
    size_t count;

    background saver;
    bool has_saver;
};

/* ---- Names ---- */

bool stream_name_is_valid(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t bytes = strlen(name);
    return bytes > 0 && bytes < STREAM_NAME_BYTES && strchr(letters, *name) &&
           strspn(name, all) == bytes;
}

const char *stream_name(const stream *one)
{
    return one->name;
}

/* ---- The list ---- */

/* The position of the name in the list, or where it would be. */
static size_t position_of(const streams *all, const char *name)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(all->list[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

stream *streams_find(streams *all, const char *name)
{
    pthread_mutex_lock(&all->lock);
    size_t position = position_of(all, name);
    stream *found = position < all->count ? all->list[position] : NULL;
    if (found && strcmp(found->name, name) != 0)
        found = NULL;
    if (found)
        found->references++;
    pthread_mutex_unlock(&all->lock);
    return found;
}

void stream_release(stream *one)
{
    streams *all = one->all;
    pthread_mutex_lock(&all->lock);
    bool is_last = --one->references == 0;
    pthread_mutex_unlock(&all->lock);
    if (is_last)
        stream_free(one);
}

/* Takes over the caller's reference. */
static bool add_to_list(streams *all, stream *one)
{
    pthread_mutex_lock(&all->lock);
    stream **larger = realloc(all->list, (all->count + 1) * sizeof *larger);
    if (larger) {
        all->list = larger;
        size_t at = position_of(all, one->name);
        memmove(&larger[at + 1], &larger[at], (all->count - at) * sizeof *larger);
        larger[at] = one;
        all->count++;
    }
    pthread_mutex_unlock(&all->lock);
    return larger != NULL;
}

/* Under the lock. */
static void take_off_list(streams *all, size_t at)
{
    all->count--;
    memmove(&all->list[at], &all->list[at + 1], (all->count - at) * sizeof *all->list);
}

static void remove_from_list(streams *all, const char *name)
{
    pthread_mutex_lock(&all->lock);
    take_off_list(all, position_of(all, name));
    pthread_mutex_unlock(&all->lock);
}

size_t streams_count(streams *all)
{
    pthread_mutex_lock(&all->lock);
    const size_t count = all->count;
    pthread_mutex_unlock(&all->lock);
    return count;
}

const streams_options *streams_asked(const streams *all)
{
    return &all->asked;
}

void streams_each(streams *all, void (*visit)(void *context, stream *one), void *context)
{
    size_t count = 0;
    pthread_mutex_lock(&all->lock);
    stream **list = calloc(all->count + 1, sizeof *list);
    for (; list && count < all->count; count++) {
        list[count] = all->list[count];
        list[count]->references++;
    }
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < count; i++) {
        visit(context, list[i]);
        stream_release(list[i]);
    }
    free(list);
}

feed *streams_feed(streams *all)
{
    return all->events;
}

removed_reports *streams_removed_reports(streams *all)
{
    return &all->removed;
}

/* ---- The saver ---- */

/* What one round of the saver does. */
typedef struct saver_round {
    bool must_sync, must_look; /* journals; everything else, once per second */
    double now;
} saver_round;

/* Other streams do not wait for a long body of this one. If a save is due, it follows the body. */
static bool begin_attending(stream *one)
{
    if (stream_may_change_now(one))
        return true;
    stream_read_lock(one);
    if (!one->is_removed)
        stream_publish_rows(one);
    one->must_save = stream_is_save_due(one);
    stream_read_unlock(one);
    return false;
}

static void attend(void *context, stream *one)
{
    const saver_round *round = context;
    problem why;
    if (round->must_sync)
        stream_sync(one);
    if (!round->must_look || !begin_attending(one))
        return;
    if (!one->is_removed) {
        stream_note_idle(one, round->now);
        stream_end_idle_episodes(one, round->now);
        stream_end_waiting(one, round->now);
        stream_keep_reported(one);
        stream_try_disk(one);
        if (stream_is_save_due(one))
            stream_save(one, &why);
        stream_publish_rows(one);
    }
    stream_end_change(one);
}

static void *save_by_the_clock(void *context)
{
    streams *all = context;
    const double look_every = 1;
    const double save_every = all->asked.save_every;
    double sync_every = save_every > 0 ? fmax(save_every, 0.01) : look_every;
    double now = clock_seconds(), next_sync = now + sync_every, next_look = now + look_every;
    while (background_wait(&all->saver, fmin(next_sync, next_look) - clock_seconds())) {
        now = clock_seconds();
        saver_round round = {.must_sync = now >= next_sync,
                             .must_look = now >= next_look,
                             .now = background_wall_seconds()};
        streams_each(all, attend, &round);
        streams_drop_provisional(all); /* those that a refused post could not */
        now = clock_seconds();
        if (round.must_sync)
            next_sync = now + sync_every;
        if (round.must_look)
            next_look = now + look_every;
    }
    return NULL;
}

/* ---- The folder ---- */

static bool fail(problem *why, const char *path, const char *what)
{
    return problem_set(why, 503, "choose another folder: oif serve --data DIR", "%s: %s: %s", path,
                       what, strerror(errno));
}

/* A server keeps this lock until it ends. */
static bool hold_folder(streams *all, problem *why)
{
    char path[FOLDER_BYTES + 16];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/.lock", all->folder);
    all->lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (all->lock_file < 0)
        return fail(why, path, "cannot be written");
    if (fcntl(all->lock_file, F_SETLK, &whole) == 0)
        return true;
    return errno == EACCES || errno == EAGAIN
               ? problem_set(why, 503, "choose another folder: oif serve --data DIR",
                             "%s: another oif serve uses this folder", all->folder)
               : fail(why, path, "cannot be locked");
}

/* Creates a folder that survives a power loss. */
static bool make_synced(const char *path, problem *why)
{
    char parent[FOLDER_BYTES + 16];
    if (mkdir(path, 0700) != 0)
        return errno == EEXIST || fail(why, path, "cannot be created");
    snprintf(parent, sizeof parent, "%s/..", path);
    return folder_sync(parent) || fail(why, path, "cannot be created");
}

static bool make_folder(streams *all, const char *folder, problem *why)
{
    if (!folder)
        return true;
    if (strlen(folder) + sizeof "/streams" > FOLDER_BYTES)
        return problem_set(why, 400, NULL, "the path of the data folder is too long");
    all->folder = malloc(strlen(folder) + sizeof "/streams");
    if (!all->folder)
        return problem_set(why, 503, NULL, "out of memory");
    sprintf(all->folder, "%s/streams", folder);
    return make_synced(folder, why) && make_synced(all->folder, why) && hold_folder(all, why);
}

static const char *folder_of(const streams *all, const char *before, const char *name,
                             char path[FOLDER_BYTES + 128])
{
    snprintf(path, FOLDER_BYTES + 128, "%s/%s%s", all->folder, before, name);
    return path;
}

/* ---- Opening and closing ---- */

static bool load_stream(streams *all, const char *name, problem *why)
{
    char path[FOLDER_BYTES + 128];
    problem of_stream; /* the stream itself reports it */
    folder_restrict(folder_of(all, "", name, path));
    const stream_asked kept = {.name = name, .folder = folder_of(all, "", name, path)};
    stream *one = stream_new(all, &kept, &of_stream);
    if (!one || !add_to_list(all, one))
        return problem_set(why, 503, NULL, "out of memory");
    return true;
}

/* Whether an entry of the folder is a stream; reports other entries, except remains of a crash. */
static bool is_stream(const streams *all, const char *name)
{
    char path[FOLDER_BYTES + 128 + NAME_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", all->folder, name);
    if (strncmp(name, ".removed-", 9) == 0 || strncmp(name, ".new-", 5) == 0)
        folder_remove(path);
    if (!stream_name_is_valid(name) || stat(path, &info) != 0)
        return false;
    if (!S_ISDIR(info.st_mode)) {
        note("%s: is not the folder of a stream, and is left alone", path);
        return false;
    }
    if (!folder_is_unused(path))
        return true;
    folder_remove(path);
    note("%s: was empty, as the server stopped while it created the stream; it is removed", path);
    return false;
}

static bool load_streams(streams *all, problem *why)
{
    DIR *folder = all->folder ? opendir(all->folder) : NULL;
    bool is_good = true;
    if (!folder)
        return !all->folder || fail(why, all->folder, "cannot be read");
    for (const struct dirent *entry; is_good && (entry = readdir(folder)) != NULL;)
        if (is_stream(all, entry->d_name))
            is_good = load_stream(all, entry->d_name, why);
    closedir(folder);
    return is_good;
}

static streams *new_streams(const streams_options *options)
{
    streams *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->asked = *options;
    if (options->max_streams == 0)
        all->asked.max_streams = USUAL_MAX_STREAMS;
    if (options->max_columns == 0)
        all->asked.max_columns = USUAL_MAX_COLUMNS;
    if (options->history_bytes == 0)
        all->asked.history_bytes = USUAL_HISTORY_BYTES;
    all->events = feed_new();
    all->lock_file = -1;
    pthread_mutex_init(&all->changing, NULL);
    pthread_mutex_init(&all->lock, NULL);
    pthread_mutex_init(&all->removed.lock, NULL);
    return all;
}

bool streams_prepare(const streams_options *options, streams **prepared, problem *why)
{
    streams *all = new_streams(options);
    if (!all || !all->events) {
        free(all);
        return problem_set(why, 503, NULL, "out of memory");
    }
    descriptors_raise_limit();
    if (make_folder(all, options->folder, why)) {
        *prepared = all;
        return true;
    }
    streams_close(all);
    return false;
}

bool streams_load(streams *all, problem *why)
{
    if (!load_streams(all, why))
        return false;
    streams_drop_provisional(all);
    all->has_saver = background_start(&all->saver, save_by_the_clock, all) == 0;
    return all->has_saver || problem_set(why, 503, NULL, "no thread could be started");
}

bool streams_open(const streams_options *options, streams **opened, problem *why)
{
    if (!streams_prepare(options, opened, why))
        return false;
    if (streams_load(*opened, why))
        return true;
    streams_close(*opened);
    *opened = NULL;
    return false;
}

static void save_last(void *context, stream *one)
{
    bool *is_saved = context;
    problem why;
    stream_begin_change(one);
    stream_keep_reported(one);
    if (!stream_is_cheap_to_replay(one) && !stream_save(one, &why))
        *is_saved = false;
    stream_end_change(one);
    if (!stream_sync(one))
        *is_saved = false;
}

bool streams_close(streams *all)
{
    bool is_saved = true;
    if (!all)
        return true;
    if (all->has_saver)
        background_stop(&all->saver);
    streams_each(all, save_last, &is_saved);
    for (size_t i = 0; i < all->count; i++)
        stream_free(all->list[i]);
    free(all->list);
    if (all->lock_file >= 0)
        close(all->lock_file);
    incident_reports_free(&all->removed.reports);
    pthread_mutex_destroy(&all->removed.lock);
    feed_free(all->events);
    pthread_mutex_destroy(&all->changing);
    pthread_mutex_destroy(&all->lock);
    free(all->folder);
    free(all);
    return is_saved;
}

/* ---- Making and removing ---- */

/* Whether an existing stream has these settings. */
static bool compare_settings(stream *one, json_t *settings, problem *why)
{
    stream_settings asked;
    char names[SETTING_NAMES_BYTES];
    if (!stream_settings_open(&asked, settings, one->folder != NULL, why))
        return false;
    stream_read_lock(one);
    bool is_usable = !one->is_broken || stream_publish_broken(one, why);
    bool is_same = is_usable && stream_settings_fit(asked.object, one->settings.object, names);
    stream_read_unlock(one);
    stream_settings_close(&asked);
    if (is_same || !is_usable)
        return is_usable;
    return problem_set(why, 409, "choose another name, or change it with PATCH",
                       "the stream \"%s\" has other settings: %s", one->name, names);
}

static stream *make_stream(streams *all, const stream_asked *asked, problem *why)
{
    char path[FOLDER_BYTES + 128];
    if (streams_count(all) >= all->asked.max_streams) {
        problem_set(why, 429, "Remove streams, or raise max-streams in the configuration.",
                    "there are %zu streams already, as many as allowed", all->asked.max_streams);
        return NULL;
    }
    stream_asked placed = *asked;
    placed.folder = all->folder ? folder_of(all, "", asked->name, path) : NULL;
    placed.settings = asked->settings ? json_incref(asked->settings) : json_object();
    stream *one = stream_new(all, &placed, why);
    json_decref(placed.settings);
    if (!one)
        return NULL;
    one->references++; /* one for the list, one for the caller */
    if (add_to_list(all, one))
        return one;
    stream_free(one);
    problem_set(why, 503, NULL, "out of memory");
    return NULL;
}

static bool create(streams *all, const stream_asked *asked, stream **made, bool *is_new,
                   problem *why)
{
    if (!stream_name_is_valid(asked->name))
        return problem_set(why, 400, "such as web-1",
                           "the name of a stream has up to 64 letters, digits, dots, _ and -, and "
                           "begins with a letter or a digit");
    pthread_mutex_lock(&all->changing);
    stream *one = streams_find(all, asked->name);
    *is_new = one == NULL;
    if (*is_new)
        one = make_stream(all, asked, why);
    bool is_good = one && (*is_new || compare_settings(one, asked->settings, why));
    if (is_good && !asked->is_provisional)
        stream_confirm(one);
    pthread_mutex_unlock(&all->changing);
    if (one && (!is_good || !made))
        stream_release(one);
    if (made)
        *made = is_good ? one : NULL;
    return is_good;
}

bool streams_create(streams *all, const char *name, json_t *settings, stream **made, bool *is_new,
                    problem *why)
{
    return create(all, &(stream_asked){name, NULL, settings, false}, made, is_new, why);
}

bool streams_create_for_rows(streams *all, const char *name, json_t *settings, stream **made,
                             problem *why)
{
    bool is_new;
    return create(all, &(stream_asked){name, NULL, settings, true}, made, &is_new, why);
}

/* Renames it first, so it never comes back partly. */
static bool remove_kept(streams *all, stream *one, problem *why)
{
    char path[FOLDER_BYTES + 128], removed[FOLDER_BYTES + 128];
    bool is_removed = true;
    pthread_mutex_lock(&one->saving);
    stream_begin_change(one);
    if (one->folder) {
        folder_of(all, "", one->name, path);
        folder_of(all, ".removed-", one->name, removed);
        folder_remove(removed);
        is_removed = rename(path, removed) == 0 || errno == ENOENT;
        if (is_removed && !folder_sync(all->folder))
            note("%s: was removed, but may be there again after a power cut: %s", path,
                 strerror(errno));
    }
    one->is_removed = is_removed;
    if (!is_removed)
        fail(why, path, "cannot be removed");
    else if (one->folder)
        folder_remove(removed);
    if (is_removed) {
        stream_end_incidents(one, background_wall_seconds());
        streams_keep_reports(all, one);
    }
    stream_end_change(one);
    pthread_mutex_unlock(&one->saving);
    return is_removed;
}

bool streams_remove(streams *all, const char *name, problem *why)
{
    pthread_mutex_lock(&all->changing);
    stream *one = streams_find(all, name);
    bool is_removed =
        one ? remove_kept(all, one, why) : problem_set(why, 404, NULL, "there is no such stream");
    if (is_removed)
        remove_from_list(all, name);
    pthread_mutex_unlock(&all->changing);
    if (is_removed)
        stream_release(one); /* the list's reference */
    if (one)
        stream_release(one);
    return is_removed;
}

/* Takes one off the list, so no request finds it any more; NULL: there is none. */
static stream *take_provisional(streams *all)
{
    stream *found = NULL;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count && !found; i++) {
        /* with a reference, a request may be changing it */
        if (all->list[i]->references > 1 || !all->list[i]->is_provisional)
            continue;
        found = all->list[i];
        take_off_list(all, i);
    }
    pthread_mutex_unlock(&all->lock);
    return found;
}

void streams_drop_provisional(streams *all)
{
    problem why;
    pthread_mutex_lock(&all->changing);
    for (stream *one; (one = take_provisional(all)) != NULL;) {
        if (!remove_kept(all, one, &why))
            note("stream %s: %s", one->name, why.message);
        stream_release(one);
    }
    pthread_mutex_unlock(&all->changing);
}

/* ---- All together ---- */

/* The disk is that of all streams; a damaged stream is a matter of its own. */
static bool look_for_error(stream *one, bool wants_damage, problem *why)
{
    static const char usual[] =
        "make room on the disk, or repair it; the stream then recovers on its own";
    bool is_good = true;
    stream_read_lock(one);
    if (one->is_broken ? wants_damage : one->is_failing || one->refused_bytes > 0)
        is_good = problem_set(why, 503, one->is_broken ? one->remedy : usual, "stream %s: %s",
                              one->name, one->error);
    stream_read_unlock(one);
    return is_good;
}

static void look_for_disk_error(void *context, stream *one)
{
    problem *why = context;
    if (why->status == 0)
        look_for_error(one, false, why);
}

bool streams_are_ready(streams *all, problem *why)
{
    *why = (problem){.status = 0};
    streams_each(all, look_for_disk_error, why);
    return why->status == 0;
}

bool stream_is_ready(stream *one, problem *why)
{
    return look_for_error(one, true, why);
}

static void count_damaged(void *context, stream *one)
{
    size_t *count = context;
    stream_read_lock(one);
    *count += one->is_broken;
    stream_read_unlock(one);
}

size_t streams_count_damaged(streams *all)
{
    size_t count = 0;
    streams_each(all, count_damaged, &count);
    return count;
}

/* Streams in the test's own folder, for the tests of serve/stream*.c. */
#ifndef OIF_TESTS_SERVE_STREAM_FIXTURE_H
#define OIF_TESTS_SERVE_STREAM_FIXTURE_H

#include "front/text/output.h"
#include "serve/stream/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64]; /* of this test */

/* ---- The folder ---- */

__attribute__((format(printf, 1, 2))) static inline void run(const char *command, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, command);
    vsnprintf(line, sizeof line, command, arguments);
    va_end(arguments);
    assert_int_equal(system(line), 0);
}

/* In memory if there is such a folder: hundreds of streams are saved here. */
static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/oif_serve_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    run("rm -rf %s %s.*", folder, folder);
    return 0;
}

/* ---- Streams ---- */

static inline streams *open_every(const char *path, double save_every)
{
    const streams_options options = {.folder = path, .save_every = save_every};
    streams *all;
    problem why;
    if (!streams_open(&options, &all, &why))
        fail_msg("%s", why.message);
    return all;
}

/* No periodic sync while a test runs. */
static inline streams *open_at(const char *path)
{
    return open_every(path, 1000);
}

static inline stream *create(streams *all, const char *name, const char *settings)
{
    stream *made;
    bool is_new;
    problem why;
    json_t *object = json_loads(settings, 0, NULL);
    assert_non_null(object);
    if (!streams_create(all, name, object, &made, &is_new, &why))
        fail_msg("%s", why.message);
    json_decref(object);
    return made;
}

static inline stream_figures figures_of(stream *one)
{
    stream_figures figures;
    stream_get_figures(one, &figures);
    return figures;
}

static inline uint64_t rows_of(stream *one)
{
    return figures_of(one).rows;
}

/* A killed server leaves its files as they are. FOLDER.copy is what a restart would find now. */
static inline streams *open_killed(void)
{
    char copy[sizeof folder + 8];
    snprintf(copy, sizeof copy, "%s.copy", folder);
    run("rm -rf %s && cp -r %s %s", copy, folder, copy);
    return open_at(copy);
}

/* ---- Random numbers ---- */

static uint64_t seed = 20261116;

static inline uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

#endif

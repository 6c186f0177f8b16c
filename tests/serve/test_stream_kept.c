/* What is kept of a stream: when files are damaged or lost, a disk is full or the clock is set. */
#include "../../serve/streams.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64]; /* of this test */
static char kept[96];   /* folder/streams/one */

/* ---- The clock ---- */

static time_t ahead; /* how far the machine's clock is ahead of that of waits */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int outcome = __real_clock_gettime(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += ahead;
    return outcome;
}

/* ---- Streams ---- */

static void run(const char *command, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, command);
    vsnprintf(line, sizeof line, command, arguments);
    va_end(arguments);
    assert_int_equal(system(line), 0);
}

static streams *open_every(double save_every)
{
    const streams_options options = {.folder = folder, .save_every = save_every};
    streams *all;
    problem why;
    if (!streams_open(&options, &all, &why))
        fail_msg("%s", why.message);
    return all;
}

static streams *open_empty(void)
{
    run("rm -rf %s/*", folder);
    return open_every(1000);
}

/* What is said on stderr while the streams are opened; to be freed. */
static streams *open_and_listen(char **said)
{
    FILE *heard = tmpfile();
    assert_non_null(heard);
    int usual = dup(STDERR_FILENO);
    dup2(fileno(heard), STDERR_FILENO);
    streams *all = open_every(1000);
    dup2(usual, STDERR_FILENO);
    close(usual);
    *said = calloc(1, 4096);
    assert_non_null(*said);
    rewind(heard);
    if (fread(*said, 1, 4095, heard) == 0)
        (*said)[0] = '\0';
    fclose(heard);
    return all;
}

static stream *make(streams *all, const char *name)
{
    stream *made;
    bool is_new;
    problem why;
    if (!streams_create(all, name, NULL, &made, &is_new, &why))
        fail_msg("%s", why.message);
    return made;
}

static bool send(stream *one, const char *body, bool is_durable, problem *why)
{
    const rows_request request = {
        .body = body, .bytes = strlen(body), .answer = ANSWER_COUNT, .is_durable = is_durable};
    rows_answer answer;
    return stream_rows(one, &request, &answer, why);
}

static void send_bodies(stream *one, int count)
{
    problem why;
    for (int i = 0; i < count; i++)
        if (!send(one, i == 0 ? "a,b\n1,2\n3,4\n" : "5,6\n7,8\n", false, &why))
            fail_msg("%s", why.message);
}

static stream_figures figures_of(stream *one)
{
    stream_figures figures;
    stream_get_figures(one, &figures);
    return figures;
}

/* A server that was killed leaves its files as they are: a copy of them comes back. */
static void kill_streams(streams *all)
{
    run("rm -rf %s.copy; cp -r %s %s.copy", folder, folder, folder);
    streams_close(all);
    run("rm -rf %s/*; cp -r %s.copy/* %s", folder, folder, folder);
}

/* The stream cannot be used, and says what is wrong and what helps. */
static void assert_broken(streams *all, const char *reason, const char *remedy)
{
    stream *one = streams_find(all, "one"), *same = NULL;
    bool is_new;
    problem why;
    assert_non_null(one);
    assert_false(send(one, "9,9\n", false, &why));
    assert_int_equal(why.status, 503);
    if (!strstr(why.message, reason) || !strstr(why.remedy, remedy))
        fail_msg("%s: %s", why.message, why.remedy);
    assert_false(streams_create(all, "one", NULL, &same, &is_new, &why));
    assert_int_equal(why.status, 503);
    assert_false(streams_are_ready(all, &why));
    assert_non_null(strstr(why.remedy, remedy));
    stream_release(one);
}

static off_t size_of(const char *file)
{
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", kept, file);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

static void flip_byte(const char *file, off_t at)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", kept, file);
    FILE *changed = fopen(path, "r+");
    assert_non_null(changed);
    fseek(changed, at, SEEK_SET);
    int byte = fgetc(changed);
    fseek(changed, at, SEEK_SET);
    fputc(byte ^ 1, changed);
    fclose(changed);
}

/* ---- The journal ---- */

static void a_bad_byte_within_the_journal_is_not_taken_for_its_end(void **state)
{
    streams *all = open_empty();
    stream *one = make(all, "one");
    (void)state;
    send_bodies(one, 6);
    stream_release(one);
    kill_streams(all);
    const off_t size = size_of("journal"), last = 48 + 8; /* a record of one body of 8 bytes */
    for (off_t at = 8; at < size - last; at++) {
        flip_byte("journal", at);
        run("cp %s/journal %s.damaged", kept, folder);
        all = open_every(1000);
        assert_broken(all, "damaged at byte", "truncate -s");
        streams_close(all);
        run("cmp %s/journal %s.damaged", kept, folder);
        flip_byte("journal", at);
    }
    all = open_every(1000);
    one = streams_find(all, "one");
    assert_int_equal(figures_of(one).rows, 12);
    stream_release(one);
    streams_close(all);
}

static void what_is_torn_off_the_journal_is_kept_aside(void **state)
{
    streams *all = open_empty();
    stream *one = make(all, "one");
    char *said;
    (void)state;
    send_bodies(one, 3);
    stream_release(one);
    kill_streams(all);
    run("truncate -s %lld %s/journal", (long long)size_of("journal") - 3, kept);
    run("tail -c 53 %s/journal > %s.torn", kept, folder);
    all = open_and_listen(&said);
    one = streams_find(all, "one");
    assert_int_equal(figures_of(one).rows, 4);
    run("cmp %s/journal.torn %s.torn", kept, folder);
    if (!strstr(said, "53 bytes") || !strstr(said, "journal.torn"))
        fail_msg("%s", said);
    free(said);
    stream_release(one);
    streams_close(all);
}

/* ---- The clock ---- */

/* The saver asks for the time, and then the clock is set back by an hour. */
static void journals_are_synced_although_the_clock_was_set_back(void **state)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    (void)state;
    run("rm -rf %s/*", folder);
    ahead = 3600;
    streams *all = open_every(0.01);
    stream *one = make(all, "one");
    send_bodies(one, 2);
    for (int i = 0; i < 2000 && figures_of(one).saved < 4; i++)
        nanosleep(&pause, NULL);
    uint64_t saved = figures_of(one).saved;
    ahead = 0;
    stream_release(one);
    streams_close(all);
    assert_int_equal(saved, 4);
}

/* ---- The test ---- */

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/oif_kept_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    bool is_made = mkdtemp(folder) != NULL;
    snprintf(kept, sizeof kept, "%s/streams/one", folder);
    return is_made ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    run("rm -rf %s %s.*", folder, folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_byte_within_the_journal_is_not_taken_for_its_end),
        cmocka_unit_test(what_is_torn_off_the_journal_is_kept_aside),
        cmocka_unit_test(journals_are_synced_although_the_clock_was_set_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

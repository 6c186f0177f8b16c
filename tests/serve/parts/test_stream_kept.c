/* What is stored of a stream: damaged or lost files, a full disk, a clock that is set. */
#include "serve/stream/stream_parts.h"
#include "stream_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static char kept[96]; /* folder/streams/one */

/* ---- The clock ---- */

static time_t ahead; /* how far the wall clock is ahead of the clock of waits */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int outcome = __real_clock_gettime(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += ahead;
    return outcome;
}

/* ---- Calls to the disk ---- */

static char disk_log[1 << 16]; /* a line for each sync and rename */

static void log_disk(const char *what, const char *path)
{
    size_t used = strlen(disk_log);
    snprintf(disk_log + used, sizeof disk_log - used, "%s %s\n", what, path);
}

int __wrap_fsync(int fd);
int __real_fsync(int fd);

int __wrap_fsync(int fd)
{
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    log_disk("fsync", path);
    return __real_fsync(fd);
}

static _Atomic bool is_disk_bad;

int __wrap_fdatasync(int fd);
int __real_fdatasync(int fd);

int __wrap_fdatasync(int fd)
{
    if (!is_disk_bad)
        return __real_fdatasync(fd);
    errno = ENOSPC;
    return -1;
}

int __wrap_rename(const char *from, const char *to);
int __real_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to)
{
    log_disk("rename", to);
    return __real_rename(from, to);
}

/* Finds the line after `from` that begins and ends like this. */
static const char *logged_after(const char *from, const char *what, const char *path)
{
    char line[256];
    snprintf(line, sizeof line, "%s %s\n", what, path);
    const char *found = from ? strstr(from, line) : NULL;
    if (!found)
        fail_msg("there is no '%s %s' behind '%.100s' in\n%s", what, path, from, disk_log);
    return found;
}

/* ---- Streams ---- */

static streams *open_empty(void)
{
    run("rm -rf %s/*", folder);
    return open_every(folder, 1000);
}

/* Captures stderr while the streams are opened; the caller frees it. */
static streams *open_and_listen(char **said)
{
    FILE *heard = tmpfile();
    assert_non_null(heard);
    int usual = dup(STDERR_FILENO);
    dup2(fileno(heard), STDERR_FILENO);
    streams *all = open_every(folder, 1000);
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

/* A killed server leaves its files as they are: a copy of them is opened. */
static void kill_streams(streams *all)
{
    run("rm -rf %s.copy; cp -r %s %s.copy", folder, folder, folder);
    streams_close(all);
    run("rm -rf %s/*; cp -r %s.copy/* %s", folder, folder, folder);
}

/* The stream cannot be used, and reports what is wrong and what helps. */
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
    assert_false(stream_is_ready(one, &why));
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

/* ---- The order of day and month ---- */

static void expect_day_first(stream *one)
{
    problem why;
    assert_false(send(one, "02/13/2026,3\n", false, &why));
    if (!strstr(why.message, "its month comes first"))
        fail_msg("%s", why.message);
    if (!send(one, "03/02/2026,3\n", false, &why)) /* the stream is as it was */
        fail_msg("%s", why.message);
}

static void the_order_of_day_and_month_outlives_a_restart(void **state)
{
    (void)state;
    streams *all = open_empty();
    stream *one = make(all, "one");
    problem why;
    assert_true(send(one, "at,x\n01/02/2026,1\n13/02/2026,2\n", false, &why));
    expect_day_first(one);
    stream_release(one);
    streams_close(all);
    all = open_every(folder, 1000);
    one = streams_find(all, "one");
    assert_non_null(one);
    expect_day_first(one);
    stream_release(one);
    streams_close(all);
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
        all = open_every(folder, 1000);
        assert_broken(all, "damaged at byte", "truncate -s");
        streams_close(all);
        run("cmp %s/journal %s.damaged", kept, folder);
        flip_byte("journal", at);
    }
    all = open_every(folder, 1000);
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

/* The saver reads the clock, and then the clock is set back by an hour. */
static void journals_are_synced_although_the_clock_was_set_back(void **state)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    (void)state;
    run("rm -rf %s/*", folder);
    ahead = 3600;
    streams *all = open_every(folder, 0.01);
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

/* ---- Folders ---- */

static void a_new_stream_is_on_disk_before_its_rows_are(void **state)
{
    char made[128], data[96], all_streams[128], path[160];
    streams *all;
    problem why;
    (void)state;
    run("rm -rf %s/*", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(all_streams, sizeof all_streams, "%s/streams", data);
    const streams_options options = {.folder = data, .save_every = 1000};
    disk_log[0] = '\0';
    assert_true(streams_open(&options, &all, &why));
    logged_after(disk_log, "fsync", folder);
    logged_after(disk_log, "fsync", data);
    disk_log[0] = '\0';
    stream *one = make(all, "one");
    snprintf(made, sizeof made, "%s/streams/.new-one", data);
    snprintf(path, sizeof path, "%s/journal", made);
    const char *at = logged_after(disk_log, "fsync", path);
    at = logged_after(at, "fsync", made);
    snprintf(path, sizeof path, "%s/one", all_streams);
    at = logged_after(at, "rename", path);
    logged_after(at, "fsync", all_streams);
    stream_release(one);
    disk_log[0] = '\0';
    assert_true(streams_remove(all, "one", &why));
    snprintf(path, sizeof path, "%s/.removed-one", all_streams);
    logged_after(logged_after(disk_log, "rename", path), "fsync", all_streams);
    streams_close(all);
}

static void folders_that_are_not_streams_are_passed_over_with_a_note(void **state)
{
    char *said;
    problem why;
    (void)state;
    streams_close(open_empty());
    run("cd %s/streams; mkdir empty half .new-cut; touch plain; echo '{' > half/settings.json.new; "
        "echo '{}' > .new-cut/settings.json",
        folder);
    streams *all = open_and_listen(&said);
    if (!streams_are_ready(all, &why))
        fail_msg("%s", why.message);
    assert_int_equal(streams_count(all), 0);
    static const char *const names[] = {"streams/plain", "streams/empty", "streams/half"};
    for (size_t i = 0; i < 3; i++)
        if (!strstr(said, names[i]))
            fail_msg("nothing is said of %s: %s", names[i], said);
    run("cd %s/streams; test ! -e empty && test ! -e half && test ! -e .new-cut && test -e plain",
        folder);
    stream *one = make(all, "empty");
    stream_release(one);
    free(said);
    bool is_new;
    assert_false(streams_create(all, "plain", NULL, NULL, &is_new, &why));
    run("cd %s/streams; test -f plain && test ! -e .new-plain", folder);
    streams_close(all);
}

/* ---- The state and settings.json ---- */

/* A server that ends normally, twice: the first state is kept in FOLDER.state. */
static void save_twice(void)
{
    streams *all = open_empty();
    stream *one = make(all, "one");
    send_bodies(one, 2);
    stream_release(one);
    streams_close(all);
    run("cp %s/state %s.state", kept, folder);
    all = open_every(folder, 1000);
    one = streams_find(all, "one");
    send_bodies(one, 1);
    assert_int_equal(figures_of(one).rows, 6);
    stream_release(one);
    streams_close(all);
}

/* Opens the stream after `command` changed its folder; nothing in there is written. */
static void assert_refused(const char *command, const char *reason, const char *remedy)
{
    save_twice();
    run("cd %s; %s", kept, command);
    run("rm -rf %s.copy; cp -r %s %s.copy", folder, kept, folder);
    streams *all = open_every(folder, 1000);
    assert_broken(all, reason, remedy);
    streams_close(all);
    run("diff -r %s %s.copy", kept, folder);
}

static void a_lost_or_older_state_is_noticed(void **state)
{
    char older[128];
    (void)state;
    assert_refused("rm state", "state: is missing", "backup of the whole folder");
    assert_refused("> state", "cut off", "restore a backup");
    assert_refused("rm state history", "state: is missing", "backup of the whole folder");
    assert_refused(
        "rm state; echo '{\"version\": 1, \"settings\": {}, \"snapshot\": null}' > settings.json",
        "state: is missing", "backup of the whole folder");
    snprintf(older, sizeof older, "cp %s.state state", folder);
    assert_refused(older, "is older", "backup of the whole folder");
}

static void a_state_that_cannot_be_loaded_has_a_cause(void **state)
{
    problem why;
    (void)state;
    save_twice();
    run("> %s/state", kept);
    streams *all = open_every(folder, 1000);
    stream *one = streams_find(all, "one");
    assert_false(send(one, "9,9\n", false, &why));
    assert_int_equal(why.cause, OIF_CAUSE_TRUNCATED_SNAPSHOT);
    stream_release(one);
    streams_close(all);
}

static void settings_that_were_spoilt_are_refused_with_the_reason(void **state)
{
    static const char *const bad[][2] = {
        {"[]", "is not a JSON object"},
        {"{}", "has no \"version\""},
        {"{\"version\": 1}", "has no \"settings\""},
        {"{\"version\": 1, \"settings\": 7}", "has no \"settings\""},
        {"{\"version\": 2, \"settings\": {}}", "newer version of oif"},
        {"{\"version\": 1, \"settings\": {\"nope\": 1}}", "nope"},
        {"{\"version\": 1, \"settings\": {}, \"snapshot\": []}", "\"snapshot\""},
        {"{\"version\": 1, \"set", "settings.json:1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char command[256];
        snprintf(command, sizeof command, "echo '%s' > settings.json", bad[i][0]);
        assert_refused(command, bad[i][1], i == 4 ? "install" : "restore a backup");
    }
}

/* The first server is killed before a snapshot takes its history.new, the second while its next
 * snapshot writes another one. */
static void a_history_survives_two_interrupted_snapshots(void **state)
{
    char *said;
    (void)state;
    save_twice();
    run("mv %s/history %s/history.new", kept, kept);
    kill_streams(open_every(folder, 1000));
    run("> %s/history.new", kept);
    streams *all = open_and_listen(&said);
    if (strstr(said, "history is lost"))
        fail_msg("%s", said);
    free(said);
    streams_close(all);
}

static void a_lost_journal_is_said(void **state)
{
    char *said;
    (void)state;
    save_twice();
    run("rm %s/journal", kept);
    streams *all = open_and_listen(&said);
    stream *one = streams_find(all, "one");
    assert_int_equal(figures_of(one).rows, 6);
    if (!strstr(said, "journal: is missing"))
        fail_msg("%s", said);
    free(said);
    stream_release(one);
    streams_close(all);
}

static void take_last_seen(void *context, const stream_key *key)
{
    *(double *)context = key->last_seen;
}

static void how_times_are_written_outlives_the_history(void **state)
{
    json_t *settings = json_loads("{\"time\": \"at\"}", 0, NULL);
    streams *all = open_empty();
    stream *one;
    bool is_new;
    double seen = 0;
    problem why;
    (void)state;
    assert_true(streams_create(all, "one", settings, &one, &is_new, &why));
    json_decref(settings);
    assert_true(send(one, "at,a\n1594769501000,1\n1594769502000,2\n", false, &why));
    stream_release(one);
    streams_close(all);
    run("rm %s/history", kept);
    all = open_every(folder, 1000);
    one = streams_find(all, "one");
    assert_true(send(one, "5000,3\n", false, &why)); /* milliseconds, as detected before */
    stream_each_key(one, 1, take_last_seen, &seen);
    assert_true(seen == 5);
    stream_release(one);
    streams_close(all);
}

static void no_stray_bytes_of_memory_are_stored(void **state)
{
    streams *all = open_empty();
    stream *one = make(all, "one");
    problem why;
    (void)state;
    assert_true(send(one, "a\n1\n2\n", false, &why));
    unsigned char *times = (unsigned char *)&one->times.format;
    const size_t padding = offsetof(oif_time_format, is_uncertain) + sizeof(bool);
    for (size_t i = padding; i < offsetof(oif_time_format, reserved); i++)
        times[i] = 'Z';
    stream_release(one);
    streams_close(all);
    run("test -s %s/history && ! grep -q ZZZ %s/history", kept, kept);
}

/* ---- Full disks and too many files ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A body that does not fit on the disk, and the answer of /readyz. */
static void refuse_a_body(streams *all, stream *one)
{
    char body[2000];
    problem why;
    memset(body, '5', sizeof body);
    memcpy(body, "5,6\n7,", 6);
    body[sizeof body - 1] = '\0';
    limit_files(300);
    assert_false(send(one, body, false, &why));
    bool is_ready = streams_are_ready(all, &why);
    limit_files(RLIM_INFINITY);
    assert_false(is_ready);
    assert_non_null(strstr(why.message, "journal"));
    assert_non_null(strstr(why.remedy, "make room"));
}

static bool becomes_ready(streams *all, bool is_expected)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    problem why;
    for (int i = 0; i < 1000 && streams_are_ready(all, &why) != is_expected; i++)
        nanosleep(&pause, NULL);
    return streams_are_ready(all, &why);
}

static void a_full_disk_is_not_ready_until_a_write_works(void **state)
{
    streams *all = open_empty();
    stream *one = make(all, "one");
    problem why;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_true(streams_are_ready(all, &why));
    send_bodies(one, 2);
    refuse_a_body(all, one);
    assert_true(send(one, "5,6\n", false, &why));
    assert_true(streams_are_ready(all, &why));
    refuse_a_body(all, one); /* no rows come: a balancer sends none before it is ready */
    assert_true(becomes_ready(all, true));
    assert_false(figures_of(one).has_error);
    stream_release(one);
    streams_close(all);
}

/* With rows and without any, when there is no state to save. */
static void a_journal_that_cannot_be_synced_is_not_ready_until_it_can(void **state)
{
    static const char *const bodies[] = {"a,b\n", "a,b\n1,2\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        problem why;
        run("rm -rf %s/*", folder);
        streams *all = open_every(folder, 0.01);
        stream *one = make(all, "one");
        is_disk_bad = true;
        assert_true(send(one, bodies[i], false, &why));
        /* with rows, a snapshot soon replaces the journal */
        bool is_ready_while_bad = i == 0 && becomes_ready(all, false);
        is_disk_bad = false;
        assert_false(is_ready_while_bad);
        assert_true(becomes_ready(all, true));
        assert_false(figures_of(one).has_error);
        stream_release(one);
        streams_close(all);
    }
}

static size_t make_streams(streams *all, problem *why)
{
    size_t count = 0;
    for (bool is_new; count < 200; count++) {
        char name[16];
        snprintf(name, sizeof name, "s%zu", count);
        if (!streams_create(all, name, NULL, NULL, &is_new, why))
            break;
    }
    return count;
}

/* A hard limit cannot be raised again, so this needs its own process. */
static void run_out_of_files(void)
{
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 256};
    problem why;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(2);
    streams *all = open_empty();
    size_t count = make_streams(all, &why);
    if (count < 20 || count > 60 || why.status != 503 || !strstr(why.remedy, "LimitNOFILE"))
        _exit(3);
    int left = 0;
    while (left < 1000 && dup(0) >= 0)
        left++;
    if (left < 100) /* for connections */
        _exit(4);
    stream *one = streams_find(all, "s1");
    send_bodies(one, 1);
    _exit(0);
}

/* Whether the lock or the folder of the state is the first that cannot be opened, the remedy is the
 * same. */
static void open_streams_with_few_files(void)
{
    struct rlimit limit = {.rlim_cur = 256, .rlim_max = 256};
    int used[256], count = 0, fd;
    bool is_new, was_state = false;
    char name[16] = "s";
    problem why;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(2);
    streams *all = open_empty();
    while (count < 256 && (fd = dup(0)) >= 0)
        used[count++] = fd;
    for (; count > 0 && !streams_create(all, name, NULL, NULL, &is_new, &why); close(used[count])) {
        const bool is_state = why.cause == OIF_CAUSE_SYSTEM;
        if (is_state && !strstr(why.remedy, "LimitNOFILE"))
            _exit(3);
        was_state |= is_state;
        snprintf(name, sizeof name, "s%d", --count);
    }
    _exit(was_state && count > 0 ? 0 : 4);
}

static void expect_success_in_a_process_of_its_own(void (*test)(void))
{
    int status = -1;
    if (getenv("OIF_VALGRIND")) /* it has its own idea of RLIMIT_NOFILE */
        skip();
    pid_t child = fork();
    if (child == 0)
        test();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void streams_leave_open_files_to_connections(void **state)
{
    (void)state;
    expect_success_in_a_process_of_its_own(run_out_of_files);
}

static void too_many_open_files_have_a_remedy_of_their_own(void **state)
{
    (void)state;
    expect_success_in_a_process_of_its_own(open_streams_with_few_files);
}

/* ---- The test ---- */

static int name_stream(void **state)
{
    int failed = make_folder(state);
    snprintf(kept, sizeof kept, "%s/streams/one", folder);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_day_and_month_outlives_a_restart),
        cmocka_unit_test(a_bad_byte_within_the_journal_is_not_taken_for_its_end),
        cmocka_unit_test(what_is_torn_off_the_journal_is_kept_aside),
        cmocka_unit_test(journals_are_synced_although_the_clock_was_set_back),
        cmocka_unit_test(a_new_stream_is_on_disk_before_its_rows_are),
        cmocka_unit_test(folders_that_are_not_streams_are_passed_over_with_a_note),
        cmocka_unit_test(a_lost_or_older_state_is_noticed),
        cmocka_unit_test(a_state_that_cannot_be_loaded_has_a_cause),
        cmocka_unit_test(a_history_survives_two_interrupted_snapshots),
        cmocka_unit_test(a_lost_journal_is_said),
        cmocka_unit_test(settings_that_were_spoilt_are_refused_with_the_reason),
        cmocka_unit_test(how_times_are_written_outlives_the_history),
        cmocka_unit_test(no_stray_bytes_of_memory_are_stored),
        cmocka_unit_test(a_full_disk_is_not_ready_until_a_write_works),
        cmocka_unit_test(a_journal_that_cannot_be_synced_is_not_ready_until_it_can),
        cmocka_unit_test(streams_leave_open_files_to_connections),
        cmocka_unit_test(too_many_open_files_have_a_remedy_of_their_own),
    };
    return cmocka_run_group_tests(tests, name_stream, remove_folder);
}

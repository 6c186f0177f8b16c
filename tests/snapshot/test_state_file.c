/* The state file: one holder, all or nothing, whatever fails. Every system call of a save fails at
 * every position, once and from then on. */
#define _GNU_SOURCE

#include "snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Faults ---- */

typedef enum operation {
    OPEN,
    LOCK,
    WRITE,
    READ,
    SYNC,
    RENAME,
    CLOSE,
    MEMORY,
    OPERATIONS
} operation;

static const char *const operation_names[] = {"open", "lock",   "write", "read",
                                              "sync", "rename", "close", "memory"};

/* instead of an errno: the call takes half of the bytes, or none */
enum { HALF = -1, NOTHING = -2 };

static struct {
    int calls[OPERATIONS];
    operation failing;
    int position, last; /* the first and the last call of that operation that fails; from 0 */
    int reason;         /* errno, or one of the above; 0: no faults */
    int fired;
    bool lock_vanishes; /* whenever it was taken */
} plan;

static void plan_nothing(void)
{
    memset(&plan, 0, sizeof plan);
}

/* Whether this call must fail; errno is then set. */
static bool fails(operation called)
{
    int position = plan.calls[called]++;
    if (!plan.reason || called != plan.failing || position < plan.position || position > plan.last)
        return false;
    plan.fired++;
    if (plan.reason > 0)
        errno = plan.reason;
    return true;
}

static size_t bytes_to_take(size_t count)
{
    return plan.reason == HALF ? (count + 1) / 2 : 0;
}

int __real_openat(int folder, const char *name, int flags, unsigned mode);
int __wrap_openat(int folder, const char *name, int flags, unsigned mode);
int __wrap_openat64(int folder, const char *name, int flags, unsigned mode);
int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
ssize_t __real_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __real_read(int fd, void *bytes, size_t count);
ssize_t __wrap_read(int fd, void *bytes, size_t count);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __real_close(int fd);
int __wrap_close(int fd);
void *__real_oif_memory_new(size_t bytes);
void *__wrap_oif_memory_new(size_t bytes);

int __wrap_openat(int folder, const char *name, int flags, unsigned mode)
{
    return fails(OPEN) ? -1 : __real_openat(folder, name, flags, mode);
}

/* The C library's openat with 64-bit offsets. */
int __wrap_openat64(int folder, const char *name, int flags, unsigned mode)
{
    return fails(OPEN) ? -1 : __real_openat(folder, name, flags, mode);
}

int __wrap_flock(int fd, int how)
{
    if (fails(LOCK))
        return -1;
    if (plan.lock_vanishes)
        unlink("state.lock");
    return __real_flock(fd, how);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (!fails(WRITE))
        return __real_pwrite(fd, bytes, count, offset);
    return plan.reason > 0 ? -1 : __real_pwrite(fd, bytes, bytes_to_take(count), offset);
}

/* The C library's pwrite with 64-bit offsets. */
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    return __wrap_pwrite(fd, bytes, count, offset);
}

ssize_t __wrap_read(int fd, void *bytes, size_t count)
{
    if (!fails(READ))
        return __real_read(fd, bytes, count);
    return plan.reason > 0 ? -1 : __real_read(fd, bytes, bytes_to_take(count));
}

int __wrap_fsync(int fd)
{
    return fails(SYNC) ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails(RENAME) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_close(int fd)
{
    int reason = errno;
    bool failing = fails(CLOSE);
    if (failing)
        reason = errno;
    int result = __real_close(fd); /* even if it fails: the descriptor is then closed */
    if (failing)
        errno = reason;
    return failing ? -1 : result;
}

void *__wrap_oif_memory_new(size_t bytes)
{
    return fails(MEMORY) ? NULL : __real_oif_memory_new(bytes);
}

/* ---- The test's own folder ---- */

static char folder[] = "/tmp/oif-state-XXXXXX";

static int enter_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **unused)
{
    (void)unused;
    /* fails if a test has left something */
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* The folder contains exactly these files, in any order; NULL is the last. */
static void require_files(const char *first, ...)
{
    char expected[200] = "", found[2000] = "";
    size_t count = 0, entries = 0;
    va_list names;
    va_start(names, first);
    for (const char *name = first; name; name = va_arg(names, const char *), count++) {
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " %s", name);
        if (faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            fail_msg("there is no file %s", name);
    }
    va_end(names);
    DIR *entry_list = opendir(".");
    for (struct dirent *entry; (entry = readdir(entry_list)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        entries++;
        snprintf(found + strlen(found), sizeof found - strlen(found), " %.100s", entry->d_name);
    }
    closedir(entry_list);
    if (entries != count)
        fail_msg("the folder has%s instead of%s", found, expected);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void require_message(const oif_error *error, const char *words)
{
    if (!strstr(error->message, words))
        fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

/* ---- Detectors and files ---- */

/* Large enough to be written in several pieces. */
static void learn_some(oif_detector *detector, uint32_t rows)
{
    stream s = {.dice = {7}, .dimension = 5};
    double row[STREAM_DIMENSION];
    for (uint32_t i = 0; i < rows; i++) {
        next_row(&s, row);
        require_ok(oif_detector_learn(detector, row, NULL));
    }
}

static oif_detector *some_detector(uint32_t rows)
{
    oif_detector *detector =
        new_named("online-iforest", "num_trees=9 window_size=60 max_leaf_samples=4", 5);
    learn_some(detector, rows);
    return detector;
}

static void require_file_holds(const oif_detector *expected)
{
    oif_detector *loaded = NULL;
    oif_error error;
    require_ok_or(oif_detector_load_file("state", &loaded, &error), error);
    snapshot a = take_snapshot(expected), b = take_snapshot(loaded);
    require_same_bytes(a, b);
    free(a.bytes);
    free(b.bytes);
    oif_detector_free(loaded);
}

static oif_state_file *open_state(const char *path)
{
    oif_state_file *file = NULL;
    oif_error error;
    require_ok_or(oif_state_file_open(path, &file, &error), error);
    return file;
}

static void save(oif_state_file *file, const oif_detector *detector)
{
    oif_error error;
    require_ok_or(oif_state_file_save(file, detector, &error), error);
}

/* ---- Ordinary use ---- */

static void a_state_file_gives_back_what_was_saved(void **unused)
{
    (void)unused;
    oif_detector *first = some_detector(50), *second = some_detector(90), *loaded = NULL;
    oif_state_file *file = open_state("state");
    require_files("state.lock", NULL);
    save(file, first);
    require_file_holds(first);
    save(file, second);
    require_file_holds(second);
    require_files("state", "state.lock", NULL);
    require_ok(oif_state_file_load(file, &loaded, NULL));
    assert_int_equal(oif_detector_rows_learned(loaded), 90);
    oif_detector_free(loaded);
    oif_state_file_close(file);
    require_files("state", NULL);
    require_ok(oif_detector_save_file(first, "state", NULL));
    require_file_holds(first);
    require_files("state", NULL);
    oif_state_file_close(NULL);
    unlink("state");
    oif_detector_free(first);
    oif_detector_free(second);
}

/* ---- Holes ---- */

static void require_file_is(snapshot expected)
{
    struct stat found;
    unsigned char *bytes = malloc(expected.count);
    int fd = open("state", O_RDONLY);
    assert_non_null(bytes);
    assert_int_equal(fstat(fd, &found), 0);
    assert_int_equal(found.st_size, expected.count);
    assert_int_equal(read(fd, bytes, expected.count), expected.count);
    require_same_bytes((snapshot){bytes, expected.count}, expected);
    close(fd);
    free(bytes);
}

static void a_file_with_holes_is_the_snapshot(void **unused)
{
    (void)unused;
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)); i++)
        for (uint32_t rows = 0; rows < 300; rows += 1 + 2 * rows) {
            oif_detector *detector = new_named(info->table.name, "", 5);
            learn_some(detector, rows);
            snapshot expected = take_snapshot(detector);
            require_ok(oif_detector_save_file(detector, "state", NULL));
            require_file_is(expected);
            free(expected.bytes);
            oif_detector_free(detector);
        }
    unlink("state");
}

static ptrdiff_t count_last(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)context = count;
    return (ptrdiff_t)count;
}

/* The last four bytes are the checksum of nothing, which is 0. With names of the right length
 * they are looked at alone, and must not become a hole. */
static void a_file_does_not_end_with_a_hole(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("rrcf", "num_trees=1 tree_size=8", 5);
    char name[2000] = "";
    const char *const names[5] = {name, "", "", "", ""};
    size_t last = 0;
    for (size_t bytes = 0; last % 1024 != 4; bytes++) {
        assert_true(bytes < sizeof name);
        memset(name, 'n', bytes);
        require_ok(oif_detector_name_columns(detector, names, NULL));
        require_ok(oif_detector_save(detector, count_last, &last, NULL));
    }
    snapshot expected = take_snapshot(detector);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    require_file_is(expected);
    free(expected.bytes);
    unlink("state");
    oif_detector_free(detector);
}

static bool can_have_holes(void)
{
    struct stat found;
    int fd = open("holes", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(__real_pwrite(fd, "1", 1, 1 << 20), 1);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(fstat(fd, &found), 0);
    close(fd);
    unlink("holes");
    return found.st_blocks < (1 << 19) / 512;
}

static void what_is_not_learned_yet_takes_no_disk(void **unused)
{
    (void)unused;
    struct stat found;
    oif_detector *detector = new_named("rolling-iforest", "", 5);
    learn_some(detector, 10);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    assert_int_equal(stat("state", &found), 0);
    if (can_have_holes())
        assert_in_range(found.st_blocks * 512, 1, found.st_size / 3);
    unlink("state");
    oif_detector_free(detector);
}

static void no_file_yet_is_no_failure(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state("state");
    oif_detector *untouched = (oif_detector *)&file;
    oif_error error;
    assert_int_equal(oif_state_file_load(file, &untouched, &error), OIF_END);
    assert_ptr_equal(untouched, (oif_detector *)&file);
    require_message(&error, "there is no state file 'state' yet");
    oif_state_file_close(file);
    require_files(NULL);
    assert_int_equal(oif_detector_load_file("state", &untouched, &error), OIF_EREAD);
    require_message(&error, "cannot open 'state': No such file or directory");
}

static void a_new_working_directory_changes_nothing(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10);
    oif_state_file *file = open_state("state");
    assert_int_equal(chdir("/"), 0);
    save(file, detector);
    oif_state_file_close(file);
    assert_int_equal(chdir(folder), 0);
    require_files("state", NULL);
    require_file_holds(detector);
    unlink("state");
    oif_detector_free(detector);
}

static void a_save_through_a_link_replaces_its_target(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10);
    oif_state_file *file, *other = NULL;
    struct stat link_now;
    assert_int_equal(mkdir("there", 0777), 0);
    write_text("there/state", "");
    assert_int_equal(symlink("there/state", "link"), 0);
    file = open_state("link");
    /* it is the same file */
    assert_int_equal(oif_state_file_open("there/state", &other, NULL), OIF_EBUSY);
    save(file, detector);
    oif_state_file_close(file);
    require_files("link", "there", NULL);
    assert_int_equal(lstat("link", &link_now), 0);
    assert_true(S_ISLNK(link_now.st_mode));
    assert_int_equal(rename("there/state", "state"), 0);
    require_file_holds(detector);
    unlink("link");
    unlink("state");
    assert_int_equal(rmdir("there"), 0);
    oif_detector_free(detector);
}

static unsigned mode_of(const char *path)
{
    struct stat standing;
    assert_int_equal(stat(path, &standing), 0);
    return standing.st_mode & 07777;
}

static void owner_and_permissions_stay(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10);
    struct stat standing;
    mode_t umask_before = umask(0027);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    assert_int_equal(mode_of("state"), 0640);
    assert_int_equal(chmod("state", 0604), 0);
    bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(chown("state", 1234, 1235), 0);
    else
        print_message("not root: whether the owner stays is not tested\n");
    require_ok(oif_detector_save_file(detector, "state", NULL));
    assert_int_equal(mode_of("state"), 0604);
    assert_int_equal(stat("state", &standing), 0);
    assert_int_equal(standing.st_uid, is_root ? 1234 : geteuid());
    assert_int_equal(standing.st_gid, is_root ? 1235 : getegid());
    umask(umask_before);
    unlink("state");
    oif_detector_free(detector);
}

/* ---- Two holders ---- */

/* Runs `act` in a separate process; returns its result. */
static int in_another_process(int (*act)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(act());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int open_and_close(void)
{
    oif_state_file *file;
    oif_error error = {0};
    oif_status status = oif_state_file_open("state", &file, &error);
    if (status == OIF_OK)
        oif_state_file_close(file);
    else if (!strstr(error.message,
                     "another process is using the state file 'state'; stop it, or name another"))
        return 100;
    return (int)status;
}

static void a_second_program_is_refused(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10);
    oif_state_file *file = open_state("state");
    assert_int_equal(open_and_close(), OIF_EBUSY);
    assert_int_equal(in_another_process(open_and_close), OIF_EBUSY);
    assert_int_equal(oif_detector_save_file(detector, "state", NULL), OIF_EBUSY);
    save(file, detector);
    require_file_holds(detector); /* other programs may read */
    require_files("state", "state.lock", NULL);
    oif_state_file_close(file);
    assert_int_equal(in_another_process(open_and_close), OIF_OK);
    require_files("state", NULL);
    unlink("state");
    oif_detector_free(detector);
}

static void what_a_crash_leaves_is_cleared_away(void **unused)
{
    (void)unused;
    int ready[2], status;
    char byte;
    oif_detector *detector = some_detector(10);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        oif_state_file *file = NULL;
        bool held = oif_state_file_open("state", &file, NULL) == OIF_OK;
        write_text("state.new", "half a snap");
        if (held)
            (void)!write(ready[1], "1", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(open_and_close(), OIF_EBUSY);
    /* a program that is refused touches nothing */
    require_files("state", "state.lock", "state.new", NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    require_files("state", "state.lock", "state.new", NULL);
    assert_int_equal(open_and_close(), OIF_OK);
    require_files("state", NULL);
    require_file_holds(detector);
    close(ready[0]);
    close(ready[1]);
    unlink("state");
    oif_detector_free(detector);
}

static void a_lock_that_was_removed_is_not_taken_from_the_next_program(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state("state");
    unlink("state.lock");
    oif_state_file *next = open_state("state");
    oif_state_file_close(file);
    assert_int_equal(open_and_close(), OIF_EBUSY);
    oif_state_file_close(next);
    require_files(NULL);
}

/* ---- Invalid places ---- */

static void require_not_opened(const char *path, const char *words)
{
    oif_detector *detector = some_detector(10);
    oif_state_file *untouched = (oif_state_file *)&path;
    oif_error error = {0};
    assert_int_equal(oif_state_file_open(path, &untouched, &error), OIF_EWRITE);
    assert_ptr_equal(untouched, (oif_state_file *)&path);
    assert_int_equal(error.status, OIF_EWRITE);
    require_message(&error, words);
    assert_int_equal(oif_detector_save_file(detector, path, &error), OIF_EWRITE);
    require_message(&error, words);
    oif_detector_free(detector);
}

static void a_path_that_cannot_be_a_file_is_refused(void **unused)
{
    (void)unused;
    char long_name[252 + 1], long_path[5000];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    memset(long_path, 'p', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(mkdir("there", 0777), 0);
    assert_int_equal(symlink("nothing", "link"), 0);
    assert_int_equal(symlink("ring", "ring"), 0);
    write_text("plain", "");

    require_not_opened("", "a state file needs a name; '' has none");
    require_not_opened("there/", "a state file needs a name; 'there/' has none");
    require_not_opened("there", "'there' is a folder or a device; name a file");
    require_not_opened(".", "'.' is a folder or a device; name a file");
    require_not_opened("/dev/null", "'/dev/null' is a folder or a device; name a file");
    require_not_opened("missing/state", "cannot open the folder of 'missing/state': No such file "
                                        "or directory; create the folder, or name another file");
    require_not_opened("plain/state", "cannot use 'plain/state': Not a directory");
    require_not_opened("link", "cannot follow the link 'link': No such file or directory");
    require_not_opened("ring", "cannot follow the link 'ring': Too many levels of symbolic links");
    require_not_opened(long_name, "nnn': File name too long");
    require_not_opened(long_path, "ppp': File name too long");
    for (size_t i = 0; i + 2 < sizeof long_path; i += 2)
        memcpy(long_path + i, "\u00e9", 2); /* and a p: the part that is shown begins with them */
    require_not_opened(long_path, "'\u00e9\u00e9");

    require_files("there", "link", "ring", "plain", NULL);
    unlink("link");
    unlink("ring");
    unlink("plain");
    assert_int_equal(rmdir("there"), 0);
}

static int open_as_a_stranger(void)
{
    oif_state_file *file;
    oif_error error = {0};
    if (geteuid() == 0 && seteuid(65534) != 0)
        return 101;
    oif_status status = oif_state_file_open("there/state", &file, &error);
    return strstr(error.message, "cannot create a lock beside 'there/state': Permission denied")
               ? (int)status
               : 100;
}

static void a_folder_that_is_read_only_is_refused(void **unused)
{
    (void)unused;
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(mkdir("there", 0555), 0);
    assert_int_equal(in_another_process(open_as_a_stranger), OIF_EWRITE);
    assert_int_equal(rmdir("there"), 0);
}

/* In a folder where others may write, links with our names must not lead to other files. */
static void links_with_the_names_of_our_files_are_not_followed(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10);
    oif_error error = {0};
    struct stat victim;
    write_text("victim", "precious");
    assert_int_equal(symlink("victim", "state.lock"), 0);
    require_not_opened("state", "cannot create a lock beside 'state': Too many levels of symbolic "
                                "links; name a file in a folder that can be written to");
    unlink("state.lock");
    oif_state_file *file = open_state("state");
    assert_int_equal(symlink("victim", "state.new"), 0);
    assert_int_equal(oif_state_file_save(file, detector, &error), OIF_EWRITE);
    require_message(&error, "cannot write beside 'state': File exists");
    save(file, detector);
    oif_state_file_close(file);
    assert_int_equal(stat("victim", &victim), 0);
    assert_int_equal(victim.st_size, strlen("precious"));
    require_files("state", "victim", NULL);
    unlink("state");
    unlink("victim");
    oif_detector_free(detector);
}

/* Errors about unreadable snapshots name the file and the position. */
static void a_damaged_file_is_named_with_the_position(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(10), *untouched = (oif_detector *)&detector;
    oif_error error = {0};
    write_text("state", "x,y\n1,2\n3,4\n");
    assert_int_equal(oif_detector_load_file("state", &untouched, &error), OIF_EKIND);
    require_message(&error, "'state': byte 8: this is not a snapshot of oif");
    assert_int_equal(error.column, 8);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    FILE *file = fopen("state", "a");
    fputs("more", file);
    fclose(file);
    assert_int_equal(oif_detector_load_file("state", &untouched, &error), OIF_ECORRUPT);
    require_message(&error, "the snapshot ends here, but more bytes follow");
    assert_int_equal(truncate("state", 100), 0);
    assert_int_equal(oif_detector_load_file("state", &untouched, &error), OIF_ETRUNCATED);
    require_message(&error, "'state': byte ");
    assert_int_equal(oif_detector_load_file(".", &untouched, &error), OIF_EREAD);
    require_message(&error, "cannot read '.': Is a directory");
    assert_ptr_equal(untouched, (oif_detector *)&detector);
    unlink("state");
    oif_detector_free(detector);
}

/* ---- Faults at every position ---- */

static const int reasons[] = {ENOSPC, EIO, EINTR, HALF, NOTHING};

/* An interrupted call is repeated, and a short write continues. The interruption of a rename is not
 * handled: no local file system reports it. */
static bool must_succeed(void)
{
    return (plan.reason == EINTR && plan.failing != RENAME) || plan.reason == HALF;
}

static void plan_fault(operation failing, int position, int reason, bool from_then_on)
{
    int many = reason == EINTR ? 3 : 1000000;
    plan_nothing();
    plan.failing = failing;
    plan.position = position;
    plan.last = from_then_on ? position + many : position;
    plan.reason = reason;
}

static void require_cause(const oif_error *error)
{
    require_message(error, "'state'");
    require_message(error, plan.failing == MEMORY ? "memory"
                                                  : strerror(plan.reason > 0 ? plan.reason : EIO));
    if (plan.failing == MEMORY)
        return;
    assert_int_equal(error->cause, OIF_CAUSE_SYSTEM);
    assert_int_equal(error->system_errno, plan.reason > 0 ? plan.reason : EIO);
}

/* The file holds the old state or, if the save succeeded or only the last sync failed, the new
 * one. */
static void save_with_a_fault(oif_state_file *file, const oif_detector *old,
                              const oif_detector *new)
{
    oif_error error = {0};
    oif_status status = oif_state_file_save(file, new, &error);
    assert_true(plan.fired > 0);
    if (must_succeed() && status != OIF_OK)
        fail_msg("%s %d, %s: %s", operation_names[plan.failing], plan.position,
                 strerror(abs(plan.reason)), error.message);
    if (status != OIF_OK) {
        assert_int_equal(status, OIF_EWRITE);
        require_cause(&error);
    } else if (!must_succeed()) {
        fail_msg("%s %d failed and the save did not", operation_names[plan.failing], plan.position);
    }
    bool was_replaced = status == OIF_OK || (plan.failing == SYNC && plan.position == 1);
    require_message(&error, status == OIF_OK ? ""
                            : was_replaced   ? "is saved, but"
                                             : "keeps the state it had");
    plan_nothing();
    require_files("state", "state.lock", NULL);
    require_file_holds(was_replaced ? new : old);
}

static int try_every_fault(operation failing, int positions, bool from_then_on)
{
    int tried = 0;
    oif_detector *old = some_detector(50), *new = some_detector(90);
    for (int position = 0; position < positions; position++) {
        for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
            if (reasons[i] < 0 && failing != WRITE)
                continue;
            oif_state_file *file = open_state("state");
            save(file, old);
            plan_fault(failing, position, reasons[i], from_then_on);
            save_with_a_fault(file, old, new);
            save(file, new);
            require_file_holds(new);
            oif_state_file_close(file);
            require_files("state", NULL);
            tried++;
        }
    }
    oif_detector_free(old);
    oif_detector_free(new);
    return tried;
}

static void a_failed_save_keeps_the_old_state_whole(void **unused)
{
    (void)unused;
    const operation operations[] = {OPEN, WRITE, SYNC, RENAME, CLOSE};
    int positions[OPERATIONS], tried = 0;
    oif_detector *detector = some_detector(90);
    oif_state_file *file = open_state("state");
    plan_nothing();
    save(file, detector);
    memcpy(positions, plan.calls, sizeof positions);
    oif_state_file_close(file);
    assert_true(positions[OPEN] == 1 && positions[WRITE] >= 3 && positions[SYNC] == 2 &&
                positions[RENAME] == 1 && positions[CLOSE] == 1);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        for (int from_then_on = 0; from_then_on < 2; from_then_on++)
            tried += try_every_fault(operations[i], positions[operations[i]], from_then_on);
    print_message("%d saves with a fault\n", tried);
    unlink("state");
    oif_detector_free(detector);
}

static void a_file_system_that_cannot_sync_folders_is_fine(void **unused)
{
    (void)unused;
    oif_detector *detector = some_detector(50);
    oif_state_file *file = open_state("state");
    plan_fault(SYNC, 1, EINVAL, false);
    save(file, detector);
    assert_int_equal(plan.fired, 1);
    plan_nothing();
    oif_state_file_close(file);
    unlink("state");
    oif_detector_free(detector);
}

/* Locking the file: a failure is reported, nothing is left behind, and the program does not wait
 * forever. */
static void a_failure_to_lock_is_reported(void **unused)
{
    (void)unused;
    static const struct {
        operation failing;
        int position, reason;
        oif_status status;
    } faults[] = {
        {OPEN, 0, EMFILE, OIF_EWRITE},     {OPEN, 1, EROFS, OIF_EWRITE},
        {OPEN, 1, EINTR, OIF_OK},          {LOCK, 0, ENOLCK, OIF_EWRITE},
        {LOCK, 0, EIO, OIF_EWRITE},        {LOCK, 0, EINTR, OIF_OK},
        {LOCK, 0, EWOULDBLOCK, OIF_EBUSY}, {MEMORY, 0, ENOMEM, OIF_EMEMORY},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        oif_state_file *file = NULL;
        oif_error error = {0};
        plan_fault(faults[i].failing, faults[i].position, faults[i].reason, true);
        oif_status status = oif_state_file_open("state", &file, &error);
        int fired = plan.fired;
        assert_true(fired > 0);
        if (status != OIF_OK && status != OIF_EBUSY && status != OIF_EMEMORY)
            require_cause(&error);
        plan_nothing();
        assert_int_equal(status, faults[i].status);
        if (status != OIF_OK)
            assert_int_equal(fired, 1); /* and not retried forever */
        oif_state_file_close(file);
        oif_state_file_close(open_state("state"));
        require_files(NULL);
    }
}

static void a_lock_that_always_vanishes_is_given_up(void **unused)
{
    (void)unused;
    oif_state_file *file = NULL;
    plan_nothing();
    plan.lock_vanishes = true;
    assert_int_equal(oif_state_file_open("state", &file, NULL), OIF_EBUSY);
    assert_true(plan.calls[LOCK] > 1);
    plan_nothing();
    require_files(NULL);
}

static void a_failure_to_read_is_reported(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("rolling-iforest", "", 5), *loaded; /* several reads */
    learn_some(detector, 90);
    require_ok(oif_detector_save_file(detector, "state", NULL));
    plan_nothing();
    require_file_holds(detector);
    int positions = plan.calls[READ];
    assert_true(positions > 3);
    for (int position = 0; position < positions; position++) {
        oif_error error = {0};
        plan_fault(READ, position, EIO, false);
        assert_int_equal(oif_detector_load_file("state", &loaded, &error), OIF_EREAD);
        require_message(&error, "cannot read 'state': Input/output error");
        plan_fault(READ, position, EINTR, true);
        require_file_holds(detector);
        plan_fault(READ, position, HALF, true);
        require_file_holds(detector);
        assert_true(plan.fired > 0);
    }
    plan_fault(MEMORY, 0, ENOMEM, false);
    assert_int_equal(oif_detector_load_file("state", &loaded, NULL), OIF_EMEMORY);
    plan_nothing();
    unlink("state");
    oif_detector_free(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_file_gives_back_what_was_saved),
        cmocka_unit_test(a_file_with_holes_is_the_snapshot),
        cmocka_unit_test(a_file_does_not_end_with_a_hole),
        cmocka_unit_test(what_is_not_learned_yet_takes_no_disk),
        cmocka_unit_test(no_file_yet_is_no_failure),
        cmocka_unit_test(a_new_working_directory_changes_nothing),
        cmocka_unit_test(a_save_through_a_link_replaces_its_target),
        cmocka_unit_test(owner_and_permissions_stay),
        cmocka_unit_test(a_second_program_is_refused),
        cmocka_unit_test(what_a_crash_leaves_is_cleared_away),
        cmocka_unit_test(a_lock_that_was_removed_is_not_taken_from_the_next_program),
        cmocka_unit_test(a_path_that_cannot_be_a_file_is_refused),
        cmocka_unit_test(a_folder_that_is_read_only_is_refused),
        cmocka_unit_test(links_with_the_names_of_our_files_are_not_followed),
        cmocka_unit_test(a_damaged_file_is_named_with_the_position),
        cmocka_unit_test(a_failed_save_keeps_the_old_state_whole),
        cmocka_unit_test(a_file_system_that_cannot_sync_folders_is_fine),
        cmocka_unit_test(a_failure_to_lock_is_reported),
        cmocka_unit_test(a_lock_that_always_vanishes_is_given_up),
        cmocka_unit_test(a_failure_to_read_is_reported),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

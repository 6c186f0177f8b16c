#include "on_alert.h"

#include "front/text/child.h"
#include "front/text/clock.h"
#include "front/text/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MILLISECONDS_PER_LOOK = 20, VARIABLES_ADDED = 2, DESCRIPTORS_CLOSED_MAX = 1024 };

static const double wait_seconds = 10, seconds_after_term = 1;

void on_alert_start(on_alert *actions, const score_settings *settings)
{
    *actions = (on_alert){.command = settings->on_alert};
    actions->last_waiting = &actions->first_waiting;
}

static void free_job(alert_job *job)
{
    if (job->record_fd >= 0)
        close(job->record_fd);
    free(job->record);
    free(job);
}

/* ---- Starting ---- */

/* The command must not inherit our files: an inherited lock would outlive us. */
static void keep_descriptors(void)
{
    long count = sysconf(_SC_OPEN_MAX);
    if (count < 0 || count > DESCRIPTORS_CLOSED_MAX)
        count = DESCRIPTORS_CLOSED_MAX;
    for (int fd = STDERR_FILENO + 1; fd < count; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC); /* fails where there is none */
}

static char **make_environment(alert_job *job)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **variables = malloc((count + VARIABLES_ADDED + 1) * sizeof *variables);
    if (!variables)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "OIF_EPISODE=", 12) != 0 &&
            strncmp(environ[i], "OIF_GRADE=", 10) != 0)
            variables[kept++] = environ[i];
    variables[kept++] = job->episode;
    variables[kept++] = job->grade;
    variables[kept] = NULL;
    return variables;
}

/* Returns 0 or an errno. */
static int spawn(const char *command, alert_job *job, int input)
{
    char shell[] = "/bin/sh", option[] = "-c", *text = strdup(command);
    char *arguments[] = {shell, option, text, NULL};
    keep_descriptors();
    char **variables = text ? make_environment(job) : NULL;
    int reason = variables ? child_start(arguments, variables, input, &job->process) : ENOMEM;
    free(variables);
    free(text);
    return reason;
}

/* Sends what the pipe takes now; the rest follows when the command has read some. */
static void send_record(alert_job *job)
{
    while (job->record_fd >= 0) {
        size_t left = job->record_bytes - job->sent_bytes;
        ssize_t sent = left > 0 ? write(job->record_fd, job->record + job->sent_bytes, left) : 0;
        if (sent > 0)
            job->sent_bytes += (size_t)sent;
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (left > 0 && sent > 0)
            continue;
        close(job->record_fd); /* all of it was sent, or its reader is gone */
        job->record_fd = -1;
    }
}

static void count_failure(on_alert *actions, const char *what, int number, const char *why)
{
    char text[16] = "";
    if (number >= 0)
        snprintf(text, sizeof text, " %d", number);
    if (actions->failed++ == 0)
        complain(EXIT_FAILED,
                 "--on-alert: the command %s%s%s; scoring continues, and further failures are only "
                 "counted",
                 what, text, why);
}

static bool start(on_alert *actions, alert_job *job)
{
    int ends[2], reason = pipe(ends) == 0 ? 0 : errno;
    if (reason == 0) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        job->record_fd = ends[1];
        reason = spawn(actions->command, job, ends[0]);
        close(ends[0]);
    }
    if (reason != 0) {
        count_failure(actions, "cannot be started: ", -1, strerror(reason));
        return false;
    }
    send_record(job);
    return true;
}

static bool runs(const on_alert *actions, uint64_t series)
{
    for (size_t i = 0; i < actions->running_count; i++)
        if (actions->running[i]->series == series)
            return true;
    return false;
}

/* Takes the first job that does not wait for another one of its series; NULL: there is none. */
static alert_job *take_waiting(on_alert *actions)
{
    for (alert_job **link = &actions->first_waiting; *link; link = &(*link)->next) {
        alert_job *job = *link;
        if (runs(actions, job->series))
            continue;
        *link = job->next;
        if (!job->next)
            actions->last_waiting = link;
        actions->waiting_count--;
        actions->waiting_bytes -= job->record_bytes;
        return job;
    }
    return NULL;
}

static void start_waiting(on_alert *actions)
{
    alert_job *job;
    while (actions->running_count < ON_ALERT_RUNNING_MAX && (job = take_waiting(actions))) {
        if (start(actions, job))
            actions->running[actions->running_count++] = job;
        else
            free_job(job);
    }
}

/* ---- Waiting in line ---- */

static void drop(on_alert *actions)
{
    if (actions->dropped++ == 0)
        complain(EXIT_FAILED,
                 "--on-alert: %d commands are running and %d are waiting; until some have ended, "
                 "further ones are dropped and counted",
                 ON_ALERT_RUNNING_MAX, ON_ALERT_WAITING_MAX);
}

void on_alert_run(on_alert *actions, char *record, size_t record_bytes, uint64_t series,
                  bool begins, const char *grade)
{
    bool has_room = actions->waiting_count < ON_ALERT_WAITING_MAX &&
                    actions->waiting_bytes + record_bytes <= ON_ALERT_WAITING_BYTES_MAX;
    alert_job *job = record && has_room ? malloc(sizeof *job) : NULL;
    if (!job) {
        free(record);
        drop(actions);
        return;
    }
    *job = (alert_job){
        .record = record, .record_bytes = record_bytes, .series = series, .record_fd = -1};
    snprintf(job->episode, sizeof job->episode, "OIF_EPISODE=%s", begins ? "begins" : "ends");
    snprintf(job->grade, sizeof job->grade, "OIF_GRADE=%s", grade);
    *actions->last_waiting = job;
    actions->last_waiting = &job->next;
    actions->waiting_count++;
    actions->waiting_bytes += record_bytes;
    on_alert_attend(actions);
}

/* ---- Ending ---- */

static void judge_end(on_alert *actions, int status)
{
    actions->ended++;
    if (WIFSIGNALED(status))
        count_failure(actions, "was ended by signal", WTERMSIG(status), "");
    else if (WEXITSTATUS(status) != 0)
        count_failure(actions, "ended with status", WEXITSTATUS(status),
                      WEXITSTATUS(status) == 127 ? ": the shell did not find it" : "");
}

static bool has_ended(on_alert *actions, const alert_job *job)
{
    int status;
    pid_t ended = waitpid(job->process, &status, WNOHANG);
    if (ended == job->process)
        judge_end(actions, status);
    return ended == job->process || (ended < 0 && errno != EINTR);
}

int on_alert_attend(on_alert *actions)
{
    size_t left = 0;
    for (size_t i = 0; i < actions->running_count; i++) {
        alert_job *job = actions->running[i];
        send_record(job);
        if (has_ended(actions, job))
            free_job(job);
        else
            actions->running[left++] = job;
    }
    actions->running_count = left;
    start_waiting(actions);
    return actions->running_count > 0 ? MILLISECONDS_PER_LOOK : -1;
}

/* Attends to them until all have ended, or for that long. */
static void wait_for_all(on_alert *actions, double seconds)
{
    double deadline = clock_seconds() + seconds;
    bool was_stopped = signals_stop_requested();
    while (on_alert_attend(actions) >= 0 && clock_seconds() < deadline &&
           was_stopped == signals_stop_requested())
        poll(NULL, 0, MILLISECONDS_PER_LOOK);
}

static void drop_waiting(on_alert *actions)
{
    while (actions->first_waiting) {
        alert_job *job = actions->first_waiting;
        actions->first_waiting = job->next;
        free_job(job);
        actions->dropped++;
    }
    actions->last_waiting = &actions->first_waiting;
    actions->waiting_count = actions->waiting_bytes = 0;
}

static void end_running(on_alert *actions, int signal_number)
{
    for (size_t i = 0; i < actions->running_count; i++)
        kill(-actions->running[i]->process, signal_number);
}

static void end_all(on_alert *actions)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    int length = (int)oif_number_format(wait_seconds, text);
    complain(EXIT_FAILED,
             "--on-alert: %zu commands still run %.*s s after the last row and are killed, and %zu "
             "were never started",
             actions->running_count, length, text, actions->waiting_count);
    drop_waiting(actions);
    end_running(actions, SIGTERM);
    wait_for_all(actions, seconds_after_term);
    end_running(actions, SIGKILL);
    for (size_t i = 0; i < actions->running_count; i++) {
        alert_job *job = actions->running[i];
        int status;
        if (waitpid(job->process, &status, 0) == job->process)
            judge_end(actions, status);
        free_job(job);
    }
    actions->running_count = 0;
}

void on_alert_finish(on_alert *actions)
{
    if (!actions->command)
        return;
    output_flush(); /* the rows do not wait */
    wait_for_all(actions, wait_seconds);
    if (actions->running_count > 0)
        end_all(actions);
    if (actions->failed > 0 || actions->dropped > 0)
        note("--on-alert: %" PRIu64 " commands were run, %" PRIu64 " failed, %" PRIu64
             " were dropped",
             actions->ended, actions->failed, actions->dropped);
}

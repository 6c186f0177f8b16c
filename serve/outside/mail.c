#include "mail.h"

#include "front/text/child.h"
#include "front/text/clock.h"
#include "front/text/output.h"
#include "mail_message.h"
#include "retry.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { REASON_BYTES = 128 };

static const double run_seconds_max = 60;

struct mail {
    notice_sender base;
    const mail_config *config;
    const char *page_url;
    char **arguments; /* of the command; they belong to the configuration */
    retry again;
    pthread_mutex_t lock; /* protects what follows */
    mail_figures figures;
};

/* ---- The command ---- */

/* Waits for its end. A command that takes too long, or that the server does not wait for any more,
 * is killed. Returns its status of waitpid; -1: it was killed. */
static int wait_for(const mail *sender, pid_t process, double timeout_seconds)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const double end = clock_seconds() + timeout_seconds;
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process)
            return status;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (clock_seconds() >= end || atomic_load(&sender->base.beside.is_stopped))
            break;
        nanosleep(&pause, NULL);
    }
    kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    return -1;
}

/* The message is a file without a name, so the command may read it as slowly as it likes. Returns
 * whether the command took it; else `reason` says why not. */
static bool run_command(const mail *sender, const char *message, size_t bytes,
                        double timeout_seconds, char reason[REASON_BYTES])
{
    pid_t process = 0;
    FILE *input = tmpfile();
    bool is_written = input && fwrite(message, 1, bytes, input) == bytes && fflush(input) == 0 &&
                      fseek(input, 0, SEEK_SET) == 0;
    const int failure =
        is_written ? child_start(sender->arguments, environ, fileno(input), &process) : errno;
    if (input)
        fclose(input);
    if (!is_written || failure != 0) {
        snprintf(reason, REASON_BYTES, "%s", strerror(failure));
        return false;
    }
    const int status = wait_for(sender, process, timeout_seconds);
    if (status == -1)
        snprintf(reason, REASON_BYTES, "took longer than %.0f s", timeout_seconds);
    else if (WIFSIGNALED(status))
        snprintf(reason, REASON_BYTES, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(reason, REASON_BYTES, "exit status %d", WEXITSTATUS(status));
    return status == 0;
}

/* ---- Sending ---- */

static void count(mail *sender, bool is_taken, const char *reason)
{
    pthread_mutex_lock(&sender->lock);
    const bool was_failing = sender->figures.is_failing;
    sender->figures.runs++;
    sender->figures.failures += !is_taken;
    sender->figures.is_failing = !is_taken;
    pthread_mutex_unlock(&sender->lock);
    if (!is_taken && !was_failing)
        note("mail: %s: %s; incidents wait and are tried again", sender->arguments[0], reason);
    if (is_taken && was_failing)
        note("mail: %s: takes incidents again", sender->arguments[0]);
}

static post_result send_mail(void *context, const incident_notice *notice, double timeout_seconds)
{
    mail *sender = context;
    char reason[REASON_BYTES] = "out of memory";
    size_t bytes = 0;
    output_divert();
    const bool is_good =
        mail_message_write(sender->config, sender->page_url, notice, background_wall_seconds());
    char *message = output_diverted(&bytes);
    const bool is_taken =
        is_good && message && run_command(sender, message, bytes, timeout_seconds, reason);
    free(message);
    if (!atomic_load(&sender->base.beside.is_stopped))
        count(sender, is_taken, reason);
    retry_note(&sender->again, is_taken);
    return is_taken ? POST_TAKEN : is_good ? POST_FAILED : POST_REFUSED;
}

static bool may_send(const void *context)
{
    const mail *sender = context;
    return retry_may(&sender->again);
}

/* ---- Lifecycle ---- */

static char **copy_arguments(const json_t *list)
{
    const size_t given = json_array_size(list);
    static char usual[3][20] = {"/usr/sbin/sendmail", "-t", "-i"};
    const size_t total = given > 0 ? given : sizeof usual / sizeof *usual;
    char **arguments = calloc(total + 1, sizeof *arguments);
    if (!arguments)
        return NULL;
    for (size_t i = 0; i < total; i++)
        arguments[i] =
            given > 0 ? (char *)(uintptr_t)json_string_value(json_array_get(list, i)) : usual[i];
    return arguments;
}

static void close_sender(mail *sender)
{
    pthread_mutex_destroy(&sender->lock);
    free(sender->arguments);
    free(sender);
}

bool mail_start(const mail_config *config, const char *page_url, incident_list *incidents,
                mail **started, problem *why)
{
    *started = NULL;
    mail *sender = calloc(1, sizeof *sender);
    if (!sender)
        return problem_set(why, 500, NULL, "out of memory");
    sender->config = config;
    sender->page_url = page_url;
    sender->arguments = copy_arguments(config->command);
    sender->base = (notice_sender){.name = "mail",
                                   .incidents = incidents,
                                   .receiver = RECEIVER_MAIL,
                                   .send = send_mail,
                                   .may_send = may_send,
                                   .context = sender,
                                   .timeout_seconds = run_seconds_max};
    pthread_mutex_init(&sender->lock, NULL);
    bool is_good = sender->arguments || problem_set(why, 500, NULL, "out of memory");
    if (is_good && notice_sender_start(&sender->base, why)) {
        *started = sender;
        return true;
    }
    close_sender(sender);
    return false;
}

void mail_stop(mail *sender)
{
    if (!sender)
        return;
    notice_sender_stop(&sender->base);
    close_sender(sender);
}

void mail_get_figures(mail *sender, notice_figures *notices, mail_figures *figures)
{
    notice_sender_get_figures(&sender->base, notices);
    pthread_mutex_lock(&sender->lock);
    *figures = sender->figures;
    pthread_mutex_unlock(&sender->lock);
}

/* --on-alert COMMAND: runs a command when an episode begins and when it ends, with the record
 * of the episode on its standard input.
 *
 * The stream never waits for a command. At most ON_ALERT_RUNNING_MAX run at a time, and
 * ON_ALERT_WAITING_MAX wait; more are dropped and counted. The command for the end of an
 * episode waits for the one for its beginning. */
#ifndef OIF_CLI_ON_ALERT_H
#define OIF_CLI_ON_ALERT_H

#include "front/options/options.h"

#include <sys/types.h>

enum {
    ON_ALERT_RUNNING_MAX = 8,
    ON_ALERT_WAITING_MAX = 1000,
    ON_ALERT_WAITING_BYTES_MAX = 64 << 20, /* of their records */
    ON_ALERT_VARIABLE_BYTES = 32
};

typedef struct alert_job {
    struct alert_job *next;
    char *record;
    size_t record_bytes, sent_bytes;
    uint64_t series; /* jobs of one series run one after the other */
    char episode[ON_ALERT_VARIABLE_BYTES], grade[ON_ALERT_VARIABLE_BYTES]; /* OIF_EPISODE=begins */
    pid_t process;
    int record_fd; /* the end of the pipe that we write to; -1: closed */
} alert_job;

typedef struct on_alert {
    const char *command; /* NULL: none */
    alert_job *first_waiting, **last_waiting;
    size_t waiting_count, waiting_bytes;
    alert_job *running[ON_ALERT_RUNNING_MAX];
    size_t running_count;
    uint64_t ended, failed, dropped;
} on_alert;

void on_alert_start(on_alert *actions, const score_settings *settings);

/* Runs the command with this record, which it frees, now or later. A NULL record (out of
 * memory) is dropped. */
void on_alert_run(on_alert *actions, char *record, size_t record_bytes, uint64_t series,
                  bool begins, const char *grade);

/* Reaps commands that have ended and starts waiting ones. Returns the milliseconds after which
 * to call it again, -1 for never. */
int on_alert_attend(on_alert *actions);

/* Waits for the commands, up to ten seconds, and reports what went wrong. */
void on_alert_finish(on_alert *actions);

#endif

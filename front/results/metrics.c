#include "metrics.h"

#include "front/text/clock.h"
#include "front/text/quoting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEYS_INITIALLY_MAX = 1000 };

static const double usual_seconds_between = 15; /* as often as most servers ask */

/* ---- Keys ---- */

/* NULL: there is no room for another key. */
static key_metrics *find_key(cli_metrics *metrics, const char *key, size_t bytes)
{
    if (!byte_table_make_room(&metrics->keys)) /* first, as it sets the order of the series */
        return NULL;
    key_metrics *found = byte_table_find(&metrics->keys, key, bytes);
    if (found || metrics->keys.count >= metrics->keys_max)
        return found;
    return byte_table_add(&metrics->keys, key, bytes, sizeof *found);
}

void metrics_row(cli_metrics *metrics, const char *key, size_t key_bytes, const oif_result *result)
{
    bool begins = result->episode == OIF_EPISODE_BEGINS;
    metrics->is_changed = true;
    metrics->rows++;
    metrics->alerts += result->anomaly;
    metrics->episodes += begins;
    key_metrics *values = find_key(metrics, key ? key : "", key_bytes);
    if (!values) {
        if (metrics->rows_left_out++ == 0)
            note("--output prometheus: more than %zu keys: later ones have no series of their own; "
                 "allow more with --output-keys N",
                 metrics->keys.count);
        return;
    }
    values->score = result->score;
    values->severity = result->severity;
    values->threshold = result->threshold;
    values->is_in_episode = begins || result->episode == OIF_EPISODE_LASTS;
    values->alerts += result->anomaly;
    values->episodes += begins;
}

/* ---- Text ---- */

/* Any name as the name of a label: letters, digits and _, not beginning with a digit or __. */
static char *label_name(const char *name)
{
    size_t bytes = strlen(name);
    char *label = malloc(bytes + 5);
    if (!label)
        return NULL;
    bool is_reserved = bytes == 0 || (*name >= '0' && *name <= '9') || strncmp(name, "__", 2) == 0;
    char *end = label + sprintf(label, "%s", is_reserved ? "key_" : "");
    for (; *name; name++) {
        bool is_letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        *end++ = is_letter || (*name >= '0' && *name <= '9') ? *name : '_';
    }
    *end = '\0';
    return label;
}

static void print_number(double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    if (isnan(number))
        output_print("NaN\n");
    else if (isinf(number))
        output_print(number > 0 ? "+Inf\n" : "-Inf\n");
    else
        output_print("%.*s\n", (int)oif_number_format(number, text), text);
}

static void print_head(const cli_metrics *metrics, const char *name, const char *type,
                       const char *help)
{
    output_print("# HELP %s_%s %s\n# TYPE %s_%s %s\n", metrics->prefix, name, help, metrics->prefix,
                 name, type);
}

static void print_total(const cli_metrics *metrics, const char *name, const char *type,
                        const char *help, uint64_t value)
{
    print_head(metrics, name, type, help);
    output_print("%s_%s %" PRIu64 "\n", metrics->prefix, name, value);
}

static double score_of(const key_metrics *values)
{
    return values->score;
}

static double severity_of(const key_metrics *values)
{
    return values->severity;
}

static double threshold_of(const key_metrics *values)
{
    return values->threshold;
}

static double in_episode_of(const key_metrics *values)
{
    return values->is_in_episode;
}

static double alerts_of(const key_metrics *values)
{
    return (double)values->alerts;
}

static double episodes_of(const key_metrics *values)
{
    return (double)values->episodes;
}

/* What each key has. Without keys the last two are the totals. */
static const struct key_series {
    const char *name, *type, *help;
    double (*value)(const key_metrics *values);
    bool needs_keys;
} key_series[] = {
    {"score", "gauge", "Score of the latest row.", score_of, false},
    {"severity", "gauge", "One ordinary row in 10^severity scores as high as the latest row.",
     severity_of, false},
    {"threshold", "gauge", "Higher scores are alerts.", threshold_of, false},
    {"in_episode", "gauge", "1 while an episode of alerts lasts.", in_episode_of, false},
    {"key_alerts_total", "counter", "Anomalous rows of this key.", alerts_of, true},
    {"key_episodes_total", "counter", "Episodes of alerts of this key.", episodes_of, true},
};

static void print_series(const cli_metrics *metrics, const struct key_series *series)
{
    print_head(metrics, series->name, series->type, series->help);
    for (size_t i = 0; i < metrics->keys.slot_count; i++) {
        const key_metrics *values = (const void *)metrics->keys.slots[i];
        if (!values)
            continue;
        output_print("%s_%s", metrics->prefix, series->name);
        if (metrics->label) {
            output_print("{%s=", metrics->label);
            quoting_write_label(values->item.key, values->item.key_bytes);
            output_print("}");
        }
        output_print(" ");
        print_number(series->value(values));
    }
}

static void print_all(const cli_metrics *metrics)
{
    print_total(metrics, "rows_total", "counter", "Rows scored by this run.", metrics->rows);
    print_total(metrics, "alerts_total", "counter", "Anomalous rows.", metrics->alerts);
    print_total(metrics, "episodes_total", "counter", "Episodes of alerts.", metrics->episodes);
    print_total(metrics, "written_timestamp_seconds", "gauge", "When these values were written.",
                (uint64_t)time(NULL));
    if (metrics->label)
        print_total(metrics, "rows_left_out_total", "counter",
                    "Rows of keys beyond the limit, which have no series.", metrics->rows_left_out);
    for (size_t i = 0; i < sizeof key_series / sizeof *key_series; i++)
        if (metrics->label || !key_series[i].needs_keys)
            print_series(metrics, &key_series[i]);
}

/* ---- The file ---- */

static bool write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* Returns false with errno set; the file is then as it was. */
static bool replace_file(const cli_metrics *metrics, const char *text, size_t bytes)
{
    int fd = open(metrics->new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool is_written = write_all(fd, text, bytes);
    int reason = errno;
    if (close(fd) != 0 && is_written) {
        is_written = false;
        reason = errno;
    }
    if (is_written && rename(metrics->new_path, metrics->path) == 0)
        return true;
    reason = is_written ? errno : reason;
    unlink(metrics->new_path);
    errno = reason;
    return false;
}

static bool write_file(const cli_metrics *metrics)
{
    size_t bytes;
    output_divert();
    print_all(metrics);
    char *text = output_diverted(&bytes);
    errno = ENOMEM;
    bool is_written = text && replace_file(metrics, text, bytes);
    int reason = errno;
    free(text);
    errno = reason;
    return is_written;
}

static void write_now(cli_metrics *metrics)
{
    bool was_failing = metrics->is_failing;
    metrics->is_changed = false;
    metrics->next_seconds = clock_seconds() + metrics->seconds_between;
    if (!metrics->path) {
        print_all(metrics);
        output_flush();
        return;
    }
    metrics->is_failing = !write_file(metrics);
    if (metrics->is_failing && !was_failing)
        complain(EXIT_FAILED, "%s: cannot be written: %s; scoring continues", metrics->path,
                 strerror(errno));
    if (!metrics->is_failing && was_failing)
        note("%s: is written again", metrics->path);
}

int metrics_attend(cli_metrics *metrics)
{
    if (!metrics->is_wanted || !metrics->is_changed || !(metrics->seconds_between > 0))
        return -1;
    double left = metrics->next_seconds - clock_seconds();
    if (left > 0)
        return left > 1e6 ? 1000000000 : (int)(left * 1000) + 1;
    write_now(metrics);
    return -1;
}

/* ---- From the start to the end ---- */

static exit_code check_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return complain(EXIT_FAILED,
                        "%s: not a regular file, so it cannot be replaced; leave out --output-file "
                        "to print to stdout",
                        path);
    return EXIT_OK;
}

exit_code metrics_open(cli_metrics *metrics, const cli_settings *settings)
{
    const score_settings *score = &settings->score;
    *metrics = (cli_metrics){.is_wanted = true,
                             .prefix = score->prefix ? score->prefix : "oif",
                             .path = score->output_file,
                             .seconds_between = score->output_every,
                             .keys_max = score->output_keys > 0 ? (size_t)score->output_keys
                                                                : KEYS_INITIALLY_MAX};
    if (score->output_file && !(score->output_every > 0))
        metrics->seconds_between = usual_seconds_between;
    metrics->next_seconds = clock_seconds() + metrics->seconds_between;
    if (score->key && !(metrics->label = label_name(score->key)))
        return complain(EXIT_FAILED, "out of memory");
    if (!metrics->path)
        return EXIT_OK;
    size_t bytes = strlen(metrics->path) + sizeof ".new";
    if (!(metrics->new_path = malloc(bytes)))
        return complain(EXIT_FAILED, "out of memory");
    snprintf(metrics->new_path, bytes, "%s.new", metrics->path);
    exit_code code = check_path(metrics->path);
    if (code == EXIT_OK && !write_file(metrics)) /* better now than in an hour */
        code = complain(EXIT_FAILED, "%s: cannot be written: %s", metrics->path, strerror(errno));
    return code;
}

exit_code metrics_finish(cli_metrics *metrics, exit_code code)
{
    if (metrics->is_wanted && (metrics->is_changed || metrics->is_failing))
        write_now(metrics);
    return metrics->is_failing && code == EXIT_OK ? EXIT_FAILED : code;
}

void metrics_close(cli_metrics *metrics)
{
    byte_table_free(&metrics->keys);
    free(metrics->label);
    free(metrics->new_path);
    *metrics = (cli_metrics){0};
}

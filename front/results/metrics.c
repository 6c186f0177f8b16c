#include "metrics.h"

#include "front/text/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

void metrics_row(cli_metrics *metrics, const char *name, size_t bytes, const oif_result *result)
{
    bool begins = result->episode == OIF_EPISODE_BEGINS;
    metrics->is_changed = true;
    metrics->rows++;
    metrics->alerts += result->anomaly;
    metrics->episodes += begins;
    key_metrics *key = find_key(metrics, name ? name : "", bytes);
    if (!key) {
        if (metrics->rows_left_out++ == 0)
            note("--output prometheus: more than %zu keys: later ones have no series of their own; "
                 "allow more with --output-keys N",
                 metrics->keys.count);
        return;
    }
    key->values[GAUGE_SCORE] = result->score;
    key->values[GAUGE_SEVERITY] = result->severity;
    key->values[GAUGE_THRESHOLD] = result->threshold;
    key->values[GAUGE_IN_EPISODE] = begins || result->episode == OIF_EPISODE_LASTS;
    key->values[KEY_ALERTS] += result->anomaly;
    key->values[KEY_EPISODES] += begins;
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

enum { NAME_BYTES = PREFIX_MAX_BYTES + 32 };

static const char *full_name(const cli_metrics *metrics, const char *name, char text[NAME_BYTES])
{
    snprintf(text, NAME_BYTES, "%s_%s", metrics->prefix, name);
    return text;
}

static void print_total(const cli_metrics *metrics, const char *name, const char *type,
                        const char *help, uint64_t value)
{
    char text[NAME_BYTES];
    prometheus_head(full_name(metrics, name, text), type, help);
    output_print("%s %" PRIu64 "\n", text, value);
}

static void print_series(const cli_metrics *metrics, const key_gauge *series, const char *type,
                         size_t number)
{
    char name[NAME_BYTES];
    prometheus_head(full_name(metrics, series->name, name), type, series->help);
    for (size_t i = 0; i < metrics->keys.slot_count; i++) {
        const key_metrics *key = (const void *)metrics->keys.slots[i];
        if (!key)
            continue;
        output_print("%s", name);
        if (metrics->label) {
            output_print("{%s", metrics->label);
            prometheus_label("=", key->item.key, key->item.key_bytes);
            output_print("}");
        }
        prometheus_value(key->values[number]);
    }
}

/* Without keys they are the totals. */
static const key_gauge key_counters[] = {
    {"key_alerts_total", "Anomalous rows of this key."},
    {"key_episodes_total", "Episodes of alerts of this key."},
};

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
    for (size_t i = 0; i < KEY_GAUGES; i++)
        print_series(metrics, &key_gauges[i], "gauge", i);
    for (size_t i = KEY_GAUGES; i < KEY_VALUES && metrics->label; i++)
        print_series(metrics, &key_counters[i - KEY_GAUGES], "counter", i);
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
        note("%s: writing works again", metrics->path);
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

#include "outside.h"

#include "exposition.h"
#include "serve/http/http_client.h"
#include "serve/stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct outside {
    char *page_url;
    exposition_sources sources;
};

/* ---- Streams of the configuration ---- */

/* Creates the stream, keeps it, or changes the settings that can change. A stream that could not be
 * loaded has already been reported, and must not stop the others. */
static bool make_stream(streams *all, const stream_config *config, problem *why)
{
    bool is_new;
    problem ignored;
    if (streams_create(all, config->name, config->settings, NULL, &is_new, why))
        return true;
    stream *one = streams_find(all, config->name);
    bool is_broken = one && why->status == 503;
    bool is_changed = one && why->status == 409 && stream_change(one, config->settings, &ignored);
    if (one)
        stream_release(one);
    return is_changed || is_broken;
}

static bool make_or_complain(streams *all, const stream_config *config, const char *file)
{
    problem why = {0};
    if (make_stream(all, config, &why))
        return true;
    complain(EXIT_FAILED, "%s: stream %s: %s%s%s", file, config->name, why.message,
             why.remedy[0] ? "; " : "", why.remedy);
    return false;
}

static bool make_streams(const configured *both, streams *all)
{
    const server_config *config = &both->config;
    const char *file = both->settings.serve.config;
    for (size_t i = 0; i < config->stream_count; i++)
        if (!make_or_complain(all, &config->streams[i], file))
            return false;
    for (size_t i = 0; i < config->prometheus.stream_count; i++)
        if (!make_or_complain(all, &config->prometheus.streams[i].stream, file))
            return false;
    return true;
}

/* ---- Lifecycle ---- */

static bool start_threads(outside *others, const configured *both, streams *all, problem *why)
{
    const server_config *config = &both->config;
    exposition_sources *sources = &others->sources;
    if (config->alertmanager.url &&
        !alertmanager_start(&config->alertmanager, others->page_url, all, &sources->sender, why))
        return false;
    if (config->webhook.url && !webhook_start(&config->webhook, all, &sources->hook, why))
        return false;
    return config->prometheus.stream_count == 0 ||
           pull_start(&config->prometheus, all, &sources->puller, why);
}

outside *outside_start(const configured *both, const char *page_url, streams *all)
{
    const serve_settings *asked = &both->settings.serve;
    problem why = {0};
    if (!make_streams(both, all))
        return NULL;
    outside *others = calloc(1, sizeof *others);
    char *url = http_copy_base(asked->external_url ? asked->external_url : page_url);
    if (!others || !url) {
        free(others);
        free(url);
        complain(EXIT_FAILED, "out of memory");
        return NULL;
    }
    others->page_url = url;
    others->sources.all = all;
    if (start_threads(others, both, all, &why))
        return others;
    complain(EXIT_FAILED, "%s", why.message);
    outside_stop(others);
    return NULL;
}

void outside_stop(outside *others)
{
    if (!others)
        return;
    pull_stop(others->sources.puller);
    alertmanager_stop(others->sources.sender); /* it may still send the alerts of the last rows */
    webhook_stop(others->sources.hook);
    free(others->page_url);
    free(others);
}

bool outside_write_metrics(outside *others, request_figures *requests)
{
    return exposition_write(&others->sources, requests);
}

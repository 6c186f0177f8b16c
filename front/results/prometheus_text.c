#include "prometheus_text.h"

#include "front/text/output.h"
#include "front/text/quoting.h"

#include <math.h>

const key_gauge key_gauges[KEY_GAUGES] = {
    [GAUGE_SCORE] = {"score", "Score of the latest row."},
    [GAUGE_SEVERITY] = {"severity",
                        "How rare the latest row is: one unit more is about a tenth as frequent."},
    [GAUGE_THRESHOLD] = {"threshold", "Higher severities are alerts."},
    [GAUGE_IN_EPISODE] = {"in_episode", "1 while an episode of alerts lasts."},
};

void prometheus_head(const char *name, const char *type, const char *help)
{
    output_print("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prometheus_label(const char *before, const char *text, size_t bytes)
{
    output_print("%s", before);
    quoting_write_label(text, bytes);
}

void prometheus_value(double value)
{
    output_text(" ");
    if (isfinite(value))
        output_number(value);
    else
        output_text(isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    output_text("\n");
}

void prometheus_single(const char *name, const char *type, const char *help, double value)
{
    prometheus_head(name, type, help);
    output_print("%s", name);
    prometheus_value(value);
}

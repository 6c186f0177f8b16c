/* Watches several hosts and prints an alert, with its grade and reason, for each anomalous row.
 *
 *     cc alerts.c $(pkg-config --cflags --libs oif) -o alerts
 *     printf 'web 0.3 120\ndb 0.7 80\n' | ./alerts
 *
 * A line is the name of a host, its load and its requests. Each host has its own model.
 */
#include <oif.h>

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 2 };

static const char *const names[COLUMNS] = {"load", "requests"};

static oif_pipeline *new_pipeline(oif_error *error)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;

    oif_pipeline_options_init(&options);
    if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, error) != OIF_OK ||
        oif_params_set(&options, "alert_rate", 0.01, error) != OIF_OK ||
        oif_pipeline_new(&params, COLUMNS, &options, &pipeline, error) != OIF_OK)
        return NULL;
    return pipeline;
}

static void print_alert(oif_pipeline *pipeline, const char *host, const oif_result *result)
{
    static const char *const directions[] = {"low", "odd", "high"};
    static const char *const grades[] = {"none", "note", "warning", "critical"};
    oif_attribution why[COLUMNS];

    oif_pipeline_explain(pipeline, why);
    printf("%s: %s, severity %.1f:", host, grades[result->grade], result->severity);
    for (int i = 0; i < COLUMNS; i++)
        printf(" %s %s %.0f%%", names[i], directions[why[i].direction + 1], 100 * why[i].share);
    printf("\n");
}

int main(void)
{
    oif_error error;
    oif_result result;
    char host[64];
    double row[COLUMNS];
    oif_pipeline *pipeline = new_pipeline(&error);

    if (!pipeline) {
        fprintf(stderr, "alerts: %s\n", error.message);
        return 1;
    }
    while (scanf("%63s %lf %lf", host, &row[0], &row[1]) == 3) {
        if (oif_pipeline_process(pipeline, host, strlen(host), row, &result, &error) != OIF_OK)
            fprintf(stderr, "alerts: %s\n", error.message);
        else if (result.anomaly)
            print_alert(pipeline, host, &result);
    }
    printf("%llu rows of %zu hosts\n", (unsigned long long)oif_pipeline_rows(pipeline),
           oif_pipeline_keys(pipeline));
    oif_pipeline_free(pipeline);
    return 0;
}

/* Prints the bytes of a model of every detector: the table of docs/measurements/memory.md, which
 * says how to compile it. */
#include <oif.h>

#include <stdio.h>

static const size_t columns[] = {3, 10, 36};
static const double windows[] = {256, 2048};

/* Rounded up. */
static void print_initial_size(const oif_params *params)
{
    size_t bytes = 0;
    if (oif_detector_estimate_bytes(params, 10, &bytes, NULL) == OIF_OK)
        printf(" %zu |", (bytes + 999) / 1000);
}

static oif_status make_small(oif_params *params)
{
    oif_status status = oif_params_set(params, "num_trees", 16, NULL);
    if (status == OIF_OK)
        status = oif_params_set(params, "sample_size", 48, NULL);
    if (status == OIF_OK)
        status = oif_params_set(params, "max_depth", 4, NULL);
    return status == OIF_OK ? oif_params_set(params, "max_leaf_samples", 12, NULL) : status;
}

/* The window is set apart. */
static void print_line(const char *title, const char *detector, bool is_small)
{
    oif_params params;
    oif_status status = oif_params_init(&params, detector, NULL);
    if (status == OIF_OK && is_small)
        status = make_small(&params);
    const oif_params initial = params;
    printf("| %s`%s` |", title, detector);
    for (size_t i = 0; i < 6 && status == OIF_OK; i++) {
        size_t bytes = 0;
        status = oif_params_set(&params, "window_size", windows[i % 2], NULL);
        if (status == OIF_OK)
            status = oif_detector_estimate_bytes(&params, columns[i / 2], &bytes, NULL);
        printf(" %.1f |", (double)bytes / 1000);
    }
    if (status == OIF_OK)
        print_initial_size(&initial);
    printf(status == OIF_OK ? "\n" : " failed\n");
}

int main(void)
{
    const oif_detector_info *info;
    printf(
        "| KB | d = 3, 256 | 3, 2048 | 10, 256 | 10, 2048 | 36, 256 | 36, 2048 | 10, default |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; (info = oif_detector_info_at(i)); i++)
        print_line("", info->table.name, false);
    print_line("small ", "rolling-iforest", true);
    return 0;
}

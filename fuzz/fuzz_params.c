/* Any text as parameters: the first line names a detector, the others are NAME=VALUE, and the last
 * byte is the number of columns. Accepted values read back unchanged; a detector that is small
 * enough is created and learns some rows. */
#include "fuzz_input.h"

enum { MAX_TEXT = 512, SMALL_BYTES = 1 << 20, MAX_DIMENSION = 64, ROWS = 20 };

/* Takes the next line off the text; NULL at its end. */
static char *next_line(char **text)
{
    char *line = *text, *end;
    if (!line)
        return NULL;
    end = strchr(line, '\n');
    *text = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return line;
}

/* Maps unknown names to known ones, so the fuzzer need not guess them letter by letter. */
static const char *param_meant(const oif_params *params, const char *name)
{
    double value;
    if (oif_params_get(params, name, &value, NULL) == OIF_OK)
        return name;
    return params->table->params[(uint8_t)name[0] % params->table->param_count].name;
}

static void set_param(oif_params *params, char *line)
{
    oif_error error = {.message = ""};
    oif_params before = *params;
    double value = 0;
    char *text = strchr(line, '=');
    if (!text)
        return;
    *text++ = '\0';
    if (oif_params_set_text(params, line, text, &error) == OIF_EPARAM)
        require(error.message[0] != '\0' && memcmp(&before, params, sizeof before) == 0);
    const char *meant = param_meant(params, line);
    oif_status status = oif_params_set_text(params, meant, text, NULL);
    require(oif_params_get(params, meant, &value, NULL) == OIF_OK);
    require(status == OIF_OK ? oif_params_set(&before, meant, value, NULL) == OIF_OK
                             : status == OIF_EPARAM);
}

static void try_detector(const oif_params *params, size_t dimension)
{
    oif_detector *detector = NULL;
    size_t bytes = 0;
    oif_error error = {.message = ""};
    oif_status status = oif_detector_estimate_bytes(params, dimension, &bytes, &error);
    require(status == OIF_OK || (error.status == status && error.message[0] != '\0'));
    if (status != OIF_OK || bytes > SMALL_BYTES || dimension > MAX_DIMENSION)
        return;
    require(oif_detector_new(params, dimension, &detector, NULL) == OIF_OK);
    require(oif_detector_memory_bytes(detector) == bytes);
    for (int i = 0; i < ROWS; i++) {
        double row[MAX_DIMENSION], score;
        for (size_t j = 0; j < dimension; j++)
            row[j] = (i + (int)j) % 7 == 0 ? NAN : i * (double)j - i % 3;
        require(oif_detector_learn_score(detector, row, &score, NULL) == OIF_OK && score == score);
    }
    require_whole(detector);
    oif_detector_free(detector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MAX_TEXT + 1], *rest = text, *line;
    oif_params params;
    size_t kinds = 0;
    if (size < 2 || size > MAX_TEXT)
        return 0;
    memcpy(text, data, size - 1);
    text[size - 1] = '\0';
    while (oif_detector_info_at(kinds))
        kinds++;
    line = next_line(&rest);
    if (oif_params_init(&params, line, NULL) != OIF_OK)
        require(oif_params_init(&params, oif_detector_info_at((uint8_t)line[0] % kinds)->table.name,
                                NULL) == OIF_OK);
    while ((line = next_line(&rest)))
        set_param(&params, line);
    try_detector(&params, data[size - 1] < 250 ? data[size - 1] % 70
                                               : (size_t)1 << 2 * (data[size - 1] % 30));
    return 0;
}

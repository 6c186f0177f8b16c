/* --csv: how CSV is written, where the first lines do not show it. */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 32 };

static bool set_separator(run_settings *settings, const char *value)
{
    const bool is_tab = strcmp(value, "tab") == 0 || strcmp(value, "\\t") == 0;
    settings->delimiter = is_tab ? '\t' : strcmp(value, "space") == 0 ? ' ' : *value;
    return is_tab || settings->delimiter == ' ' || strlen(value) == 1;
}

static bool set_decimal(run_settings *settings, const char *value)
{
    settings->decimal = strcmp(value, ",") == 0 ? OIF_DECIMAL_COMMA : OIF_DECIMAL_POINT;
    return strcmp(value, ",") == 0 || strcmp(value, ".") == 0;
}

static bool set_header(run_settings *settings, const char *value)
{
    settings->header = strcmp(value, "no") == 0 ? OIF_HEADER_NO : OIF_HEADER_YES;
    return strcmp(value, "no") == 0 || strcmp(value, "yes") == 0;
}

static bool set_comment(run_settings *settings, const char *value)
{
    settings->comment = settings_keep_text(settings, value, strlen(value));
    return *value && settings->comment;
}

static bool set_skip(run_settings *settings, const char *value)
{
    const char *end = value + strlen(value);
    double lines = 0;
    bool is_count = oif_number_parse(value, end, &lines) == end && lines >= 0 && lines <= 1e6 &&
                    lines == (double)(uint64_t)lines;
    settings->skip_lines = is_count ? (uint64_t)lines : 0;
    return is_count;
}

static const struct {
    const char *name;
    bool (*set)(run_settings *settings, const char *value);
} words[] = {{"sep=", set_separator},
             {"decimal=", set_decimal},
             {"header=", set_header},
             {"comment=", set_comment},
             {"skip=", set_skip}};

static bool set_word(run_settings *settings, const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(word, words[i].name, strlen(words[i].name)) == 0)
            return words[i].set(settings, word + strlen(words[i].name));
    return false;
}

const char *csv_option_set(run_settings *settings, const char *value)
{
    static const char expected[] = "words such as 'sep=; skip=3 decimal=, comment=# header=no', "
                                   "with sep=tab or sep=space for blanks";
    for (const char *at = value + strspn(value, " "); *at; at += strspn(at, " ")) {
        char word[WORD_BYTES];
        const size_t bytes = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)bytes, at);
        if (bytes >= sizeof word || strpbrk(word, "\r\n") || !set_word(settings, word))
            return expected;
        at += bytes;
    }
    return *value ? NULL : expected;
}

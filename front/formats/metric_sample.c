#include "metric_sample.h"

#include "translator.h"

bool metric_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == ':';
}

static oif_text next_word(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    const char *begin = *at;
    while (*at < end && **at != ' ' && **at != '\t')
        ++*at;
    return (oif_text){begin, (size_t)(*at - begin)};
}

/* The end of a text in quotes, at the second one; NULL: it has none. */
static const char *quoted_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at : NULL;
}

/* The brace that ends the labels; NULL: there is none. */
static const char *labels_end(const char *at, const char *end)
{
    while (at < end && *at != '}') {
        if (*at == '"' && !(at = quoted_end(at, end)))
            return NULL;
        at++;
    }
    return at < end ? at : NULL;
}

bool metric_sample_split(oif_text line, metric_sample *sample)
{
    const char *at = line.text, *end = line.text + line.bytes, *begin;
    while (at < end && metric_name_byte(*at))
        at++;
    sample->name = (oif_text){line.text, (size_t)(at - line.text)};
    sample->labels = (oif_text){at, 0};
    if (at < end && *at == '{') {
        begin = at + 1;
        if (!(at = labels_end(begin, end)))
            return false;
        sample->labels = (oif_text){begin, (size_t)(at - begin)};
        at++;
    }
    sample->value = next_word(&at, end);
    sample->time = next_word(&at, end);
    if (text_is(sample->time, "#")) /* an exemplar */
        sample->time.bytes = 0;
    return sample->name.bytes > 0 && sample->value.bytes > 0;
}

/* ---- Labels ---- */

bool metric_sample_next_label(const char **at, const char *end, oif_text *whole, oif_text *name,
                              oif_text *value)
{
    const char *begin = *at, *equals = *at, *close;
    while (equals < end && *equals != '=')
        equals++;
    if (equals + 1 >= end || equals[1] != '"' || !(close = quoted_end(equals + 1, end)))
        return false;
    *name = (oif_text){begin, (size_t)(equals - begin)};
    while (name->bytes > 0 && *name->text == ' ') {
        name->text++;
        name->bytes--;
    }
    *value = (oif_text){equals + 2, (size_t)(close - equals - 2)};
    *at = close + 1 < end && close[1] == ',' ? close + 2 : close + 1;
    *whole = (oif_text){begin, (size_t)(close + 1 - begin)};
    return true;
}

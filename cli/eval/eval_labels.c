#include "eval_labels.h"

#include "front/text/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

eval_labels eval_labels_start(const run_settings *settings, const byte_source *source)
{
    return (eval_labels){.asked = &settings->eval,
                         .source = source,
                         .input = source->name,
                         .column = settings->label};
}

void eval_labels_close(eval_labels *labels)
{
    for (size_t i = 0; i < labels->count; i++)
        free(labels->values[i].text);
    labels->count = 0;
}

/* ---- Comparing values ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(oif_text text, const char *word)
{
    size_t i = 0;
    while (i < text.bytes && word[i] && lower(text.text[i]) == lower(word[i]))
        i++;
    return i == text.bytes && !word[i];
}

static bool is_one_of(oif_text text, const char *const words[])
{
    while (*words && !is_word(text, *words))
        words++;
    return *words != NULL;
}

static bool is_missing(oif_text text)
{
    static const char *const words[] = {"", "NA", "N/A", "NaN", "null", "None", NULL};
    return is_one_of(text, words);
}

static bool is_number(oif_text text, double *number)
{
    const char *end = text.text + text.bytes;
    return text.bytes > 0 && oif_number_parse(text.text, end, number) == end && isfinite(*number);
}

static bool is_same(const label_value *value, oif_text text)
{
    double number;
    if (value->is_number)
        return is_number(text, &number) && number == value->number;
    return is_word(text, value->text);
}

/* ---- Reading ---- */

static label_meaning usual_meaning(oif_text text)
{
    double number;
    static const char *const normal[] = {
        "false",   "no",     "f",       "n",       "off",    "normal",     "ok",      "good",
        "regular", "benign", "healthy", "genuine", "inlier", "legitimate", "nominal", NULL};
    static const char *const anomaly[] = {
        "true",    "yes",  "t",         "y",     "on",     "anomaly", "anomalous",
        "bad",     "fail", "irregular", "fault", "faulty", "attack",  "malicious",
        "outlier", "nok",  "abnormal",  "fraud", NULL};
    if (is_number(text, &number))
        return number == 0 ? LABEL_NORMAL : number == 1 ? LABEL_ANOMALY : LABEL_UNKNOWN;
    return is_one_of(text, normal)    ? LABEL_NORMAL
           : is_one_of(text, anomaly) ? LABEL_ANOMALY
                                      : LABEL_UNKNOWN;
}

/* With --anomaly, every value that it does not name is normal. */
static label_meaning asked_meaning(const eval_settings *asked, oif_text text)
{
    for (size_t i = 0; i < asked->anomaly_count; i++) {
        double wanted, number;
        oif_text value = {asked->anomalies[i], strlen(asked->anomalies[i])};
        bool is_equal = is_number(value, &wanted) && is_number(text, &number)
                            ? wanted == number
                            : is_word(text, asked->anomalies[i]);
        if (is_equal)
            return LABEL_ANOMALY;
    }
    return LABEL_NORMAL;
}

static label_meaning meaning_of(const eval_labels *labels, oif_text text)
{
    return labels->asked->anomaly_count > 0 ? asked_meaning(labels->asked, text)
                                            : usual_meaning(text);
}

static exit_code add_value(eval_labels *labels, oif_text text, const oif_error *first)
{
    label_value *value = &labels->values[labels->count];
    *value = (label_value){.text = strndup(text.text ? text.text : "", text.bytes),
                           .meaning = meaning_of(labels, text),
                           .first = *first};
    if (!value->text)
        return complain(EXIT_FAILED, "out of memory");
    value->is_number = is_number(text, &value->number);
    labels->recent = labels->count++;
    return EXIT_OK;
}

/* Whether the message may count a value together with others: normal values if --anomaly is
 * given, otherwise numbers besides -1, 0 and 1. */
static bool is_ordinary(const eval_labels *labels, oif_text text)
{
    double number;
    if (labels->asked->anomaly_count > 0)
        return asked_meaning(labels->asked, text) == LABEL_NORMAL;
    return is_number(text, &number) && number != -1 && number != 0 && number != 1;
}

static bool find_alike(eval_labels *labels, oif_text text)
{
    if (labels->count < LABEL_ALIKE_MAX || !is_ordinary(labels, text))
        return false;
    for (size_t i = 0; i < labels->count; i++) {
        oif_text known = {labels->values[i].text, strlen(labels->values[i].text)};
        labels->recent = i;
        if (is_ordinary(labels, known)) {
            labels->values[i].has_others = true;
            return true;
        }
    }
    return false;
}

static bool find_value(eval_labels *labels, oif_text text)
{
    if (labels->count > 0 && is_same(&labels->values[labels->recent], text))
        return true;
    for (size_t i = 0; i < labels->count; i++) {
        if (is_same(&labels->values[i], text)) {
            labels->recent = i;
            return true;
        }
    }
    return find_alike(labels, text);
}

exit_code eval_labels_read(eval_labels *labels, const oif_reader *reader, const oif_record *record,
                           size_t column, oif_text text, uint8_t *code)
{
    exit_code result = EXIT_OK;
    if (!find_value(labels, text)) {
        oif_error first = {.status = OIF_EINPUT};
        oif_record in_file = *record;
        const char *file = byte_source_place(labels->source, &in_file.line);
        if (labels->asked->anomaly_count == 0 && is_missing(text))
            return input_error_in_field(
                file, reader, &in_file, column,
                "the label is missing; give 0 for a normal row, 1 for an anomaly, or say with "
                "--anomaly VALUE which rows are anomalies");
        if (labels->count == LABEL_VALUES_MAX)
            return input_error_in_field(
                file, reader, &in_file, column,
                "the label has too many values; say with --anomaly VALUE which rows are anomalies");
        input_error_place(reader, record, column, &first);
        result = add_value(labels, text, &first);
    }
    labels->values[labels->recent].rows++;
    *code = (uint8_t)labels->recent;
    return result;
}

/* ---- Deciding ---- */

static label_value *find_number(eval_labels *labels, double number)
{
    for (size_t i = 0; i < labels->count; i++)
        if (labels->values[i].is_number && labels->values[i].number == number)
            return &labels->values[i];
    return NULL;
}

/* A value quoted for the shell. */
enum { SHELL_TEXT_BYTES = 128 };

static const char *shell_text(const char *value, char text[SHELL_TEXT_BYTES])
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    size_t length = 0;
    if (*value && value[strspn(value, plain)] == '\0' && strlen(value) < SHELL_TEXT_BYTES)
        return value;
    text[length++] = '\'';
    for (; *value && length < SHELL_TEXT_BYTES - 6; value++)
        length += (size_t)snprintf(text + length, SHELL_TEXT_BYTES - length,
                                   *value == '\'' ? "'\\%c'" : "%c", *value);
    snprintf(text + length, SHELL_TEXT_BYTES - length, "'");
    return text;
}

/* The bytes of a label that a message shows. */
static int label_bytes(const char *text)
{
    return (int)cut_bytes(text, strlen(text), 40);
}

/* "1 (90 rows), 2 (10 rows)", cut off where it does not fit. */
static void list_values(const eval_labels *labels, char *text, size_t capacity)
{
    char rows[GROUPED_TEXT_BYTES];
    size_t length = 0;
    for (size_t i = 0; i < labels->count; i++) {
        const label_value *value = &labels->values[i];
        if (length + 120 > capacity) {
            snprintf(text + length, capacity - length, ", ...");
            return;
        }
        length += (size_t)snprintf(text + length, capacity - length, "%s%.*s%s (%s row%s)",
                                   i > 0 ? ", " : "", label_bytes(value->text), value->text,
                                   value->has_others ? " and others" : "",
                                   grouped_text(value->rows, rows), value->rows == 1 ? "" : "s");
    }
}

/* The value to suggest for --anomaly: the rarest one whose meaning is unknown. This is only a
 * guess. There is such a value, or the labels would not be ambiguous; if labels are numbers,
 * even the meaning of 1 is unknown. */
static const label_value *find_doubtful(const eval_labels *labels)
{
    const label_value *rarest = NULL;
    for (size_t i = 0; i < labels->count; i++) {
        const label_value *value = &labels->values[i];
        bool is_doubtful = value->meaning == LABEL_UNKNOWN ||
                           (value->is_number && value->meaning == LABEL_ANOMALY);
        if (is_doubtful && (!rarest || value->rows < rarest->rows))
            rarest = value;
    }
    return rarest ? rarest : &labels->values[0];
}

static exit_code complain_ambiguous(const eval_labels *labels)
{
    char values[320], shell[SHELL_TEXT_BYTES], text[INPUT_ERROR_TEXT_BYTES];
    const label_value *rarest = find_doubtful(labels);
    list_values(labels, values, sizeof values);
    oif_error error = rarest->first;
    const char *file = byte_source_place(labels->source, &error.line);
    return complain(EXIT_FAILED,
                    "%swhich label is the anomaly? '%s' has %s; answer with --anomaly %s, which "
                    "may be repeated",
                    input_error_text(file, &error, text), cut_name(labels->column).text, values,
                    shell_text(rarest->text, shell));
}

static void set_all(eval_labels *labels, label_meaning from, label_meaning to)
{
    for (size_t i = 0; i < labels->count; i++)
        if (labels->values[i].meaning == from)
            labels->values[i].meaning = to;
}

static exit_code decide_numbers(eval_labels *labels)
{
    label_value *minus = find_number(labels, -1), *one = find_number(labels, 1);
    const label_value *zero = find_number(labels, 0);
    size_t known = (minus ? 1u : 0u) + (one ? 1u : 0u);
    if (zero && !(minus && one)) {
        set_all(labels, LABEL_UNKNOWN, LABEL_ANOMALY);
        return EXIT_OK;
    }
    if (zero || labels->count > known || known == 0)
        return complain_ambiguous(labels);
    if (minus) {
        minus->meaning = LABEL_ANOMALY;
        note("%s: '%s' is -1 for anomalies and 1 for normal rows, as in scikit-learn; if 1 "
             "marks anomalies, add --anomaly 1",
             labels->input, cut_name(labels->column).text);
    }
    if (minus && one)
        one->meaning = LABEL_NORMAL;
    return EXIT_OK;
}

/* "host.csv: 'kind' has normal (90 rows), dos (7 rows), ...: all but 'normal' are ..." */
static void note_others(const eval_labels *labels, label_meaning known)
{
    char values[480];
    size_t i = 0;
    while (labels->values[i].meaning != known)
        i++;
    list_values(labels, values, sizeof values);
    note("%s: '%s' has %s: all but '%.*s' count as %s; if that is wrong, add --anomaly VALUE",
         labels->input, cut_name(labels->column).text, values, label_bytes(labels->values[i].text),
         labels->values[i].text, known == LABEL_NORMAL ? "anomalies" : "normal rows");
}

static exit_code decide_words(eval_labels *labels)
{
    size_t count[LABEL_ANOMALY + 1] = {0};
    for (size_t i = 0; i < labels->count; i++)
        count[labels->values[i].meaning]++;
    if (count[LABEL_UNKNOWN] == 0)
        return EXIT_OK;
    if ((count[LABEL_NORMAL] > 0) == (count[LABEL_ANOMALY] > 0))
        return complain_ambiguous(labels);
    bool knows_normal = count[LABEL_NORMAL] > 0;
    note_others(labels, knows_normal ? LABEL_NORMAL : LABEL_ANOMALY);
    set_all(labels, LABEL_UNKNOWN, knows_normal ? LABEL_ANOMALY : LABEL_NORMAL);
    return EXIT_OK;
}

/* A value of --anomaly that no row has is most likely a typing mistake. */
static exit_code check_asked(const eval_labels *labels)
{
    for (size_t i = 0; i < labels->asked->anomaly_count; i++) {
        const char *asked = labels->asked->anomalies[i];
        bool occurs = false;
        for (size_t j = 0; j < labels->count && !occurs; j++) {
            eval_settings one = {.anomalies = {asked}, .anomaly_count = 1};
            oif_text text = {labels->values[j].text, strlen(labels->values[j].text)};
            occurs = asked_meaning(&one, text) == LABEL_ANOMALY;
        }
        char values[480];
        list_values(labels, values, sizeof values);
        if (!occurs)
            return complain(EXIT_FAILED, "%s: no row has the label '%s' of --anomaly; '%s' has %s",
                            labels->input, cut_name(asked).text, cut_name(labels->column).text,
                            values);
    }
    return EXIT_OK;
}

exit_code eval_labels_decide(eval_labels *labels)
{
    bool all_numbers = true;
    if (labels->asked->anomaly_count > 0)
        return check_asked(labels);
    for (size_t i = 0; i < labels->count; i++)
        all_numbers = all_numbers && labels->values[i].is_number;
    return all_numbers ? decide_numbers(labels) : decide_words(labels);
}

bool eval_labels_is_anomaly(const eval_labels *labels, uint8_t code)
{
    return labels->values[code].meaning == LABEL_ANOMALY;
}

#include "samples.h"

#include "front/text/byte_table.h"
#include "front/text/name_list.h"
#include "front/text/output.h"
#include "front/text/quoting.h"
#include "sample_names.h"

enum { COLUMNS_MAX = 1 << 14, KEYS_MAX = 1 << 16, COLUMN_BYTES_MAX = 1024 };

static const char *const words[LEFT_OUT_COUNT] = {"stale",  "not_finite", "text",     "bucket",
                                                  "metric", "repeated",   "too_long", "unknown"};

const char *left_out_word(left_out reason)
{
    return words[reason];
}

/* A key; the key of the item is the values of its labels, each with a NUL. */
typedef struct sample_key {
    byte_item item;
    uint32_t number;
    char *head; /* "job":"node","instance":"a", */
    size_t head_bytes;
} sample_key;

/* A column; the key of the item is its name with labels. */
typedef struct sample_column {
    byte_item item;
    uint32_t number;
    uint32_t name_bytes; /* without labels */
    bool is_counter, has_samples;
    int left;     /* why its samples are left out; -1: they are not */
    char *member; /* "cpu_usage": as JSON has it */
    size_t member_bytes;
    uint64_t row; /* the last row that has it, from 1 */
    size_t at;    /* which sample that is */
} sample_column;

/* Of samples.h, with numbers for its texts. */
typedef struct placed_sample {
    uint32_t key, column, order;
    double seconds, value;
} placed_sample;

struct samples {
    const sample_rule *rule;
    char *key_names[RULE_KEYS_MAX]; /* as labels are compared */
    bool is_by_series, is_by_measurement;
    byte_table keys, columns, labels_seen;
    sample_key **key_list;
    sample_column **column_list;
    size_t key_capacity, column_capacity;
    placed_sample *list;
    size_t count, capacity;
    bool is_sorted; /* so far, by key and time */

    oif_text measurement; /* of the current samples; no bytes: none */
    sample_key *key;      /* of their labels; NULL: it is too long, or one too many */
    text_buffer suffix;   /* of the columns: {cpu="cpu0"} */
    text_buffer names, text;
    sample_counts counts;
    bool has_no_memory;
};

/* ---- Opening ---- */

static bool take_key_names(samples *all)
{
    for (size_t i = 0; i < all->rule->key_count; i++) {
        const char *name = all->rule->keys[i];
        all->key_names[i] = strdup(name);
        if (!all->key_names[i])
            return false;
        for (char *c = all->key_names[i]; *c; c++)
            *c = sample_name_byte(*c);
        all->is_by_series |= strcmp(name, "series") == 0;
        all->is_by_measurement |= strcmp(name, "measurement") == 0;
    }
    all->is_by_measurement |= all->is_by_series;
    return true;
}

samples *samples_new(const sample_rule *rule)
{
    samples *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->rule = rule;
    all->is_sorted = true;
    if (take_key_names(all))
        return all;
    samples_free(all);
    return NULL;
}

void samples_free(samples *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->rule->key_count; i++)
        free(all->key_names[i]);
    for (size_t i = 0; i < all->keys.count; i++)
        free(all->key_list[i]->head);
    for (size_t i = 0; i < all->columns.count; i++)
        free(all->column_list[i]->member);
    byte_table_free(&all->keys);
    byte_table_free(&all->columns);
    byte_table_free(&all->labels_seen);
    free(all->key_list);
    free(all->column_list);
    free(all->list);
    text_buffer_free(&all->suffix);
    text_buffer_free(&all->names);
    text_buffer_free(&all->text);
    free(all);
}

/* Makes room for one more item of a list. */
static void *grow(void *list, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return list;
    void *larger = realloc(list, (2 * *capacity + 64) * item_bytes);
    if (larger)
        *capacity = 2 * *capacity + 64;
    return larger;
}

/* ---- Labels ---- */

/* Sorted by name; names as labels are compared. */
typedef struct label_list {
    sample_label items[SAMPLE_LABELS_MAX];
    size_t count;
} label_list;

static int compare_texts(oif_text a, oif_text b)
{
    int order = memcmp(a.text, b.text, a.bytes < b.bytes ? a.bytes : b.bytes);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static void insert(label_list *list, sample_label label)
{
    size_t at = list->count++;
    for (; at > 0 && compare_texts(label.name, list->items[at - 1].name) < 0; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = label;
}

/* A label without a value is the same as none. */
static void sort_labels(samples *all, const sample_label *labels, size_t count, label_list *sorted)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += SAMPLE_NAME_GROWTH * labels[i].name.bytes;
    all->names.count = 0;
    sorted->count = 0;
    if (!text_buffer_reserve(&all->names, bytes))
        return; /* and no name moves while more are added */
    for (size_t i = 0; i < count; i++) {
        const size_t start = all->names.count;
        if (labels[i].value.bytes == 0 || labels[i].name.bytes == 0)
            continue;
        sample_name_add(&all->names, labels[i].name);
        const oif_text name = {all->names.bytes + start, all->names.count - start};
        insert(sorted, (sample_label){name, labels[i].value, labels[i].is_of_sender});
    }
}

static bool is_text(oif_text text, const char *word)
{
    return strlen(word) == text.bytes && memcmp(text.text, word, text.bytes) == 0;
}

static bool is_in_key(const samples *all, oif_text name)
{
    for (size_t i = 0; i < all->rule->key_count; i++)
        if (is_text(name, all->key_names[i]))
            return true;
    return all->is_by_series;
}

static bool is_dropped(const samples *all, oif_text name)
{
    char text[256];
    if (!all->rule->drop_labels || name.bytes >= sizeof text)
        return false;
    memcpy(text, name.text, name.bytes);
    text[name.bytes] = '\0';
    return name_list_covers(all->rule->drop_labels, text, false);
}

/* Behind a name: {cpu="cpu0"}, with the escapes that Prometheus has. */
static void add_label(text_buffer *room, const sample_label *label, const char *before)
{
    text_buffer_add_byte(room, *before);
    text_buffer_add(room, label->name.text, label->name.bytes);
    text_buffer_add(room, "=\"", 2);
    sample_value_add_escaped(room, label->value);
    text_buffer_add_byte(room, '"');
}

static void make_suffix(samples *all, const label_list *labels)
{
    const char *before = "{";
    all->suffix.count = 0;
    for (size_t i = 0; i < labels->count; i++) {
        const sample_label *label = &labels->items[i];
        if (label->is_of_sender || is_in_key(all, label->name) || is_dropped(all, label->name))
            continue;
        add_label(&all->suffix, label, before);
        before = ",";
    }
    if (*before == ',')
        text_buffer_add_byte(&all->suffix, '}');
}

/* ---- Keys ---- */

static const sample_label *find_label(const label_list *labels, const char *name)
{
    for (size_t i = 0; i < labels->count; i++)
        if (is_text(labels->items[i].name, name))
            return &labels->items[i];
    return NULL;
}

/* The measurement and all labels, as one text. */
static void add_series(samples *all, const label_list *labels)
{
    const char *before = "{";
    sample_value_add(&all->text, all->measurement);
    for (size_t i = 0; i < labels->count; i++) {
        add_label(&all->text, &labels->items[i], before);
        before = ",";
    }
    if (*before == ',')
        text_buffer_add_byte(&all->text, '}');
}

/* Writes "host":{"name":"a"} for the label host.name: the stream finds it by that path. */
static void write_member(const char *name, const char *value, size_t bytes)
{
    size_t levels = 0;
    for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1, levels++) {
        quoting_write_json(name, (size_t)(dot - name));
        output_text(":{");
    }
    quoting_write_json(name, strlen(name));
    output_text(":");
    quoting_write_json(value, bytes);
    while (levels-- > 0)
        output_text("}");
    output_text(",");
}

static bool make_head(const samples *all, sample_key *key)
{
    const char *value = key->item.key;
    output_divert();
    for (size_t i = 0; i < all->rule->key_count; i++) {
        const size_t bytes = strlen(value);
        write_member(all->rule->keys[i], value, bytes);
        value += bytes + 1;
    }
    key->head = output_diverted(&key->head_bytes);
    return key->head || key->head_bytes == 0;
}

static sample_key *add_key(samples *all)
{
    sample_key **list = grow(all->key_list, all->keys.count, &all->key_capacity, sizeof *list);
    if (!list || all->keys.count == KEYS_MAX)
        return NULL;
    all->key_list = list;
    sample_key *key = byte_table_add(&all->keys, all->text.bytes, all->text.count, sizeof *key);
    if (!key)
        return NULL;
    key->number = (uint32_t)all->keys.count - 1;
    list[key->number] = key;
    return make_head(all, key) ? key : NULL;
}

/* Whether samples of more keys are left out. */
static bool is_full(const samples *all)
{
    const size_t most = all->rule->keys_max < KEYS_MAX ? all->rule->keys_max : KEYS_MAX;
    return most > 0 && all->keys.count >= most;
}

static bool find_key(samples *all, const label_list *labels)
{
    all->text.count = 0;
    for (size_t i = 0; i < all->rule->key_count; i++) {
        const sample_label *label = find_label(labels, all->key_names[i]);
        if (strcmp(all->rule->keys[i], "series") == 0)
            add_series(all, labels);
        else if (label)
            sample_value_add(&all->text, label->value);
        else if (strcmp(all->rule->keys[i], "measurement") == 0)
            sample_value_add(&all->text, all->measurement);
        text_buffer_add_byte(&all->text, '\0');
    }
    all->key = NULL;
    if (all->text.is_failed || all->text.count > OIF_KEY_MAX_BYTES)
        return !all->text.is_failed;
    if (!all->text.bytes && !text_buffer_reserve(&all->text, 1))
        return false;
    all->key = byte_table_find(&all->keys, all->text.bytes, all->text.count);
    if (!all->key && is_full(all))
        return true;
    if (!all->key)
        all->key = add_key(all);
    return all->key != NULL;
}

static bool see_labels(samples *all, const label_list *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        const oif_text name = labels->items[i].name;
        if (!byte_table_find(&all->labels_seen, name.text, name.bytes) &&
            all->labels_seen.count < SAMPLE_LABELS_MAX &&
            !byte_table_add(&all->labels_seen, name.text, name.bytes, sizeof(byte_item)))
            return false;
    }
    return true;
}

bool samples_begin(samples *all, oif_text measurement, const sample_label *labels, size_t count)
{
    label_list sorted;
    all->measurement = measurement;
    all->key = NULL;
    if (count > SAMPLE_LABELS_MAX)
        return true; /* its samples are left out */
    sort_labels(all, labels, count, &sorted);
    make_suffix(all, &sorted);
    all->has_no_memory = !see_labels(all, &sorted) || !find_key(all, &sorted) ||
                         all->names.is_failed || all->suffix.is_failed;
    return !all->has_no_memory;
}

bool samples_had_label(const samples *all, const char *name)
{
    return byte_table_find(&all->labels_seen, name, strlen(name)) != NULL;
}

/* ---- Columns ---- */

/* Whether its samples become part of a row. */
static int reason_to_leave(const samples *all, const sample_column *column, size_t metric_bytes,
                           sample_kind kind)
{
    char name[COLUMN_BYTES_MAX + 1];
    if (column->item.key_bytes > COLUMN_BYTES_MAX)
        return LEFT_TOO_LONG;
    if (kind == SAMPLE_BUCKET && !all->rule->has_buckets)
        return LEFT_BUCKET;
    if (!all->rule->metrics)
        return -1;
    memcpy(name, column->item.key, metric_bytes);
    name[metric_bytes] = '\0';
    return name_list_covers(all->rule->metrics, name, false) ? -1 : LEFT_METRIC;
}

static bool make_member(sample_column *column)
{
    if (column->left >= 0)
        return true;
    output_divert();
    quoting_write_json(column->item.key, column->item.key_bytes);
    output_text(":");
    column->member = output_diverted(&column->member_bytes);
    return column->member != NULL;
}

static sample_column *add_column(samples *all, size_t metric_bytes, size_t name_bytes,
                                 sample_kind kind)
{
    sample_column **list =
        grow(all->column_list, all->columns.count, &all->column_capacity, sizeof *list);
    if (!list || all->columns.count == COLUMNS_MAX)
        return NULL;
    all->column_list = list;
    sample_column *column =
        byte_table_add(&all->columns, all->text.bytes, all->text.count, sizeof *column);
    if (!column)
        return NULL;
    column->number = (uint32_t)all->columns.count - 1;
    column->name_bytes = (uint32_t)name_bytes;
    column->is_counter = kind != SAMPLE_GAUGE;
    column->left = reason_to_leave(all, column, metric_bytes, kind);
    list[column->number] = column;
    return make_member(column) ? column : NULL;
}

/* A column may not have the name of the time or of a member of the key: that of host.name is
 * host. */
static bool is_taken(const samples *all, oif_text name)
{
    for (size_t i = 0; i < all->rule->key_count; i++) {
        const char *key = all->rule->keys[i];
        if (strcspn(key, ".") == name.bytes && memcmp(key, name.text, name.bytes) == 0)
            return true;
    }
    return is_text(name, all->rule->time);
}

static sample_column *find_column(samples *all, const sample *one)
{
    all->text.count = 0;
    if (all->measurement.bytes > 0 && !all->is_by_measurement) {
        sample_name_add(&all->text, all->measurement);
        text_buffer_add_byte(&all->text, '_');
    }
    sample_name_add(&all->text, one->name);
    const size_t metric_bytes = all->text.count;
    while (all->suffix.count == 0 && !all->text.is_failed &&
           is_taken(all, (oif_text){all->text.bytes, all->text.count}))
        text_buffer_add_byte(&all->text, '_');
    const size_t name_bytes = all->text.count;
    text_buffer_add(&all->text, all->suffix.bytes, all->suffix.count);
    if (all->text.is_failed)
        return NULL;
    sample_column *column = byte_table_find(&all->columns, all->text.bytes, all->text.count);
    return column ? column : add_column(all, metric_bytes, name_bytes, one->kind);
}

size_t samples_column_count(const samples *all)
{
    return all->columns.count;
}

sample_column_info samples_column_at(const samples *all, size_t index)
{
    const sample_column *column = all->column_list[index];
    return (sample_column_info){.name = {column->item.key, column->name_bytes},
                                .has_labels = column->name_bytes < column->item.key_bytes,
                                .is_counter = column->is_counter,
                                .is_left_out = !column->has_samples};
}

/* ---- Samples ---- */

void samples_leave_out(samples *all, left_out reason, uint64_t count)
{
    all->counts.left[reason] += count;
}

static bool is_in_order(const placed_sample *before, const placed_sample *next)
{
    return before->key < next->key ||
           (before->key == next->key && before->seconds <= next->seconds);
}

bool samples_add(samples *all, const sample *one)
{
    sample_column *column = all->key ? find_column(all, one) : NULL;
    const bool has_place = isfinite(one->value) || all->rule->keeps_missing;
    int left = !all->key                     ? LEFT_TOO_LONG
               : column && column->left >= 0 ? column->left
               : !has_place                  ? LEFT_NOT_FINITE
                                             : -1;
    if (left >= 0)
        samples_leave_out(all, (left_out)left, 1);
    if (left >= 0)
        return true;
    placed_sample *list = grow(all->list, all->count, &all->capacity, sizeof *list);
    all->has_no_memory = !column || !list;
    if (all->has_no_memory || all->count == SAMPLES_MAX)
        return false;
    all->list = list;
    column->has_samples = true;
    list[all->count] = (placed_sample){.key = all->key->number,
                                       .column = column->number,
                                       .order = (uint32_t)all->count,
                                       .seconds = one->seconds,
                                       .value = one->value};
    if (all->count > 0)
        all->is_sorted = all->is_sorted && is_in_order(&list[all->count - 1], &list[all->count]);
    all->count++;
    return true;
}

bool samples_refuse(const samples *all, problem *why)
{
    if (all->count == SAMPLES_MAX || all->columns.count == COLUMNS_MAX ||
        all->keys.count == KEYS_MAX)
        return problem_set(why, 413, "Send smaller batches.",
                           "the request has more than %d samples, %d columns or %d keys",
                           SAMPLES_MAX, COLUMNS_MAX, KEYS_MAX);
    return problem_set(why, 503, NULL, "out of memory");
}

const sample_counts *samples_counted(const samples *all)
{
    return &all->counts;
}

/* ---- Rows ---- */

/* Samples from `first` on. */
typedef struct sample_row {
    size_t first, count;
    uint32_t order; /* of its first sample in the request */
    double seconds;
} sample_row;

static int compare_samples(const void *a, const void *b)
{
    const placed_sample *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static int compare_rows(const void *a, const void *b)
{
    const sample_row *left = a, *right = b;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

/* Whether a sample belongs to a row that has begun. Its column may be there already: then it begins
 * another row, unless it is at the very same time. */
static bool fits(const samples *all, const sample_row *row, uint64_t number, size_t at)
{
    const placed_sample *one = &all->list[at], *first = &all->list[row->first];
    const sample_column *column = all->column_list[one->column];
    const double apart = one->seconds - first->seconds;
    if (one->key != first->key || !(apart == 0 || apart < all->rule->span_seconds))
        return false;
    return column->row != number || all->list[column->at].seconds == one->seconds;
}

/* Cuts the sorted samples into rows. A column that came twice keeps its place, and gets the later
 * value. */
static size_t cut_rows(samples *all, sample_row *rows)
{
    size_t count = 0;
    for (size_t at = 0; at < all->count; at++) {
        const placed_sample *one = &all->list[at];
        sample_column *column = all->column_list[one->column];
        if (count == 0 || !fits(all, &rows[count - 1], count, at))
            rows[count++] = (sample_row){at, 0, one->order, one->seconds};
        sample_row *row = &rows[count - 1];
        if (column->row == count) {
            all->list[column->at].value = one->value;
            all->list[at].value = NAN;
            all->counts.left[LEFT_REPEATED]++;
        } else {
            column->row = count;
            column->at = at;
            all->counts.taken++;
        }
        row->count++;
        if (one->order < row->order)
            row->order = one->order;
    }
    return count;
}

static void add_number(text_buffer *room, double number)
{
    char *end = text_buffer_reserve(room, OIF_NUMBER_TEXT_BYTES);
    if (end)
        room->count += oif_number_format(number, end);
}

static void add_row(samples *all, const sample_row *row)
{
    text_buffer *text = &all->text;
    const sample_key *key = all->key_list[all->list[row->first].key];
    text_buffer_add_byte(text, '{');
    text_buffer_add(text, all->names.bytes, all->names.count);
    add_number(text, row->seconds);
    text_buffer_add_byte(text, ',');
    text_buffer_add(text, key->head, key->head_bytes);
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const placed_sample *one = &all->list[i];
        const sample_column *column = all->column_list[one->column];
        if (isnan(one->value))
            continue;
        text_buffer_add(text, column->member, column->member_bytes);
        add_number(text, one->value);
        text_buffer_add_byte(text, ',');
    }
    if (text->count > 0)
        text->bytes[text->count - 1] = '}';
    text_buffer_add_byte(text, '\n');
}

/* "time": which all rows begin with. */
static bool name_time(samples *all)
{
    size_t bytes;
    output_divert();
    write_member(all->rule->time, "", 0);
    char *member = output_diverted(&bytes);
    all->names.count = 0;
    if (member)
        text_buffer_add(&all->names, member, bytes - sizeof "\"\"," + 1);
    free(member);
    return member && !strchr(all->rule->time, '.');
}

static bool write_rows(samples *all, const sample_row *rows, size_t count, size_t limit_bytes,
                       problem *why)
{
    enum { PIECE_BYTES = 1 << 16 };
    size_t written = 0;
    all->text.count = 0;
    for (size_t i = 0; i < count; i++) {
        add_row(all, &rows[i]);
        if (all->text.is_failed)
            return problem_set(why, 503, NULL, "out of memory");
        if (all->text.count < PIECE_BYTES && i + 1 < count)
            continue;
        written += all->text.count;
        output_write(all->text.bytes, all->text.count);
        all->text.count = 0;
        if (written > limit_bytes)
            return problem_set(why, 413, "Send smaller batches.",
                               "the rows of the request have more than %zu bytes", limit_bytes);
    }
    return true;
}

bool samples_write(samples *all, size_t limit_bytes, problem *why)
{
    if (all->count == 0)
        return true;
    if (!name_time(all))
        return problem_set(why, 400, "Use a stream whose setting \"time\" has no dot.",
                           "samples have their time in one column");
    sample_row *rows = malloc(all->count * sizeof *rows);
    if (!rows)
        return problem_set(why, 503, NULL, "out of memory");
    if (!all->is_sorted)
        qsort(all->list, all->count, sizeof *all->list, compare_samples);
    const size_t count = cut_rows(all, rows);
    qsort(rows, count, sizeof *rows, compare_rows);
    all->counts.rows = count;
    bool is_written = write_rows(all, rows, count, limit_bytes, why);
    free(rows);
    return is_written;
}

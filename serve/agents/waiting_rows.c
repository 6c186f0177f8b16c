#include "waiting_rows.h"

#include "front/text/byte_table.h"
#include "text_buffer.h"

#include <math.h>

/* How many rows are tried that are close in time, but may have a column of the new one. */
enum { TRIES_MAX = 64 };

/* All rows of one key; the key of the item is its members: "job":"node", */
typedef struct waiting_key {
    byte_item item;
    struct waiting_row **rows; /* by time, then by order */
    size_t count, capacity;
} waiting_key;

typedef struct waiting_row {
    waiting_key *key;
    double seconds, arrived;
    uint64_t order;
    size_t bytes;        /* as counted */
    text_buffer numbers; /* "load":1,"up":1 */
    byte_table names;    /* of the numbers; made when another row is to be taken up */
    char time[OIF_NUMBER_TEXT_BYTES];
    size_t time_bytes;
} waiting_row;

struct waiting_rows {
    byte_table keys;
    waiting_row **list; /* by order */
    size_t count, capacity, bytes;
    uint64_t added;
    char time_name[256]; /* {"time": */
    size_t time_name_bytes;
};

waiting_rows *waiting_rows_new(void)
{
    return calloc(1, sizeof(waiting_rows));
}

static size_t bytes_of(const waiting_row *row)
{
    return sizeof *row + row->numbers.capacity + row->names.count * (sizeof(byte_item) + 64);
}

static void count_bytes(waiting_rows *all, waiting_row *row)
{
    const size_t bytes = bytes_of(row);
    all->bytes += bytes - row->bytes;
    row->bytes = bytes;
}

static void free_row(waiting_row *row)
{
    text_buffer_free(&row->numbers);
    byte_table_free(&row->names);
    free(row);
}

size_t waiting_rows_count(const waiting_rows *all)
{
    return all->count;
}

/* ---- Members of a row ---- */

/* The end of a string, behind its second quote; NULL: it has none. */
static const char *string_end(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return NULL;
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

/* The end of a value: a number, a string, or an object with strings. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end && !(depth == 0 && (*at == ',' || *at == '}')); at++) {
        if (*at == '"' && !(at = string_end(at, end)))
            return NULL;
        if (at == end || (depth == 0 && (*at == ',' || *at == '}')))
            break;
        depth += *at == '{';
        depth -= *at == '}' && depth > 0;
    }
    return at < end ? at : NULL;
}

typedef struct row_member {
    oif_text name; /* with its quotes */
    oif_text value;
} row_member;

/* The member at *at, which becomes the byte behind its comma; NULL after the last one. */
static bool next_member(const char **at, const char *end, row_member *member)
{
    const char *name_end = string_end(*at, end);
    if (!name_end || name_end == end || *name_end != ':')
        return false;
    const char *stop = value_end(name_end + 1, end);
    if (!stop || stop == name_end + 1)
        return false;
    member->name = (oif_text){*at, (size_t)(name_end - *at)};
    member->value = (oif_text){name_end + 1, (size_t)(stop - name_end - 1)};
    *at = *stop == ',' ? stop + 1 : NULL;
    return true;
}

/* A line in its parts. */
typedef struct row_parts {
    oif_text time_name; /* {"time": */
    oif_text time, key, numbers;
    double seconds;
} row_parts;

static bool split(oif_text line, row_parts *parts)
{
    const char *at = line.text + 1, *end = line.text + line.bytes;
    row_member member;
    if (line.bytes < 2 || *line.text != '{' || end[-1] != '}' || !next_member(&at, end, &member))
        return false;
    const char *time_end = member.value.text + member.value.bytes;
    parts->time_name = (oif_text){line.text, (size_t)(member.value.text - line.text)};
    parts->time = member.value;
    parts->key = parts->numbers = (oif_text){at, 0};
    if (!at || oif_number_parse(member.value.text, time_end, &parts->seconds) != time_end)
        return false;
    while (at && (parts->key.bytes = (size_t)(at - parts->key.text), true) &&
           next_member(&at, end, &member) && strchr("\"{", *member.value.text))
        ;
    const char *begin = parts->key.text + parts->key.bytes;
    parts->numbers = (oif_text){begin, (size_t)(end - 1 - begin)};
    return parts->numbers.bytes > 0 && parts->time.bytes <= OIF_NUMBER_TEXT_BYTES;
}

/* ---- Joining ---- */

/* Adds the names of numbers to those of a row. False: out of memory. */
static bool add_names(waiting_row *row, oif_text numbers)
{
    const char *at = numbers.text, *end = at + numbers.bytes + 1; /* with the brace behind them */
    row_member member;
    while (at && next_member(&at, end, &member))
        if (!byte_table_find(&row->names, member.name.text, member.name.bytes) &&
            !byte_table_add(&row->names, member.name.text, member.name.bytes, sizeof(byte_item)))
            return false;
    return true;
}

static bool has_any(const waiting_row *row, oif_text numbers)
{
    const char *at = numbers.text, *end = at + numbers.bytes + 1;
    row_member member;
    while (at && next_member(&at, end, &member))
        if (byte_table_find(&row->names, member.name.text, member.name.bytes))
            return true;
    return false;
}

/* The names of a row are looked up only now: most rows are whole when they arrive. */
static bool has_names(waiting_rows *all, waiting_row *row)
{
    if (row->names.count > 0)
        return true;
    text_buffer_add_byte(&row->numbers, '}'); /* which ends the last member */
    if (row->numbers.is_failed)
        return false;
    row->numbers.count--;
    const bool is_good = add_names(row, (oif_text){row->numbers.bytes, row->numbers.count});
    count_bytes(all, row);
    return is_good;
}

/* The place of the first row of the key that is not before this time and order. */
static size_t place_of(const waiting_key *key, double seconds, uint64_t order)
{
    size_t begin = 0, end = key->count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const waiting_row *row = key->rows[middle];
        if (row->seconds < seconds || (row->seconds == seconds && row->order < order))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The row with the nearest time that has none of the columns. */
static waiting_row *find_open(waiting_rows *all, const waiting_key *key, const row_parts *parts,
                              double span)
{
    size_t after = place_of(key, parts->seconds, 0), before = after;
    for (size_t tries = 0; tries < TRIES_MAX; tries++) {
        const double ahead =
            after < key->count ? key->rows[after]->seconds - parts->seconds : INFINITY;
        const double back = before > 0 ? parts->seconds - key->rows[before - 1]->seconds : INFINITY;
        const double apart = fmin(ahead, back);
        if (apart > 0 && !(apart < span))
            return NULL;
        waiting_row *row = ahead <= back ? key->rows[after++] : key->rows[--before];
        if (has_names(all, row) && !has_any(row, parts->numbers))
            return row;
    }
    return NULL;
}

static bool join(waiting_row *row, const row_parts *parts)
{
    text_buffer_add_byte(&row->numbers, ',');
    text_buffer_add(&row->numbers, parts->numbers.text, parts->numbers.bytes);
    return !row->numbers.is_failed && add_names(row, parts->numbers);
}

/* Room for one more pointer in a list that doubles. */
static bool has_room(waiting_row ***list, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return true;
    waiting_row **larger = realloc(*list, (2 * count + 4) * sizeof *larger);
    if (!larger)
        return false;
    *list = larger;
    *capacity = 2 * count + 4;
    return true;
}

static waiting_row *new_row(waiting_rows *all, waiting_key *key, const row_parts *parts, double now)
{
    waiting_row *row = calloc(1, sizeof *row);
    if (!row)
        return NULL;
    *row = (waiting_row){.key = key,
                         .seconds = parts->seconds,
                         .arrived = now,
                         .order = all->added,
                         .time_bytes = parts->time.bytes};
    memcpy(row->time, parts->time.text, parts->time.bytes);
    text_buffer_add(&row->numbers, parts->numbers.text, parts->numbers.bytes);
    if (row->numbers.is_failed || !has_room(&all->list, all->count, &all->capacity) ||
        !has_room(&key->rows, key->count, &key->capacity)) {
        free_row(row);
        return NULL;
    }
    const size_t place = place_of(key, row->seconds, row->order);
    memmove(key->rows + place + 1, key->rows + place, (key->count - place) * sizeof *key->rows);
    key->rows[place] = row;
    key->count++;
    all->list[all->count++] = row;
    all->added++;
    return row;
}

static void drop_if_empty(waiting_rows *all, waiting_key *key)
{
    if (key->count > 0)
        return;
    free(key->rows);
    byte_table_remove(&all->keys, key);
}

static bool add_row(waiting_rows *all, const row_parts *parts, double span, double now)
{
    const char *text = parts->key.bytes > 0 ? parts->key.text : "";
    waiting_key *key = byte_table_find(&all->keys, text, parts->key.bytes);
    if (!key && !(key = byte_table_add(&all->keys, text, parts->key.bytes, sizeof *key)))
        return false;
    waiting_row *row = find_open(all, key, parts, span);
    if (row ? !join(row, parts) : !(row = new_row(all, key, parts, now))) {
        drop_if_empty(all, key);
        return false;
    }
    count_bytes(all, row);
    return true;
}

static bool check(oif_text rows)
{
    row_parts parts;
    for (const char *at = rows.text, *end = at + rows.bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline || !split((oif_text){at, (size_t)(newline - at)}, &parts) ||
            parts.time_name.bytes >= sizeof((waiting_rows *)0)->time_name)
            return false;
        at = newline + 1;
    }
    return true;
}

bool waiting_rows_add(waiting_rows *all, oif_text rows, double span_seconds, double now)
{
    row_parts parts;
    if (!check(rows))
        return false;
    for (const char *at = rows.text, *end = at + rows.bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        split((oif_text){at, (size_t)(newline - at)}, &parts);
        memcpy(all->time_name, parts.time_name.text, parts.time_name.bytes);
        all->time_name_bytes = parts.time_name.bytes;
        if (!add_row(all, &parts, span_seconds, now))
            return false;
        at = newline + 1;
    }
    return true;
}

/* ---- Taking ---- */

static bool is_full(const waiting_rows *all)
{
    return all->count > WAITING_ROWS_MAX || all->bytes > WAITING_BYTES_MAX;
}

/* Rows are in the order of their arrival. */
bool waiting_rows_are_due(const waiting_rows *all, double arrived_by)
{
    return all->count > 0 && (is_full(all) || all->list[0]->arrived <= arrived_by);
}

static int compare(const void *a, const void *b)
{
    const waiting_row *left = *(waiting_row *const *)a, *right = *(waiting_row *const *)b;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static void write_row(text_buffer *to, const waiting_rows *all, const waiting_row *row)
{
    text_buffer_add(to, all->time_name, all->time_name_bytes);
    text_buffer_add(to, row->time, row->time_bytes);
    text_buffer_add_byte(to, ',');
    text_buffer_add(to, row->key->item.key, row->key->item.key_bytes);
    text_buffer_add(to, row->numbers.bytes, row->numbers.count);
    text_buffer_add(to, "}\n", 2);
}

static void remove_row(waiting_rows *all, waiting_row *row)
{
    waiting_key *key = row->key;
    const size_t place = place_of(key, row->seconds, row->order);
    key->count--;
    memmove(key->rows + place, key->rows + place + 1, (key->count - place) * sizeof *key->rows);
    all->bytes -= row->bytes;
    free_row(row);
    drop_if_empty(all, key);
}

char *waiting_rows_take(waiting_rows *all, double arrived_by, size_t *bytes)
{
    text_buffer text = {.bytes = NULL};
    size_t count = 0;
    while (count < all->count && (is_full(all) || all->list[count]->arrived <= arrived_by))
        count++;
    waiting_row **sorted = count > 0 ? malloc(count * sizeof *sorted) : NULL;
    if (!sorted)
        return NULL;
    memcpy(sorted, all->list, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        write_row(&text, all, sorted[i]);
    if (text.is_failed) {
        text_buffer_free(&text);
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        remove_row(all, sorted[i]);
    all->count -= count;
    memmove(all->list, all->list + count, all->count * sizeof *all->list);
    free(sorted);
    *bytes = text.count;
    return text.bytes;
}

void waiting_rows_free(waiting_rows *all)
{
    if (!all)
        return;
    for (size_t i = all->count; i-- > 0;)
        remove_row(all, all->list[i]);
    byte_table_free(&all->keys);
    free(all->list);
    free(all);
}

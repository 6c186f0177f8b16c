/* Prints how the NDJSON reader interprets standard input. test_ndjson_python.py compares that with
 * Python's json on the same lines.
 *
 *     print_records columns                  the columns of each line, as if it were the first line
 *     print_records texts  PIECE PATH...     the texts at these paths in each record
 *     print_records values PIECE PATH...     the numbers
 *
 * PIECE is how many bytes the reader gets at a time; 0 means as many as it asks for. Prints one
 * line per record:
 *
 *     ok LINE RECORD FIELD...     texts are "=" and hexadecimal digits, numbers are printed by %a
 *     bad LINE COLUMN MESSAGE
 */
#include "oif_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS_MAX = 64 };

typedef struct bytes {
    char *at, *end;
    size_t piece;
} bytes;

static ptrdiff_t read_piece(void *context, char *buffer, size_t capacity)
{
    bytes *source = context;
    size_t count = (size_t)(source->end - source->at);
    if (count > capacity)
        count = capacity;
    if (source->piece != 0 && count > source->piece)
        count = source->piece;
    memcpy(buffer, source->at, count);
    source->at += count;
    return (ptrdiff_t)count;
}

static void fail(const char *what)
{
    fprintf(stderr, "print_records: %s\n", what);
    exit(1);
}

static void require(oif_status status, const oif_error *error)
{
    if (status != OIF_OK)
        fail(error->message);
}

static bytes read_standard_input(void)
{
    size_t size = 0, capacity = 1 << 20;
    char *text = malloc(capacity);
    for (size_t count = 1; text != NULL && count > 0; size += count) {
        if (size == capacity)
            text = realloc(text, capacity *= 2);
        count = text == NULL ? 0 : fread(text + size, 1, capacity - size, stdin);
    }
    if (text == NULL)
        fail("out of memory");
    return (bytes){.at = text, .end = text + size};
}

static oif_reader *open_reader(bytes *source)
{
    oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
    oif_reader *reader = NULL;
    oif_error error;
    require(oif_reader_open(&options, read_piece, source, &reader, &error), &error);
    return reader;
}

static void print_text(const char *text, size_t count)
{
    fputs(" =", stdout);
    for (size_t i = 0; i < count; i++)
        printf("%02x", (unsigned char)text[i]);
}

static void print_columns(bytes all)
{
    while (all.at < all.end) {
        char *line_end = memchr(all.at, '\n', (size_t)(all.end - all.at));
        bytes line = {.at = all.at, .end = line_end == NULL ? all.end : line_end};
        oif_reader *reader = open_reader(&line);
        fputs("ok", stdout);
        for (size_t i = 0; i < oif_reader_column_count(reader); i++) {
            const char *name = oif_reader_column_name(reader, i);
            print_text(name, strlen(name));
        }
        putchar('\n');
        oif_reader_close(reader);
        all.at = line_end == NULL ? all.end : line_end + 1;
    }
}

static void select_paths(oif_reader *reader, bool as_texts, char **paths, size_t count)
{
    size_t columns[PATHS_MAX];
    oif_error error;
    if (count > PATHS_MAX)
        fail("too many paths");
    for (size_t i = 0; i < count; i++)
        require(oif_reader_find_column(reader, paths[i], &columns[i], &error), &error);
    require(oif_reader_select(reader, columns, as_texts ? 0 : count, &error), &error);
    require(oif_reader_select_texts(reader, columns, as_texts ? count : 0, &error), &error);
}

static void print_record(const oif_record *record, bool as_texts, size_t count)
{
    printf("ok %llu", (unsigned long long)record->line);
    print_text(record->text, record->text_bytes + record->end_bytes);
    for (size_t i = 0; i < count; i++) {
        if (as_texts)
            print_text(record->texts[i].text, record->texts[i].bytes);
        else
            printf(" %a", record->values[i]);
    }
    putchar('\n');
}

static void print_records(bytes all, bool as_texts, char **paths, size_t count)
{
    oif_reader *reader = open_reader(&all);
    oif_record record;
    oif_error error;
    oif_status status;
    select_paths(reader, as_texts, paths, count);
    while ((status = oif_reader_next(reader, &record, &error)) != OIF_END) {
        if (status == OIF_OK)
            print_record(&record, as_texts, count);
        else if (status == OIF_EINPUT)
            printf("bad %llu %llu %s\n", (unsigned long long)error.line,
                   (unsigned long long)error.column, error.message);
        else
            fail(error.message);
    }
    oif_reader_close(reader);
}

int main(int count, char **words)
{
    bytes all = read_standard_input();
    char *text = all.at;
    if (count == 2 && strcmp(words[1], "columns") == 0) {
        print_columns(all);
    } else if (count > 3) {
        all.piece = strtoul(words[2], NULL, 10);
        print_records(all, strcmp(words[1], "texts") == 0, words + 3, (size_t)count - 3);
    } else {
        fail("see the top of print_records.c for its arguments");
    }
    free(text);
    return 0;
}

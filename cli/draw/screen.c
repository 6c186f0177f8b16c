#define _XOPEN_SOURCE 700 /* wcwidth */

#include "screen.h"

#include "chart.h"
#include "front/text/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { COLUMNS_MAX = 1000, LINES_MAX = 500 };

void screen_size(size_t *columns, size_t *lines)
{
    struct winsize size = {.ws_col = 0};
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *columns = is_known && size.ws_col > 0 ? size.ws_col : 80;
    *lines = is_known && size.ws_row > 0 ? size.ws_row : 24;
    *columns = *columns > COLUMNS_MAX ? COLUMNS_MAX : *columns;
    *lines = *lines > LINES_MAX ? LINES_MAX : *lines;
}

bool screen_open(screen *picture, size_t columns, size_t lines)
{
    *picture = (screen){.columns = columns,
                        .lines = lines,
                        .cells = calloc(columns * lines, sizeof *picture->cells),
                        .is_unicode = chart_is_unicode()};
    for (size_t i = 0; picture->cells && i < columns * lines; i++)
        picture->cells[i].glyph[0] = ' ';
    return picture->cells != NULL;
}

void screen_close(screen *picture)
{
    free(picture->cells);
}

/* ---- Text ---- */

/* The next character of a text: its bytes, and the columns that it takes; 0 for one that is
 * on the one before. What cannot be shown is a question mark: `shown` is not the text then. */
static size_t next_character(const screen *picture, const char *text, const char **shown,
                             int *columns)
{
    mbstate_t state = {0};
    wchar_t wide;
    unsigned char c = (unsigned char)*text;
    *shown = "?";
    *columns = 1;
    if (c < 0x80) {
        if (c >= 0x20 && c < 0x7f)
            *shown = text;
        return 1;
    }
    size_t bytes = picture->is_unicode ? mbrtowc(&wide, text, strlen(text), &state) : (size_t)-1;
    if (bytes == (size_t)-1 || bytes == (size_t)-2 || bytes > 4) {
        bytes = 1;
        while (((unsigned char)text[bytes] & 0xc0) == 0x80)
            bytes++;
        return bytes;
    }
    int width = wcwidth(wide);
    if (width >= 0) {
        *shown = text;
        *columns = width;
    }
    return bytes;
}

size_t screen_put(screen *picture, size_t line, size_t column, size_t end, screen_style style,
                  const char *text)
{
    if (end > picture->columns)
        end = picture->columns;
    if (line >= picture->lines)
        return column;
    if (line >= picture->lines_used)
        picture->lines_used = line + 1;
    while (*text) {
        const char *shown;
        int width;
        size_t bytes = next_character(picture, text, &shown, &width);
        if (width > 0 && column + (size_t)width > end)
            break;
        screen_cell *cell = &picture->cells[line * picture->columns + column];
        if (width > 0) {
            size_t shown_bytes = shown == text ? bytes : 1;
            memcpy(cell->glyph, shown, shown_bytes);
            cell->glyph[shown_bytes] = '\0';
            cell->style = style;
        }
        if (width == 2)
            cell[1] = (screen_cell){.glyph = "", .style = style};
        column += (size_t)width;
        text += bytes;
    }
    return column;
}

/* ---- Drawing ---- */

static const char *const style_codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[33m"};

static bool is_blank(const screen_cell *cell)
{
    return cell->glyph[0] == ' ' && cell->glyph[1] == '\0';
}

static void draw_line(const screen *picture, const screen_cell *cells, bool has_colours)
{
    size_t used = picture->columns;
    screen_style style = STYLE_PLAIN;
    while (used > 0 && is_blank(&cells[used - 1]))
        used--;
    for (size_t i = 0; i < used; i++) {
        if (has_colours && cells[i].style != style && !is_blank(&cells[i])) {
            output_print("%s%s", style == STYLE_PLAIN ? "" : style_codes[STYLE_PLAIN],
                         cells[i].style == STYLE_PLAIN ? "" : style_codes[cells[i].style]);
            style = cells[i].style;
        }
        output_write(cells[i].glyph, strlen(cells[i].glyph));
    }
    output_print("%s\033[K", style == STYLE_PLAIN ? "" : style_codes[STYLE_PLAIN]);
}

void screen_draw(const screen *picture)
{
    bool has_colours = !getenv("NO_COLOR");
    output_print("\033[H");
    for (size_t line = 0; line < picture->lines_used; line++) {
        output_print("%s", line > 0 ? "\n" : "");
        draw_line(picture, picture->cells + line * picture->columns, has_colours);
    }
    output_print("\033[J");
    output_flush();
}

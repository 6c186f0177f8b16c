/* A picture made of characters, as large as the terminal, that is drawn as a whole. Text from
 * anywhere may be put on it: it cannot move the cursor or leave its line. */
#ifndef OIF_CLI_SCREEN_H
#define OIF_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum screen_style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_FAINT,
    STYLE_RED,
    STYLE_YELLOW
} screen_style;

typedef struct screen_cell {
    char glyph[8]; /* one character; "": the second half of a wide one */
    screen_style style;
} screen_cell;

typedef struct screen {
    size_t columns, lines;
    screen_cell *cells;
    size_t lines_used;
    bool is_unicode; /* the terminal shows more than ASCII */
} screen;

/* The size of the terminal; 80 x 24 if it does not say. */
void screen_size(size_t *columns, size_t *lines);

/* An empty one. Returns false if out of memory. */
bool screen_open(screen *picture, size_t columns, size_t lines);
void screen_close(screen *picture);

/* Puts text on a line from a column on, as far as there is room before `end`. Returns the column
 * after it. */
size_t screen_put(screen *picture, size_t line, size_t column, size_t end, screen_style style,
                  const char *text);

/* Draws the lines from `first` on at the top left of the terminal and clears what is below. */
void screen_draw(const screen *picture);

#endif

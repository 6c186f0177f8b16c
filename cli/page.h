/* A file of HTML that is written as a whole or not at all. Text of the input is escaped, so it
 * stays text: markup, control characters and bytes that are not UTF-8 do no harm. The markup is
 * well-formed XML too. */
#ifndef OIF_CLI_PAGE_H
#define OIF_CLI_PAGE_H

#include "output.h"

typedef struct html_page {
    const char *path;
    char *temporary; /* the file that becomes `path` at the end; NULL: written in place */
    FILE *file;
    int failure; /* the errno of the first write that failed; 0: none */
} html_page;

/* Prints what is wrong unless it returns EXIT_OK. */
exit_code page_open(html_page *page, const char *path);

/* Markup. What fails is reported at the end. */
void page_print(html_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text. */
void page_text(html_page *page, const char *text);
void page_text_bytes(html_page *page, const char *text, size_t bytes);

/* Ends the page; unless `code` is EXIT_OK, the file stays as it was. Returns `code`, or prints what
 * is wrong. */
exit_code page_close(html_page *page, exit_code code);

#endif

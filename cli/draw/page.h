/* An HTML file that is written completely or not at all. Text from the input is escaped, so
 * markup, control characters and invalid UTF-8 in it are harmless. The markup is well-formed
 * XML too. */
#ifndef OIF_CLI_PAGE_H
#define OIF_CLI_PAGE_H

#include "front/text/output.h"

typedef struct html_page {
    const char *path;
    char *temporary; /* the file that becomes `path` at the end; NULL: written in place */
    FILE *file;
    int failure; /* the errno of the first write that failed; 0: none */
} html_page;

/* Prints what is wrong unless it returns EXIT_OK. */
exit_code page_open(html_page *page, const char *path);

/* Writes markup. Failures are reported at the end. */
void page_print(html_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text. */
void page_text(html_page *page, const char *text);
void page_text_bytes(html_page *page, const char *text, size_t bytes);

/* Ends the page; unless `code` is EXIT_OK, the file stays as it was. Returns `code`, or prints what
 * is wrong. */
exit_code page_close(html_page *page, exit_code code);

#endif

/* Files that are part of the program: those of serve/page and others that cmake/embed.cmake is
 * given. It writes the table, so the program needs no folder at run time. */
#ifndef OIF_SERVE_EMBEDDED_H
#define OIF_SERVE_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *path; /* as in a request: "/" for index.html, "/page.js" */
    const char *type; /* its Content-Type */
    const char *etag; /* with the quotes; another content has another one */
    const unsigned char *bytes;
    size_t byte_count;
} embedded_file;

/* NULL: no file has this path. */
const embedded_file *embedded_find(const char *path);

#endif

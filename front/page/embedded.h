/* Files compiled into a program: those that its rule gives to cmake/embed.cmake, which writes the
 * table. So the program needs no folder at run time. */
#ifndef OIF_FRONT_EMBEDDED_H
#define OIF_FRONT_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *path; /* as in a request: "/" for index.html, "/page.js" */
    const char *type; /* its Content-Type */
    const char *etag; /* with quotes; changes with the content */
    const unsigned char *bytes;
    size_t byte_count;
} embedded_file;

/* NULL: no file has this path. */
const embedded_file *embedded_find(const char *path);

#endif

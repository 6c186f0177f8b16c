#include "row_spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static exit_code complain_errno(const row_spool *spool)
{
    return complain(EXIT_FAILED, "%s: the rows for its charts cannot be kept beside it: %s",
                    spool->path, strerror(errno));
}

/* The folder of a device or a pipe may not take files. */
static FILE *open_nameless(const char *path)
{
    size_t bytes = strlen(path) + sizeof ".rows.XXXXXX";
    char *name = malloc(bytes);
    if (!name)
        return NULL;
    snprintf(name, bytes, "%s.rows.XXXXXX", strncmp(path, "/dev/", 5) == 0 ? "/tmp/oif" : path);
    int descriptor = mkstemp(name);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (descriptor >= 0)
        unlink(name);
    if (descriptor >= 0 && !file)
        close(descriptor);
    free(name);
    return file;
}

exit_code row_spool_open(row_spool *spool, const char *path, size_t column_count)
{
    *spool = (row_spool){.column_count = column_count, .path = strdup(path)};
    if (!spool->path)
        return complain(EXIT_FAILED, "out of memory");
    spool->file = open_nameless(path);
    return spool->file ? EXIT_OK : complain_errno(spool);
}

exit_code row_spool_add(row_spool *spool, const double *values)
{
    if (fwrite(values, sizeof *values, spool->column_count, spool->file) != spool->column_count)
        return complain_errno(spool);
    spool->row_count++;
    return EXIT_OK;
}

exit_code row_spool_read(row_spool *spool, size_t row, double *values)
{
    off_t at = (off_t)(row * spool->column_count * sizeof *values);
    if (fseeko(spool->file, at, SEEK_SET) != 0 ||
        fread(values, sizeof *values, spool->column_count, spool->file) != spool->column_count)
        return complain_errno(spool);
    return EXIT_OK;
}

void row_spool_close(row_spool *spool)
{
    if (spool->file)
        fclose(spool->file);
    free(spool->path);
    *spool = (row_spool){0};
}

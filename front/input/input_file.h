/* One file of the input, or stdin: its bytes, decompressed where they are compressed. */
#ifndef OIF_FRONT_INPUT_FILE_H
#define OIF_FRONT_INPUT_FILE_H

#include "decompress.h"
#include "front/text/output.h"

typedef struct input_file {
    const char *name; /* for messages: the path, or <stdin> */
    int fd;
    uint64_t stored_bytes; /* read so far, compressed as they are */
    bool is_begun;         /* the kind of its bytes is known */
    compression kind;
    decompressor *decompressor; /* NULL: the bytes are given as they are */
    bool has_ended;             /* nothing more is stored */
    /* Stored bytes that were read and not given yet: the first ones, and of compressed files
     * all. */
    char *stored;
    size_t stored_at, stored_end;
    char problem[512]; /* why a read failed; "": it did not */
} input_file;

/* Before the file may be waited for; false: stop reading. */
typedef struct input_wait {
    bool (*wait)(void *context, int fd);
    void *context;
} input_wait;

/* A path as it can be pasted into a shell, and the pattern of all files in a folder; FILE and
 * FOLDER where it is too long for a message. */
enum { PASTED_PATH_BYTES = 256 };
const char *path_to_paste(const char *path, char text[PASTED_PATH_BYTES]);
const char *files_in_to_paste(const char *folder, char text[PASTED_PATH_BYTES]);

/* Opens a file; "-" is stdin. Returns false where there is a problem. */
bool input_file_open(input_file *file, const char *path);
void input_file_close(input_file *file);

/* 0 at the end; -1 where the wait ended it or there is a problem. Good bytes before a problem are
 * given first. */
ptrdiff_t input_file_read(input_file *file, char *buffer, size_t capacity, const input_wait *wait);

#endif

/* The bytes of an input, which can be looked at before they are read: what is held is read
 * again. */
#ifndef OIF_CLI_SOURCE_H
#define OIF_CLI_SOURCE_H

#include "input.h"

/* For readers; the context is the input. Whenever it waits for more bytes the output is flushed
 * first, so results never lag behind the input. */
ptrdiff_t source_read(void *input, char *buffer, size_t capacity);

/* The first byte that is neither blank nor of a byte order mark; 0 when there is none nearby. */
char source_peek(struct input *input);

/* Of what is held: the number of the first line that is not blank; and makes that line blank,
 * so that the lines after it keep their numbers. False at the end of the input. */
uint64_t source_line(const struct input *input);
bool source_drop_line(struct input *input);

#endif

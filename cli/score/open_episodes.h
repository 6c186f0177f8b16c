/* The episodes that have begun and not ended, by key: what was last known of each, and with --rows
 * episodes the line of its worst row, which is printed when it ends. */
#ifndef OIF_CLI_OPEN_EPISODES_H
#define OIF_CLI_OPEN_EPISODES_H

#include "front/text/byte_table.h"

#include "oif.h"
#include "oif_rows.h"

typedef struct open_episode {
    byte_item item;
    struct open_episode *before, *after; /* in the order of their begin */
    oif_episode_info info;               /* after its last anomaly */
    char *line;                          /* of its worst row; NULL: there is nothing to print */
    size_t line_bytes;
} open_episode;

/* All zero is empty. */
typedef struct open_episodes {
    byte_table by_key;
    open_episode *first, *last;
} open_episodes;

/* NULL: the key has none. */
open_episode *open_episodes_find(const open_episodes *all, oif_text key);

/* The key must not have one. NULL: out of memory. */
open_episode *open_episodes_add(open_episodes *all, oif_text key);

/* Replaces the line and takes ownership of it. */
void open_episode_set_line(open_episode *episode, char *line, size_t bytes);

/* Prints the line of an episode and forgets it. False once stdout is closed or has failed. */
bool open_episodes_end(open_episodes *all, open_episode *episode);

/* Prints the lines of all now, at the end of the input and before a state is saved, which has their
 * rows; a worse row that follows is another line. */
void open_episodes_print(open_episodes *all);
void open_episodes_free(open_episodes *all);

#endif

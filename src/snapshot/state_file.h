/* The inside of a state file, for itself and its shelf. */
#ifndef OIF_SNAPSHOT_STATE_FILE_H
#define OIF_SNAPSHOT_STATE_FILE_H

#include "snapshot/shelf.h"

struct oif_state_file {
    int folder, lock;
    /* They follow in the same block of memory; names are in the folder. */
    char *path, *name, *new_name, *lock_name, *shelf_name;
    oif_shelf *shelf; /* NULL while nothing is kept beside the file */
};

#endif

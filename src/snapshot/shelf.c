#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "snapshot/shelf.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "snapshot/files.h"
#include "snapshot/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 64 };

typedef struct place {
    bool is_used;
    bool is_kept;       /* a state on the disk may use it */
    uint32_t next_free; /* when it is neither: the next such place, or OIF_NO_PLACE */
} place;

struct oif_shelf {
    oif_state_file *file;
    oif_shelf **user; /* NULL: there is none */
    int fd;           /* -1 before anything was put */
    bool is_new;      /* its name may not survive a loss of power yet ... */
    bool is_dirty;    /* ... nor what was put */
    bool is_known;    /* what the state on the disk uses is known: it was loaded or saved */
    uint32_t count, capacity, first_free;
    uint32_t in_file; /* places that were there when it was opened again */
    place *places;
    size_t place_bytes;
    unsigned char *room;
    oif_checksum_table table;
};

static uint64_t offset_of(const oif_shelf *shelf, uint32_t number)
{
    return (uint64_t)number * shelf->place_bytes;
}

/* ---- Creation ---- */

oif_status oif_shelf_new(oif_state_file *file, size_t place_bytes, oif_shelf **shelf,
                         oif_error *error)
{
    oif_shelf *made = oif_memory_new(sizeof *made);
    unsigned char *room = oif_memory_new(place_bytes);
    place *places = oif_memory_new(FIRST_CAPACITY * sizeof *places);
    if (!made || !room || !places) {
        oif_memory_free(made);
        oif_memory_free(room);
        oif_memory_free(places);
        return oif_fail(error, OIF_EMEMORY, "no memory for a shelf with places of %zu bytes",
                        place_bytes);
    }
    *made = (oif_shelf){.file = file,
                        .fd = -1,
                        .capacity = FIRST_CAPACITY,
                        .first_free = OIF_NO_PLACE,
                        .places = places,
                        .place_bytes = place_bytes,
                        .room = room};
    oif_checksum_table_init_castagnoli(&made->table); /* sections in a place have CRC-32 */
    *shelf = made;
    return OIF_OK;
}

void oif_shelf_free(oif_shelf *shelf)
{
    if (!shelf)
        return;
    if (shelf->user)
        *shelf->user = NULL;
    if (shelf->fd >= 0)
        close(shelf->fd);
    oif_memory_free(shelf->places);
    oif_memory_free(shelf->room);
    oif_memory_free(shelf);
}

void oif_shelf_use(oif_shelf *shelf, oif_shelf **user)
{
    oif_shelf_leave(*user);
    oif_shelf_free(shelf->file->shelf);
    shelf->file->shelf = shelf;
    shelf->user = user;
    *user = shelf;
}

void oif_shelf_leave(oif_shelf *shelf)
{
    if (shelf)
        shelf->user = NULL;
}

bool oif_shelf_is_of(const oif_shelf *shelf, const oif_state_file *file)
{
    return shelf && shelf->file == file;
}

unsigned char *oif_shelf_room(oif_shelf *shelf)
{
    return shelf->room;
}

/* ---- Places ---- */

/* Room for one more, and for all up to it. */
static bool grow(oif_shelf *shelf, uint32_t number)
{
    if (number < shelf->capacity)
        return true;
    uint64_t capacity = shelf->capacity;
    while (capacity <= number)
        capacity *= 2;
    bool fits = capacity <= OIF_NO_PLACE && capacity <= (uint64_t)INT64_MAX / shelf->place_bytes;
    place *places =
        fits ? oif_memory_new(oif_size_multiply((size_t)capacity, sizeof *places)) : NULL;
    if (!places)
        return false;
    memcpy(places, shelf->places, shelf->count * sizeof *places);
    oif_memory_free(shelf->places);
    shelf->places = places;
    shelf->capacity = (uint32_t)capacity;
    return true;
}

static void add_free(oif_shelf *shelf, uint32_t number)
{
    shelf->places[number] = (place){.next_free = shelf->first_free};
    shelf->first_free = number;
}

void oif_shelf_release(oif_shelf *shelf, uint32_t number)
{
    shelf->places[number].is_used = false;
    if (!shelf->places[number].is_kept)
        add_free(shelf, number);
}

void oif_shelf_saved(oif_shelf *shelf, bool is_sure)
{
    for (uint32_t i = 0; i < shelf->count; i++) {
        place *p = &shelf->places[i];
        bool was_kept = p->is_kept;
        p->is_kept = p->is_used || (was_kept && !is_sure);
        if (was_kept && !p->is_kept)
            add_free(shelf, i);
    }
    shelf->is_known = shelf->is_known || is_sure;
}

/* ---- Opening again ---- */

oif_status oif_shelf_reopen(oif_shelf *shelf, oif_error *error)
{
    const oif_state_file *file = shelf->file;
    struct stat standing;
    shelf->fd = oif_file_open(file->folder, file->shelf_name, O_RDWR | O_NOFOLLOW, 0);
    if (shelf->fd < 0 || fstat(shelf->fd, &standing) != 0)
        return oif_fail_errno(error, errno == ENOENT ? OIF_ETRUNCATED : OIF_EREAD,
                              "open the shelf of", file->path, errno);
    uint64_t places = standing.st_size > 0 ? (uint64_t)standing.st_size / shelf->place_bytes : 0;
    shelf->in_file = places < OIF_NO_PLACE ? (uint32_t)places : OIF_NO_PLACE;
    return OIF_OK;
}

oif_status oif_shelf_claim(oif_shelf *shelf, uint32_t number, oif_error *error)
{
    const char *path = oif_path_shown(shelf->file->path);
    if (number >= shelf->in_file)
        return oif_fail(error, OIF_ETRUNCATED, "the shelf of '%s' is cut off after %lu models",
                        path, (unsigned long)shelf->in_file);
    if (!grow(shelf, number))
        return oif_fail(error, OIF_EMEMORY, "no memory for the places of a shelf");
    while (shelf->count <= number)
        shelf->places[shelf->count++] = (place){.is_kept = true};
    if (shelf->places[number].is_used)
        return oif_fail(error, OIF_ECORRUPT, "two models of '%s' have one place on its shelf",
                        path);
    shelf->places[number].is_used = true;
    return OIF_OK;
}

oif_status oif_shelf_keep_all(oif_shelf *shelf, oif_error *error)
{
    struct stat standing;
    if (fstat(shelf->fd, &standing) != 0)
        return oif_fail_errno(error, OIF_EREAD, "ask for the size of the shelf of",
                              shelf->file->path, errno);
    uint64_t bytes = standing.st_size > 0 ? (uint64_t)standing.st_size : 0;
    uint64_t places =
        bytes / shelf->place_bytes + (bytes % shelf->place_bytes > 0); /* theirs may be smaller */
    if (places >= OIF_NO_PLACE || !grow(shelf, (uint32_t)places))
        return oif_fail(error, OIF_EMEMORY, "no memory for the places of a shelf");
    while (shelf->count < places)
        shelf->places[shelf->count++] = (place){.is_kept = true};
    return OIF_OK;
}

/* ---- Putting and getting ---- */

static uint32_t checksum_of(const oif_shelf *shelf, const char *name, size_t name_bytes)
{
    return oif_checksum(&shelf->table, oif_checksum(&shelf->table, 0, name, name_bytes),
                        shelf->room, shelf->place_bytes);
}

static bool may_state_stand(const oif_state_file *file)
{
    struct stat standing;
    return fstatat(file->folder, file->name, &standing, 0) == 0 || errno != ENOENT;
}

/* What is there already is emptied, or kept for a state that nobody has loaded. */
static oif_status open_to_write(oif_shelf *shelf, oif_error *error)
{
    const oif_state_file *file = shelf->file;
    if (shelf->fd >= 0)
        return OIF_OK;
    bool must_keep = !shelf->is_known && may_state_stand(file);
    shelf->fd = oif_file_create_beside(file->folder, file->name, file->shelf_name,
                                       O_RDWR | O_NOFOLLOW | (must_keep ? 0 : O_TRUNC));
    if (shelf->fd < 0)
        return oif_fail_errno(error, OIF_EWRITE, "write to the shelf of", file->path, errno);
    oif_status status = must_keep ? oif_shelf_keep_all(shelf, error) : OIF_OK;
    shelf->is_new = status == OIF_OK;
    if (status != OIF_OK) {
        close(shelf->fd);
        shelf->fd = -1;
    }
    return status;
}

oif_status oif_shelf_put(oif_shelf *shelf, const char *name, size_t name_bytes, uint32_t *number,
                         uint32_t *checksum, oif_error *error)
{
    oif_status status = open_to_write(shelf, error);
    if (status != OIF_OK)
        return status;
    bool is_last = shelf->first_free == OIF_NO_PLACE;
    uint32_t to = is_last ? shelf->count : shelf->first_free;
    if (is_last && !grow(shelf, to))
        return oif_fail(error, OIF_EMEMORY, "no memory for one more place of a shelf");
    int reason =
        oif_file_write_at(shelf->fd, shelf->room, shelf->place_bytes, offset_of(shelf, to));
    if (reason != 0) {
        if (is_last)
            /* a full disk needs every byte */
            (void)!ftruncate(shelf->fd, (off_t)offset_of(shelf, to));
        return oif_fail_errno(error, OIF_EWRITE, "write to the shelf of", shelf->file->path,
                              reason);
    }
    if (is_last)
        shelf->count++;
    else
        shelf->first_free = shelf->places[to].next_free;
    shelf->places[to] = (place){.is_used = true};
    shelf->is_dirty = true;
    *number = to;
    *checksum = checksum_of(shelf, name, name_bytes);
    return OIF_OK;
}

oif_status oif_shelf_get(oif_shelf *shelf, const char *name, size_t name_bytes, uint32_t number,
                         uint32_t checksum, oif_error *error)
{
    int reason =
        oif_file_read_at(shelf->fd, shelf->room, shelf->place_bytes, offset_of(shelf, number));
    if (reason != 0)
        return oif_fail_errno(error, OIF_EREAD, "read from the shelf of", shelf->file->path,
                              reason);
    if (checksum_of(shelf, name, name_bytes) != checksum)
        return oif_fail(error, OIF_ECORRUPT, "the shelf of '%s' is damaged: a checksum is wrong",
                        oif_path_shown(shelf->file->path));
    return OIF_OK;
}

/* ---- Saving ---- */

oif_status oif_shelf_sync(oif_shelf *shelf, oif_error *error)
{
    if (shelf->is_dirty && oif_file_sync(shelf->fd) != 0)
        return oif_fail_save(error, "sync the shelf of", shelf->file->path, errno);
    shelf->is_dirty = false;
    if (shelf->is_new && oif_folder_sync(shelf->file->folder) != 0)
        return oif_fail_save(error, "sync the folder of", shelf->file->path, errno);
    shelf->is_new = false;
    return OIF_OK;
}

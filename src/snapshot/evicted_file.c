#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "snapshot/evicted_file.h"

#ifndef OIF_WITHOUT_FILES /* else: no_files.c */

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "snapshot/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 64 };

typedef enum slot_state {
    FREE,
    WRITTEN, /* since the last save */
    SAVED,   /* also used by the saved state */
    RELEASED /* used only by the saved state */
} slot_state;

typedef struct slot_entry {
    slot_state state;
    uint32_t next_free; /* of a free slot: the next one, or OIF_NO_SLOT */
} slot_entry;

struct oif_evicted_file {
    const oif_state_location *location;
    oif_evicted_file **user; /* NULL: none attached */
    int fd;                  /* -1 before the file is opened or created */
    bool is_new;             /* the file's name is not synced yet */
    bool is_dirty;           /* some slots are not synced yet */
    bool knows_saved;        /* the state on the disk was loaded or saved here */
    uint32_t count, capacity, first_free;
    uint64_t opened_bytes; /* that the file had when it was opened */
    slot_entry *slots;
    size_t slot_bytes;
    unsigned char *buffer;
    oif_checksum_table table;
};

static uint64_t offset_of(const oif_evicted_file *file, uint32_t number)
{
    return (uint64_t)number * file->slot_bytes;
}

/* ---- Life ---- */

oif_status oif_evicted_file_new(const oif_state_location *location, size_t slot_bytes,
                                oif_evicted_file **file, oif_error *error)
{
    oif_evicted_file *made = oif_memory_new(sizeof *made);
    unsigned char *buffer = oif_memory_new(slot_bytes);
    slot_entry *slots = oif_memory_new(FIRST_CAPACITY * sizeof *slots);
    if (!made || !buffer || !slots) {
        oif_memory_free(made);
        oif_memory_free(buffer);
        oif_memory_free(slots);
        return oif_fail(error, OIF_EMEMORY, "no memory for evicted models of %zu bytes",
                        slot_bytes);
    }
    *made = (oif_evicted_file){.location = location,
                               .fd = -1,
                               .capacity = FIRST_CAPACITY,
                               .first_free = OIF_NO_SLOT,
                               .slots = slots,
                               .slot_bytes = slot_bytes,
                               .buffer = buffer};
    /* Not the CRC-32 of sections: a slot ends with one, so all checksums would be equal. */
    oif_checksum_table_init_castagnoli(&made->table);
    *file = made;
    return OIF_OK;
}

void oif_evicted_file_free(oif_evicted_file *file)
{
    if (!file)
        return;
    if (file->user)
        *file->user = NULL;
    if (file->fd >= 0)
        close(file->fd);
    oif_memory_free(file->slots);
    oif_memory_free(file->buffer);
    oif_memory_free(file);
}

void oif_evicted_file_attach(oif_evicted_file *file, oif_evicted_file **owner,
                             oif_evicted_file **user)
{
    oif_evicted_file_detach(*user);
    oif_evicted_file_free(*owner);
    *owner = file;
    file->user = user;
    *user = file;
}

void oif_evicted_file_detach(oif_evicted_file *file)
{
    if (file)
        file->user = NULL;
}

unsigned char *oif_evicted_file_buffer(oif_evicted_file *file)
{
    return file->buffer;
}

/* ---- Slots ---- */

/* Allocates the entries up to this number. */
static bool reserve(oif_evicted_file *file, uint32_t number)
{
    if (number < file->capacity)
        return true;
    uint64_t capacity = file->capacity;
    while (capacity <= number)
        capacity *= 2;
    bool fits = capacity <= OIF_NO_SLOT && capacity <= (uint64_t)INT64_MAX / file->slot_bytes;
    slot_entry *slots =
        fits ? oif_memory_new(oif_size_multiply((size_t)capacity, sizeof *slots)) : NULL;
    if (!slots)
        return false;
    memcpy(slots, file->slots, file->count * sizeof *slots);
    oif_memory_free(file->slots);
    file->slots = slots;
    file->capacity = (uint32_t)capacity;
    return true;
}

/* Adds released slots until there are `count`. */
static void add_released(oif_evicted_file *file, uint32_t count)
{
    while (file->count < count)
        file->slots[file->count++] = (slot_entry){.state = RELEASED};
}

static void make_free(oif_evicted_file *file, uint32_t number)
{
    file->slots[number] = (slot_entry){.state = FREE, .next_free = file->first_free};
    file->first_free = number;
}

void oif_evicted_file_free_slot(oif_evicted_file *file, uint32_t number)
{
    if (file->slots[number].state == SAVED)
        file->slots[number].state = RELEASED;
    else
        make_free(file, number);
}

/* ---- Opening a file that exists ---- */

oif_status oif_evicted_file_open(oif_evicted_file *file, oif_error *error)
{
    const oif_state_location *location = file->location;
    struct stat found;
    file->fd = oif_file_open(location->folder, location->evicted_name, O_RDWR | O_NOFOLLOW, 0);
    if (file->fd < 0 || fstat(file->fd, &found) != 0)
        return oif_fail_errno(error, errno == ENOENT ? OIF_ETRUNCATED : OIF_EREAD,
                              "open the evicted models of", location->path, errno);
    file->opened_bytes = found.st_size > 0 ? (uint64_t)found.st_size : 0;
    return OIF_OK;
}

oif_status oif_evicted_file_claim_slot(oif_evicted_file *file, oif_slot slot, oif_error *error)
{
    const char *path = oif_path_shown(file->location->path);
    if (slot.bytes > file->slot_bytes)
        return oif_fail(error, OIF_ECORRUPT, "an evicted model of '%s' is larger than its slot",
                        path);
    if (slot.number > file->opened_bytes / file->slot_bytes ||
        slot.bytes > file->opened_bytes - offset_of(file, slot.number))
        return oif_fail(error, OIF_ETRUNCATED,
                        "the evicted models of '%s' are cut off after %llu bytes", path,
                        (unsigned long long)file->opened_bytes);
    if (!reserve(file, slot.number))
        return oif_fail(error, OIF_EMEMORY, "no memory to list evicted models");
    add_released(file, slot.number + 1);
    if (file->slots[slot.number].state == SAVED)
        return oif_fail(error, OIF_ECORRUPT, "two evicted models of '%s' have the same slot", path);
    file->slots[slot.number].state = SAVED;
    return OIF_OK;
}

oif_status oif_evicted_file_retain_all(oif_evicted_file *file, oif_error *error)
{
    struct stat found;
    if (fstat(file->fd, &found) != 0)
        return oif_fail_errno(error, OIF_EREAD, "ask for the size of the evicted models of",
                              file->location->path, errno);
    uint64_t bytes = found.st_size > 0 ? (uint64_t)found.st_size : 0;
    /* Rounded up: the slots of the state on disk may be smaller than ours. */
    uint64_t slots = bytes / file->slot_bytes + (bytes % file->slot_bytes > 0);
    if (slots >= OIF_NO_SLOT || !reserve(file, (uint32_t)slots))
        return oif_fail(error, OIF_EMEMORY, "no memory to list evicted models");
    add_released(file, (uint32_t)slots);
    return OIF_OK;
}

/* ---- Putting and getting ---- */

static uint32_t checksum_of(const oif_evicted_file *file, size_t bytes, const char *key,
                            size_t key_bytes)
{
    return oif_checksum(&file->table, oif_checksum(&file->table, 0, key, key_bytes), file->buffer,
                        bytes);
}

static bool may_state_exist(const oif_state_location *location)
{
    struct stat found;
    return fstatat(location->folder, location->name, &found, 0) == 0 || errno != ENOENT;
}

/* Creates the file. An existing file is truncated, unless a state that was not loaded may use
 * it. */
static oif_status open_to_write(oif_evicted_file *file, oif_error *error)
{
    const oif_state_location *location = file->location;
    if (file->fd >= 0)
        return OIF_OK;
    bool must_retain = !file->knows_saved && may_state_exist(location);
    file->fd = oif_file_create_beside(location->folder, location->name, location->evicted_name,
                                      O_RDWR | O_NOFOLLOW | (must_retain ? 0 : O_TRUNC));
    if (file->fd < 0)
        return oif_fail_errno(error, OIF_EWRITE, "write to the evicted models of", location->path,
                              errno);
    oif_status status = must_retain ? oif_evicted_file_retain_all(file, error) : OIF_OK;
    file->is_new = status == OIF_OK;
    if (status != OIF_OK) {
        close(file->fd);
        file->fd = -1;
    }
    return status;
}

/* Writes the start of the buffer to a slot. If it is the last slot of the file, a failed write is
 * undone: on a full disk, every byte counts. */
static oif_status write_slot(oif_evicted_file *file, size_t bytes, uint32_t number, bool is_last,
                             oif_error *error)
{
    uint64_t offset = offset_of(file, number);
    int reason = oif_file_write_at(file->fd, file->buffer, bytes, offset);
    if (reason == 0)
        return OIF_OK;
    if (is_last)
        (void)!ftruncate(file->fd, (off_t)offset);
    return oif_fail_errno(error, OIF_EWRITE, "write to the evicted models of", file->location->path,
                          reason);
}

oif_status oif_evicted_file_put(oif_evicted_file *file, size_t bytes, const char *key,
                                size_t key_bytes, oif_slot *slot, oif_error *error)
{
    oif_status status = open_to_write(file, error);
    if (status != OIF_OK)
        return status;
    bool is_last = file->first_free == OIF_NO_SLOT;
    uint32_t number = is_last ? file->count : file->first_free;
    if (is_last && !reserve(file, number))
        return oif_fail(error, OIF_EMEMORY, "no memory to list one more evicted model");
    status = write_slot(file, bytes, number, is_last, error);
    if (status != OIF_OK)
        return status;
    if (is_last)
        file->count++;
    else
        file->first_free = file->slots[number].next_free;
    file->slots[number] = (slot_entry){.state = WRITTEN};
    file->is_dirty = true;
    *slot = (oif_slot){number, checksum_of(file, bytes, key, key_bytes), bytes};
    return OIF_OK;
}

oif_status oif_evicted_file_get(oif_evicted_file *file, const char *key, size_t key_bytes,
                                oif_slot slot, oif_error *error)
{
    int reason =
        oif_file_read_at(file->fd, file->buffer, (size_t)slot.bytes, offset_of(file, slot.number));
    if (reason != 0)
        return oif_fail_errno(error, OIF_EREAD, "read from the evicted models of",
                              file->location->path, reason);
    if (checksum_of(file, (size_t)slot.bytes, key, key_bytes) != slot.checksum)
        return oif_fail_because(error, OIF_ECORRUPT, OIF_CAUSE_WRONG_CHECKSUM,
                                "the evicted models of '%s' are damaged: a checksum is wrong",
                                oif_path_shown(file->location->path));
    return OIF_OK;
}

/* ---- Saves ---- */

oif_status oif_evicted_file_before_commit(oif_evicted_file *file, oif_error *error)
{
    const oif_state_location *location = file->location;
    if (file->is_dirty && oif_file_sync(file->fd) != 0)
        return oif_fail_save(error, "sync the evicted models of", location->path, errno);
    file->is_dirty = false;
    if (file->is_new && oif_folder_sync(location->folder) != 0)
        return oif_fail_save(error, "sync the folder of", location->path, errno);
    file->is_new = false;
    return OIF_OK;
}

void oif_evicted_file_after_commit(oif_evicted_file *file, bool is_durable)
{
    for (uint32_t i = 0; i < file->count; i++) {
        slot_entry *slot = &file->slots[i];
        if (slot->state == WRITTEN)
            slot->state = SAVED;
        else if (slot->state == RELEASED && is_durable)
            make_free(file, i);
    }
    file->knows_saved = file->knows_saved || is_durable;
}

#endif

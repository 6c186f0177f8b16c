/* The keys that matter in a stream of JSON objects: a tree with a path for each column and for its
 * ancestors.
 *
 *     {"host": "a", "net": {"in": 1, "out": [2, 3]}}          (root)
 *                                                             /    \
 *                                                          host    net
 *                                                                 /   \
 *                                                               in    out
 *                                                                     / \
 *                                                                    0   1
 *
 * Lines of one stream mostly have the same keys in the same order, so the parser first tries the
 * sibling of the previous key. Any other key is looked up in a balanced search tree of all paths,
 * ordered by parent and key: unlike a hash table, no choice of keys makes it slow. */
#ifndef OIF_ROWS_JSON_PATHS_H
#define OIF_ROWS_JSON_PATHS_H

#include "base/number_text.h"
#include "rows/reader.h"

#define OIF_NOT_AN_INDEX SIZE_MAX
#define OIF_NO_COLUMN SIZE_MAX

struct oif_json_path {
    oif_json_path *parent, *first_child, *last_child, *next_sibling;
    const char *key; /* unescaped, followed by a quote and zeros up to eight bytes */
    size_t key_bytes;
    uint64_t head, head_mask; /* the first eight of these bytes, and which of them count */
    size_t index;             /* if the key is an array index: that number */
    /* JSON needs no escapes for the key, so comparing bytes is enough */
    bool is_plain;
    bool is_parent; /* there are paths below it, expected children or not */
    size_t column;  /* or OIF_NO_COLUMN */

    /* The value in the current line. Each time a path occurs it gets a new stamp and stores its
     * parent's. So values of an object that is replaced by a later one with the same key can be
     * recognised. */
    uint64_t stamp, parent_stamp;
    const char *bad; /* the value, if it cannot become a number */
    bool is_leaf;    /* the value is neither an object nor an array */

    size_t number;             /* paths are numbered from 0 in order of creation */
    oif_json_path *next_added; /* by the same line */
    oif_json_path *low, *high; /* the search tree */
    unsigned level;
};

struct oif_json_paths {
    oif_json_path root;
    oif_json_path *search_root;
    size_t count;
    uint64_t stamp; /* the last one assigned */
};

/* NULL if out of memory. */
oif_json_paths *oif_json_paths_new(oif_reader *reader);

/* The path below `parent` with this key, or NULL. */
oif_json_path *oif_json_path_find(const oif_json_paths *paths, const oif_json_path *parent,
                                  const char *key, size_t key_bytes);

/* Adds a path that does not exist; NULL if out of memory. */
oif_json_path *oif_json_path_add(oif_reader *reader, oif_json_path *parent, const char *key,
                                 size_t key_bytes);

/* Appends it to the children expected in the order of the first line. */
void oif_json_path_append_child(oif_json_path *parent, oif_json_path *path);

/* The path as text: keys separated by dots. In a key a dot is written \., a backslash \\, a NUL \0.
 * The text contains no NUL and is not terminated by one. */
size_t oif_json_path_name_bytes(const oif_json_path *path);
void oif_json_path_write_name(const oif_json_path *path, char *name);

/* Reads the first key of a path's text into `key`; returns where it ends (at a dot or the NUL), or
 * NULL if a backslash is followed by anything else. */
const char *oif_json_path_read_key(const char *name, char *key, size_t *key_bytes);

/* Whether the text after an opening quote is this key; bytes up to `end` may be read. */
static inline bool oif_json_path_is_at(const oif_json_path *path, const char *at, const char *end)
{
    const size_t bytes = path->key_bytes + 1; /* including the closing quote */
    if ((load_eight(at) & path->head_mask) != path->head || !path->is_plain)
        return false;
    return bytes <= 8 ||
           ((size_t)(end - at) >= bytes && memcmp(at + 8, path->key + 8, bytes - 8) == 0);
}

#endif

/* The search tree is an AA tree (Arne Andersson, "Balanced Search Trees Made Simple", 1993): a
 * node's low child is one level below it. A high child may be on the same level, but then its own
 * high child may not. */
#include "rows/json_paths.h"

#include "base/memory.h"
#include "rows/json_text.h"

#include <stdio.h>

/* ---- The search tree ---- */

static int compare(const oif_json_path *path, const oif_json_path *parent, const char *key,
                   size_t key_bytes)
{
    if (path->parent != parent)
        return path->parent->number < parent->number ? -1 : 1;
    if (path->key_bytes != key_bytes)
        return path->key_bytes < key_bytes ? -1 : 1;
    return memcmp(path->key, key, key_bytes);
}

oif_json_path *oif_json_path_find(const oif_json_paths *paths, const oif_json_path *parent,
                                  const char *key, size_t key_bytes)
{
    oif_json_path *path = paths->search_root;
    while (path) {
        int order = compare(path, parent, key, key_bytes);
        if (order == 0)
            return path;
        path = order < 0 ? path->high : path->low;
    }
    return NULL;
}

/* A low child on the same level becomes the parent. */
static oif_json_path *skew(oif_json_path *path)
{
    oif_json_path *low = path->low;
    if (!low || low->level != path->level)
        return path;
    path->low = low->high;
    low->high = path;
    return low;
}

/* Of three nodes on one level, the middle one rises. */
static oif_json_path *split(oif_json_path *path)
{
    oif_json_path *high = path->high;
    if (!high || !high->high || high->high->level != path->level)
        return path;
    path->high = high->low;
    high->low = path;
    high->level++;
    return high;
}

/* The recursion is as deep as the tree: at most twice the logarithm of the number of paths. */
static oif_json_path *insert(oif_json_path *tree, oif_json_path *path)
{
    if (!tree)
        return path;
    if (compare(tree, path->parent, path->key, path->key_bytes) < 0)
        tree->high = insert(tree->high, path);
    else
        tree->low = insert(tree->low, path);
    return split(skew(tree));
}

/* ---- Paths ---- */

oif_json_paths *oif_json_paths_new(oif_reader *reader)
{
    oif_json_paths *paths = oif_reader_keep(reader, sizeof *paths);
    if (paths)
        *paths = (oif_json_paths){.root = {.column = OIF_NO_COLUMN, .index = OIF_NOT_AN_INDEX},
                                  .count = 1};
    return paths;
}

/* The number, if the key is an array index: digits without a leading zero, few enough for a
 * size_t. */
static size_t index_of_key(const char *key, size_t bytes)
{
    size_t index = 0;
    if (bytes == 0 || bytes > 9 || (*key == '0' && bytes > 1))
        return OIF_NOT_AN_INDEX;
    for (size_t i = 0; i < bytes; i++) {
        if (key[i] < '0' || key[i] > '9')
            return OIF_NOT_AN_INDEX;
        index = index * 10 + (size_t)(key[i] - '0');
    }
    return index;
}

/* Whether the key needs no escapes, by scanning it like a string in a line. The \n keeps the scan
 * inside the copy. */
static bool is_plain_key(const char *quoted_key, size_t key_bytes)
{
    oif_json_fault fault;
    bool escaped = false;
    return oif_json_string_end(quoted_key, &escaped, &fault) == quoted_key + 1 + key_bytes &&
           !escaped;
}

void oif_json_path_append_child(oif_json_path *parent, oif_json_path *path)
{
    path->next_sibling = NULL;
    if (parent->last_child)
        parent->last_child->next_sibling = path;
    else
        parent->first_child = path;
    parent->last_child = path;
}

oif_json_path *oif_json_path_add(oif_reader *reader, oif_json_path *parent, const char *key,
                                 size_t key_bytes)
{
    oif_json_paths *paths = reader->paths;
    oif_json_path *path = oif_reader_keep(reader, sizeof *path);
    /* A quote, the key, a quote, a \n, and zeros so that words can be loaded anywhere. */
    char *copy = oif_reader_keep(reader, oif_size_add(key_bytes, 3 + 2 * OIF_WORD_BYTES));
    if (!path || !copy)
        return NULL;
    copy[0] = copy[key_bytes + 1] = '"';
    memcpy(copy + 1, key, key_bytes);
    copy[key_bytes + 2] = '\n';
    memset(copy + key_bytes + 3, 0, 2 * OIF_WORD_BYTES);

    const uint64_t head_mask =
        key_bytes < 7 ? (UINT64_C(1) << 8 * (key_bytes + 1)) - 1 : UINT64_MAX;
    *path = (oif_json_path){
        .parent = parent,
        .key = copy + 1,
        .key_bytes = key_bytes,
        .head = load_eight(copy + 1) & head_mask,
        .head_mask = head_mask,
        .index = index_of_key(key, key_bytes),
        .is_plain = is_plain_key(copy, key_bytes),
        .column = OIF_NO_COLUMN,
        .number = paths->count++,
        .level = 1,
    };
    parent->is_parent = true;
    paths->search_root = insert(paths->search_root, path);
    return path;
}

/* ---- Paths as text ---- */

static bool needs_backslash(char byte)
{
    return byte == '.' || byte == '\\' || byte == '\0';
}

size_t oif_json_path_name_bytes(const oif_json_path *path)
{
    size_t bytes = 0;
    for (; path->parent; path = path->parent) {
        bytes += path->key_bytes + (path->parent->parent != NULL);
        for (size_t i = 0; i < path->key_bytes; i++)
            bytes += needs_backslash(path->key[i]);
    }
    return bytes;
}

void oif_json_path_write_name(const oif_json_path *path, char *name)
{
    char *at = name + oif_json_path_name_bytes(path);
    for (; path->parent; path = path->parent) {
        for (size_t i = path->key_bytes; i > 0; i--) {
            const char byte = path->key[i - 1];
            *--at = byte ? byte : '0';
            if (needs_backslash(byte))
                *--at = '\\';
        }
        if (path->parent->parent)
            *--at = '.';
    }
}

const char *oif_json_path_read_key(const char *name, char *key, size_t *key_bytes)
{
    size_t bytes = 0;
    for (; *name && *name != '.'; name++) {
        if (*name == '\\') {
            name++;
            if (*name != '.' && *name != '\\' && *name != '0')
                return NULL;
            key[bytes++] = *name == '0' ? '\0' : *name;
        } else {
            key[bytes++] = *name;
        }
    }
    *key_bytes = bytes;
    return name;
}

#include "detect/together.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/lock.h"
#include "base/memory.h"
#include "detect/detector.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128, SUMMARY_BYTES = 192 };

typedef struct list list;

struct list {
    oif_detector_info info;
    size_t part_count;
    const oif_detector_info *parts[OIF_TOGETHER_MAX];
    uint8_t positions[OIF_TOGETHER_MAX][OIF_PARAMS_MAX]; /* of each part's parameters in the list */
    oif_param params[OIF_PARAMS_MAX];
    char name[NAME_BYTES], summary[SUMMARY_BYTES];
    char param_names[OIF_PARAMS_MAX][NAME_BYTES];
    list *next;
};

/* All lists requested so far. New lists are added at the front; a list never changes. */
static list *lists;
static oif_lock lists_lock = OIF_LOCK_FREE;

/* ---- Merging tables ---- */

/* Only the seed is shared; every other parameter belongs to one detector. */
static bool is_shared(const oif_param *param)
{
    return strcmp(param->name, "seed") == 0;
}

static size_t find_name(const list *l, const char *name)
{
    size_t i = 0;
    while (i < l->info.table.param_count && strcmp(l->params[i].name, name) != 0)
        i++;
    return i;
}

/* "hst_window_size": a valid identifier, because Python takes parameters as keywords. */
static const char *name_with_detector(char text[NAME_BYTES], const char *detector,
                                      const char *param)
{
    snprintf(text, NAME_BYTES, "%s_%s", detector, param);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return text;
}

/* Returns the position of a detector's parameter in the list, adding it if it is new;
 * OIF_PARAMS_MAX if the list is full. */
static size_t add_param(list *l, const char *detector, const oif_param *param)
{
    size_t count = l->info.table.param_count, position = find_name(l, param->name);
    bool is_known = position < count;
    if (is_known && is_shared(param))
        return position;
    if (count == OIF_PARAMS_MAX)
        return OIF_PARAMS_MAX;
    l->params[count] = *param;
    if (is_known)
        l->params[count].name = name_with_detector(l->param_names[count], detector, param->name);
    l->info.table.param_count++;
    return count;
}

static oif_status add_part(list *l, const oif_detector_info *part, oif_error *error)
{
    for (size_t i = 0; i < l->part_count; i++)
        if (l->parts[i] == part)
            return oif_fail(error, OIF_EPARAM, "%s is in the list of detectors twice",
                            part->table.name);
    if (l->part_count == OIF_TOGETHER_MAX)
        return oif_fail(error, OIF_EPARAM, "at most %d detectors can judge together",
                        OIF_TOGETHER_MAX);
    for (size_t i = 0; i < part->table.param_count; i++) {
        size_t position = add_param(l, part->table.name, &part->table.params[i]);
        if (position == OIF_PARAMS_MAX)
            return oif_fail(error, OIF_EPARAM, "these detectors have too many parameters together");
        l->positions[l->part_count][i] = (uint8_t)position;
    }
    l->parts[l->part_count++] = part;
    return OIF_OK;
}

static oif_status fail_unknown(const char *name, const char *end, oif_error *error)
{
    char names[OIF_ERROR_MESSAGE_BYTES] = "";
    const oif_detector_info *info;
    for (size_t i = 0, used = 0; (info = oif_detector_info_at(i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 info->table.name);
    return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_DETECTOR,
                            "there is no detector '%s'; choose one of: %s",
                            oif_excerpt_of(name, end).text, names);
}

/* Adds the detectors of "a+b+c". */
static oif_status add_parts(list *l, const char *names, oif_error *error)
{
    oif_status status = OIF_OK;
    for (const char *end; status == OIF_OK; names = end + 1) {
        char name[NAME_BYTES];
        end = names + strcspn(names, "+");
        snprintf(name, sizeof name, "%.*s", (int)(end - names), names);
        const oif_detector_info *part = oif_detector_info_find(name);
        if (!part)
            return fail_unknown(names, end, error);
        status = add_part(l, part, error);
        if (*end == '\0')
            break;
    }
    return status;
}

/* ---- Finding lists ---- */

static oif_status make_list(const char *name, oif_error *error)
{
    list *made = oif_memory_new(sizeof *made);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for a list of detectors");
    memset(made, 0, sizeof *made);
    oif_status status = add_parts(made, name, error);
    if (status != OIF_OK) {
        oif_memory_free(made);
        return status;
    }
    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(made->summary, sizeof made->summary, "%s, judging together", name);
    made->info.table.name = made->name;
    made->info.table.summary = made->summary;
    made->info.table.params = made->params;
    made->info.paper = "those of its detectors";
    made->info.cost = "the sum of its detectors";
    made->info.choose = "when one kind of evidence is not enough";
    made->next = lists;
    lists = made;
    return OIF_OK;
}

static list *find_list(const char *name)
{
    list *found = lists;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

oif_status oif_together_find(const char *name, const oif_detector_info **info, oif_error *error)
{
    oif_status status = OIF_OK;
    if (strlen(name) >= NAME_BYTES)
        return fail_unknown(name, name + strlen(name), error);
    oif_lock_acquire(&lists_lock);
    if (!find_list(name))
        status = make_list(name, error);
    if (status == OIF_OK)
        *info = &find_list(name)->info;
    oif_lock_release(&lists_lock);
    return status;
}

/* Finds the list with this table. */
static const list *list_of(const oif_param_table *table)
{
    oif_lock_acquire(&lists_lock);
    const list *found = lists;
    while (found && &found->info.table != table)
        found = found->next;
    oif_lock_release(&lists_lock);
    return found;
}

size_t oif_together_split(const oif_params *params, oif_params parts[OIF_TOGETHER_MAX])
{
    if (oif_detector_kind_of(params)) {
        parts[0] = *params;
        return 1;
    }
    const list *l = params && params->table ? list_of(params->table) : NULL;
    for (size_t part = 0; l && part < l->part_count; part++) {
        oif_params_init_table(&parts[part], &l->parts[part]->table);
        for (size_t i = 0; i < l->parts[part]->table.param_count; i++)
            parts[part].values[i] = params->values[l->positions[part][i]];
    }
    return l ? l->part_count : 0;
}

bool oif_detector_minds_constants(const oif_params *params)
{
    oif_params parts[OIF_TOGETHER_MAX];
    const size_t count = oif_together_split(params, parts);
    for (size_t i = 0; i < count; i++)
        if (oif_detector_kind_of(&parts[i])->minds_constants)
            return true;
    return false;
}

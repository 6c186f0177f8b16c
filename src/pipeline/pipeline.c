/* A pipeline: one model per key, up to a number of keys and a memory limit. At a limit, eviction.h
 * chooses the key to evict. */
#include "pipeline/pipeline.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "pipeline/pipeline_options.h"
#include "snapshot/names_section.h"

#include <math.h>
#include <string.h>

/* ---- Limits ---- */

/* The limits on the models of a pipeline. */
typedef struct limits {
    uint32_t keys;
    size_t bytes;   /* SIZE_MAX: none */
    bool are_whole; /* so few models fit that none is packed */
} limits;

/* OIF_EPARAM if not even one model fits. */
static oif_status read_limits(const oif_params *params, const oif_derived_plan *plan,
                              const oif_params *options, limits *found, oif_error *error)
{
    const size_t few = 16;
    oif_model_options o = oif_pipeline_options_read(options, params);
    double limit = oif_params_value(options, "memory_limit");
    size_t bytes = 0;
    oif_status status = oif_model_estimate_bytes(params, plan, &o, &bytes, error);
    if (status != OIF_OK)
        return status;
    if (limit > 0 && limit < (double)bytes + OIF_PIPELINE_OWN_BYTES)
        return oif_fail(error, OIF_EPARAM,
                        "memory_limit is too small for a single model of %zu bytes; raise it to "
                        "%zu",
                        bytes, bytes + OIF_PIPELINE_OWN_BYTES);
    *found = (limits){.keys = (uint32_t)oif_params_value(options, "max_keys"),
                      .bytes = limit > 0 && limit < (double)SIZE_MAX ? (size_t)limit : SIZE_MAX};
    found->are_whole = found->bytes / few < bytes;
    return OIF_OK;
}

/* ---- Creation ---- */

/* Creates the first model and determines the limits. */
static oif_status make_blank(const oif_params *params, const oif_derived_plan *plan,
                             const oif_params *options, oif_model **blank, limits *found,
                             oif_error *error)
{
    oif_model_options o = oif_pipeline_options_read(options, params);
    oif_status status = read_limits(params, plan, options, found, error);
    return status == OIF_OK ? oif_model_new(params, plan, &o, blank, error) : status;
}

static void set_limits(oif_pipeline *p, const limits *found)
{
    p->most_keys = found->keys;
    p->memory_limit = found->bytes;
    p->models.are_whole = found->are_whole;
    if (found->bytes < SIZE_MAX)
        p->models.whole_at_most = found->bytes / 4 * 3;
    if (found->bytes / 4 < p->models.whole_at_first)
        p->models.whole_at_first = found->bytes / 4;
}

static void start_models(oif_pipeline *p, oif_model *blank, const limits *found)
{
    blank->plan = &p->plan;
    oif_models_init(&p->models, &p->keys, &p->params, blank);
    p->evicted.model_bytes = p->models.section_bytes;
    set_limits(p, found);
}

oif_status oif_pipeline_new(const oif_params *detector, size_t columns, const oif_params *options,
                            oif_pipeline **pipeline, oif_error *error)
{
    limits found;
    oif_model *blank = NULL;
    oif_derived_plan plan;
    oif_params initial;
    oif_derived_plan_init(&plan, columns);
    oif_pipeline_options_init(&initial);
    options = options ? options : &initial;
    oif_status status = oif_pipeline_options_check(options, error);
    if (status == OIF_OK)
        status = make_blank(detector, &plan, options, &blank, &found, error);
    if (status != OIF_OK)
        return status;
    oif_pipeline *made = oif_memory_new(sizeof *made);
    if (!made) {
        oif_model_free(blank);
        return oif_fail(error, OIF_EMEMORY, "no memory for a pipeline");
    }
    *made = (oif_pipeline){.params = *detector,
                           .options = *options,
                           .columns = columns,
                           .plan = plan,
                           .last = OIF_NO_KEY};
    oif_keys_init(&made->keys);
    oif_evicted_models_init(&made->evicted,
                            oif_params_value(options, "evicted") == OIF_EVICTED_KEEP);
    start_models(made, blank, &found);
    oif_silence_queue_init(&made->silence);
    oif_alert_budget_init(&made->budget, oif_params_value(options, "alerts"));
    *pipeline = made;
    return OIF_OK;
}

void oif_pipeline_free(oif_pipeline *pipeline)
{
    if (!pipeline)
        return;
    oif_pool_free(pipeline->pool);
    oif_memory_free(pipeline->notes);
    oif_models_free(&pipeline->models);
    oif_evicted_models_free(&pipeline->evicted);
    oif_silence_queue_free(&pipeline->silence);
    oif_keys_free(&pipeline->keys);
    oif_memory_free(pipeline->evicted_marks);
    oif_column_names_free(pipeline->names);
    oif_column_names_free(pipeline->roles);
    oif_attachment_free(&pipeline->attached);
    oif_rules_free(pipeline->rules);
    oif_past_episodes_free(pipeline->past);
    oif_derived_plan_free(&pipeline->plan);
    oif_memory_free(pipeline);
}

oif_status oif_pipeline_set_plan(oif_pipeline *p, const oif_derived_plan *plan, oif_error *error)
{
    oif_model *blank;
    limits found;
    oif_status status = make_blank(&p->params, plan, &p->options, &blank, &found, error);
    if (status != OIF_OK)
        return status;
    oif_models_free(&p->models);
    oif_derived_plan_free(&p->plan);
    p->plan = *plan;
    p->stored = (oif_stored_place){0};
    start_models(p, blank, &found);
    return OIF_OK;
}

/* ---- Roles of columns ---- */

/* "=NAME", or "" for NULL; the caller frees it. NULL if out of memory. */
static char *role_text(const char *name)
{
    size_t bytes = name ? strlen(name) + 1 : 0;
    char *text = oif_memory_new(bytes + 1);
    if (text)
        text[0] = name ? '=' : '\0';
    if (text && name)
        memcpy(text + 1, name, bytes);
    return text;
}

oif_status oif_pipeline_name_roles(oif_pipeline *pipeline, const char *key, const char *time,
                                   oif_error *error)
{
    oif_column_names *made = NULL;
    char *texts[OIF_ROLES] = {[OIF_ROLE_KEY] = role_text(key), [OIF_ROLE_TIME] = role_text(time)};
    oif_status status =
        texts[OIF_ROLE_KEY] && texts[OIF_ROLE_TIME]
            ? oif_column_names_new((const char *const *)texts, OIF_ROLES, &made, error)
            : oif_fail(error, OIF_EMEMORY, "no memory for the names of roles");
    for (size_t i = 0; i < OIF_ROLES; i++)
        oif_memory_free(texts[i]);
    if (status != OIF_OK)
        return status;
    oif_column_names_free(pipeline->roles);
    pipeline->roles = made;
    return OIF_OK;
}

static const char *role_name(const oif_column_names *roles, size_t role)
{
    const char *text = oif_column_names_at(roles, role);
    return text && *text ? text + 1 : NULL;
}

bool oif_pipeline_roles(const oif_pipeline *pipeline, const char **key, const char **time)
{
    *key = role_name(pipeline->roles, OIF_ROLE_KEY);
    *time = role_name(pipeline->roles, OIF_ROLE_TIME);
    return pipeline->roles != NULL;
}

oif_status oif_pipeline_attach(oif_pipeline *pipeline, const void *bytes, size_t count,
                               oif_error *error)
{
    return oif_attachment_set(&pipeline->attached, bytes, count, error);
}

const void *oif_pipeline_attachment(const oif_pipeline *pipeline, size_t *count)
{
    *count = pipeline->attached.count;
    return pipeline->attached.bytes;
}

/* ---- Models ---- */

static bool has_too_much(const oif_pipeline *p, size_t more_keys, size_t more_bytes)
{
    return p->keys.count + more_keys > p->most_keys ||
           (!p->is_copying && p->memory_limit < SIZE_MAX &&
            oif_size_add(oif_pipeline_memory_bytes(p), more_bytes) > p->memory_limit);
}

/* Bits of a hash filter for evicted keys; one in a thousand other keys counts as evicted too. */
enum { MARKS = 1 << 20 };

static uint64_t *mark_of(const oif_pipeline *p, uint64_t hash, uint64_t *bit)
{
    *bit = UINT64_C(1) << (hash >> 32) % 64;
    return &p->evicted_marks[(hash >> 40) % (MARKS / 64)];
}

static void mark_evicted(oif_pipeline *p, const oif_key_entry *entry)
{
    uint64_t bit;
    const size_t bytes = MARKS / 8;
    if (!p->evicted_marks && (p->evicted_marks = oif_memory_new(bytes)) != NULL)
        memset(p->evicted_marks, 0, bytes);
    if (p->evicted_marks) {
        uint64_t *word = mark_of(p, entry->hash, &bit);
        *word |= bit;
    }
}

static bool was_evicted(const oif_pipeline *p, const char *key, size_t key_bytes)
{
    uint64_t bit;
    return p->evicted_marks && *mark_of(p, oif_key_hash(key, key_bytes), &bit) & bit;
}

void oif_pipeline_drop_key(oif_pipeline *p, uint32_t entry)
{
    oif_models_remove(&p->models, entry);
    oif_silence_queue_remove(&p->silence, &p->keys, entry);
    oif_keys_remove(&p->keys, entry);
}

/* Evicts a key; with evicted=keep its model goes to the file. */
static oif_status evict(oif_pipeline *p, uint32_t entry, oif_error *error)
{
    oif_status status = oif_evicted_models_put(&p->evicted, &p->keys.entries[entry],
                                               oif_models_view(&p->models, entry), error);
    if (status != OIF_OK)
        return status;
    if (!p->evicted.is_kept)
        mark_evicted(p, &p->keys.entries[entry]);
    oif_pipeline_drop_key(p, entry);
    p->last = entry == p->last ? OIF_NO_KEY : p->last;
    p->evictions++;
    return OIF_OK;
}

/* The key to evict, other than that of `entry`. Kept models come back, so a random choice is fine:
 * of keys that report in rounds, most are then in memory when their row comes. */
static uint32_t choose_victim(const oif_pipeline *p, uint32_t entry)
{
    const uint64_t row = p->rows + 1;
    uint32_t chosen = oif_eviction_choose(&p->keys, row, entry);
    if (chosen == OIF_NO_KEY || !p->evicted.is_kept ||
        oif_eviction_is_overdue(&p->keys, row, chosen))
        return chosen;
    return oif_eviction_draw(&p->keys, row, entry);
}

/* Packs and evicts models, except that of `entry`, until the rest is within the limits. */
static oif_status make_room(oif_pipeline *p, uint32_t entry, oif_error *error)
{
    oif_status status = OIF_OK;
    p->models.have_grown = false;
    while (status == OIF_OK && p->keys.count > 1 && has_too_much(p, 0, 0))
        if (p->keys.count > p->most_keys || !oif_models_pack_one(&p->models, entry))
            status = evict(p, choose_victim(p, entry), error);
    return status;
}

/* Whether a new key gets a model: there is space for one more of the largest size so far, or
 * another key may be evicted. */
static bool is_admitted(oif_pipeline *p)
{
    const size_t bytes = p->models.most_bytes;
    while (p->keys.count < p->most_keys && has_too_much(p, 1, bytes))
        if (!oif_models_pack_one(&p->models, OIF_NO_KEY))
            break;
    if (p->evicted.is_kept || p->keys.count == 0 || !has_too_much(p, 1, bytes))
        return true;
    uint32_t victim = oif_eviction_choose(&p->keys, p->rows + 1, OIF_NO_KEY);
    return oif_eviction_is_overdue(&p->keys, p->rows + 1, victim);
}

static oif_status add_blank(oif_pipeline *p, const char *key, size_t key_bytes, uint32_t *entry,
                            oif_model **model, oif_error *error)
{
    *entry = oif_keys_add(&p->keys, key, key_bytes);
    if (*entry == OIF_NO_KEY)
        return oif_fail(error, OIF_EMEMORY, "no memory for one more key");
    oif_status status = oif_models_add(&p->models, *entry, error);
    if (status == OIF_OK)
        status = oif_models_open(&p->models, *entry, model, error);
    if (status == OIF_OK)
        status = make_room(p, *entry, error);
    if (status != OIF_OK) {
        oif_pipeline_drop_key(p, *entry);
        if (p->keys.count == 0) { /* restore the empty map */
            oif_keys_free(&p->keys);
            oif_keys_init(&p->keys);
        }
    }
    return status;
}

oif_status oif_pipeline_add_model(oif_pipeline *p, const char *key, size_t key_bytes,
                                  uint32_t *entry, oif_error *error)
{
    oif_model *model;
    if (!oif_silence_queue_enlarge(&p->silence, p->keys.used + 1))
        return oif_fail(error, OIF_EMEMORY, "no memory for one more key");
    oif_status status = add_blank(p, key, key_bytes, entry, &model, error);
    if (status != OIF_OK && p->keys.count == 0) {
        oif_silence_queue_free(&p->silence);
        oif_silence_queue_init(&p->silence);
    }
    if (status == OIF_OK)
        oif_evicted_models_take(&p->evicted, key, key_bytes, model);
    return status;
}

static oif_status clone_plan(const oif_pipeline *pipeline, oif_pipeline *copy, oif_error *error)
{
    oif_derived_plan plan;
    if (pipeline->plan.count == 0)
        return OIF_OK;
    oif_status status = oif_derived_plan_clone(&pipeline->plan, &plan, error);
    if (status != OIF_OK)
        return status;
    status = oif_pipeline_set_plan(copy, &plan, error);
    if (status != OIF_OK)
        oif_derived_plan_free(&plan);
    return status;
}

oif_status oif_pipeline_copy_models(const oif_pipeline *from, oif_pipeline *to,
                                    oif_model_copy_function copy, oif_error *error)
{
    oif_status status = OIF_OK;
    to->is_copying = true;
    for (uint32_t i = from->keys.oldest; i != OIF_NO_KEY && status == OIF_OK;
         i = from->keys.entries[i].newer) {
        const oif_key_entry *entry = &from->keys.entries[i];
        uint32_t number = OIF_NO_KEY;
        oif_model *model;
        status = oif_pipeline_add_model(to, entry->key, entry->key_bytes, &number, error);
        if (status == OIF_OK)
            status = oif_models_open(&to->models, number, &model, error);
        if (status == OIF_OK) {
            copy(model, oif_pipeline_model(from, i));
            to->keys.entries[number].seen = entry->seen;
            to->keys.entries[number].gap = entry->gap;
            oif_pipeline_await(to, number);
        }
        if (i == from->last)
            to->last = number;
    }
    to->is_copying = false;
    return status;
}

oif_status oif_pipeline_clone(const oif_pipeline *pipeline, oif_pipeline **copy, oif_error *error)
{
    oif_pipeline *made;
    oif_status status =
        oif_pipeline_new(&pipeline->params, pipeline->columns, &pipeline->options, &made, error);
    if (status != OIF_OK)
        return status;
    status = clone_plan(pipeline, made, error);
    if (status == OIF_OK)
        status = oif_column_names_clone(pipeline->names, &made->names, error);
    if (status == OIF_OK)
        status = oif_column_names_clone(pipeline->roles, &made->roles, error);
    if (status == OIF_OK)
        status = oif_attachment_set(&made->attached, pipeline->attached.bytes,
                                    pipeline->attached.count, error);
    if (status == OIF_OK)
        status = oif_rules_clone(pipeline->rules, &made->rules, error);
    if (status == OIF_OK && pipeline->past &&
        !(made->past = oif_past_episodes_clone(pipeline->past)))
        status = oif_fail(error, OIF_EMEMORY, "no memory for past episodes");
    oif_pipeline_update_asks(made);
    if (status == OIF_OK)
        status = oif_pipeline_copy_models(pipeline, made, oif_model_assign, error);
    if (status != OIF_OK) {
        oif_pipeline_free(made);
        return status;
    }
    made->rows = pipeline->rows;
    made->evictions = pipeline->evictions;
    made->unmodelled_rows = pipeline->unmodelled_rows;
    made->budget = pipeline->budget;
    made->evicted.lost = pipeline->evicted.lost;
    *copy = made;
    return OIF_OK;
}

/* The entry of a key, which gets a model if it has none. */
static oif_status find_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                             uint32_t *entry, oif_error *error)
{
    *entry = oif_keys_find(&pipeline->keys, key, key_bytes);
    if (*entry != OIF_NO_KEY)
        return OIF_OK;
    if (key_bytes > OIF_KEY_MAX_BYTES)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_KEY_TOO_LONG,
                                "a key of %zu bytes is too long", key_bytes);
    return oif_pipeline_add_model(pipeline, key, key_bytes, entry, error);
}

/* The same for the key of a row, which may get no model: then the entry is OIF_NO_KEY. */
static oif_status find_or_admit(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                uint32_t *entry, oif_error *error)
{
    *entry = oif_keys_find(&pipeline->keys, key, key_bytes);
    if (*entry != OIF_NO_KEY || (key_bytes <= OIF_KEY_MAX_BYTES && !is_admitted(pipeline)))
        return OIF_OK;
    oif_status status = find_model(pipeline, key, key_bytes, entry, error);
    pipeline->restarts += status == OIF_OK && was_evicted(pipeline, key, key_bytes);
    return status;
}

oif_status oif_pipeline_put_model(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  oif_model **model, oif_error *error)
{
    uint32_t entry;
    oif_status status = find_model(pipeline, key, key_bytes, &entry, error);
    if (status != OIF_OK)
        return status;
    oif_model *own;
    status = oif_models_open(&pipeline->models, entry, &own, error);
    if (status != OIF_OK)
        return status;
    oif_model_assign(own, *model);
    pipeline->keys.entries[entry].seen = pipeline->rows;
    oif_model_free(*model);
    *model = NULL;
    pipeline->last = pipeline->last == entry ? OIF_NO_KEY : pipeline->last;
    oif_pipeline_await(pipeline, entry);
    oif_keys_touch(&pipeline->keys, entry);
    return OIF_OK;
}

/* ---- The budget of alerts ---- */

/* Gives the model what all keys have overspent, and what the time passed has earned. */
static void lend_budget(oif_pipeline *p, oif_model *model, double seconds)
{
    const double earned = oif_alert_budget_pass(&p->budget, seconds);
    oif_model_options options = model->options;
    /* Without a time, each row earns what it would without a budget. */
    options.earned = earned == earned ? earned : oif_params_value(&p->options, "alert_rate");
    oif_model_set_options(model, &options);
    model->gate.overspent = p->budget.overspent;
}

/* ---- Rules ---- */

oif_status oif_pipeline_set_rules(oif_pipeline *pipeline, const char *text, size_t bytes,
                                  oif_error *error)
{
    oif_rules *made;
    oif_status status = oif_rules_new(text, bytes, pipeline->names, pipeline->rules, &made, error);
    if (status != OIF_OK)
        return status;
    oif_rules_free(pipeline->rules);
    pipeline->rules = made;
    oif_pipeline_update_asks(pipeline);
    oif_pipeline_await_all(pipeline);
    return OIF_OK;
}

bool oif_pipeline_rule(const oif_pipeline *pipeline, size_t index, oif_rule_info *info)
{
    if (!pipeline->rules || index >= pipeline->rules->count)
        return false;
    const oif_rule *rule = &pipeline->rules->list[index];
    *info = (oif_rule_info){.text = rule->text,
                            .held = rule->held,
                            .first_seconds = rule->first_held,
                            .last_seconds = rule->last_held};
    return true;
}

const oif_row_rules *oif_pipeline_row_rules(const oif_pipeline *pipeline, uint32_t entry,
                                            oif_row_question *asked)
{
    const oif_key_entry *key = &pipeline->keys.entries[entry];
    if (!pipeline->asks)
        return NULL;
    asked->rules = (oif_row_rules){pipeline->rules,
                                   pipeline->names,
                                   {key->key, key->key_bytes},
                                   pipeline->past ? &asked->causes : NULL};
    return &asked->rules;
}

/* ---- Rows ---- */

oif_status oif_pipeline_process(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                const double *row, oif_result *result, oif_error *error)
{
    return oif_pipeline_process_at(pipeline, key, key_bytes, NAN, row, result, error);
}

/* Handles a row whose key has no model. */
static void pass_unmodelled(oif_pipeline *pipeline, oif_result *result)
{
    *result = (oif_result){.score = NAN, .threshold = INFINITY, .has_no_model = true, .pause = NAN};
    pipeline->last = OIF_NO_KEY;
    pipeline->rows++;
    pipeline->unmodelled_rows++;
}

oif_status oif_pipeline_process_at(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                   double seconds, const double *row, oif_result *result,
                                   oif_error *error)
{
    return oif_pipeline_process_with(pipeline, (oif_text){key, key_bytes}, seconds, row, NULL,
                                     result, error);
}

oif_status oif_pipeline_process_with(oif_pipeline *pipeline, oif_text key, double seconds,
                                     const double *row, const oif_table_verdict *verdict,
                                     oif_result *result, oif_error *error)
{
    uint32_t entry;
    oif_status status = oif_row_check(row, pipeline->columns, 1, error);
    if (status == OIF_OK && seconds - seconds != 0 && seconds == seconds)
        status = oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_INFINITE_VALUE,
                                  "the time of a row is infinite");
    if (status == OIF_OK)
        status = find_or_admit(pipeline, key.text, key.bytes, &entry, error);
    if (status != OIF_OK)
        return status;
    if (entry == OIF_NO_KEY) {
        pass_unmodelled(pipeline, result);
        return OIF_OK;
    }
    oif_model *model;
    status = oif_models_open_for_row(&pipeline->models, entry, &model, error);
    if (status == OIF_OK && pipeline->models.have_grown)
        status = make_room(pipeline, entry, error);
    if (status != OIF_OK)
        return status;
    if (pipeline->budget.per_day > 0)
        lend_budget(pipeline, model, seconds);
    oif_row_question asked;
    const oif_row_rules *rules = oif_pipeline_row_rules(pipeline, entry, &asked);
    oif_model_process(model, row, seconds, rules, verdict, result);
    if (rules) {
        oif_pipeline_count_held(pipeline, result, seconds);
        oif_pipeline_keep_episode(pipeline, model, pipeline->rows + 1, &asked, result);
    }
    if (pipeline->budget.per_day > 0)
        pipeline->budget.overspent = model->gate.overspent;
    oif_pipeline_await(pipeline, entry);
    oif_keys_touch(&pipeline->keys, entry);
    pipeline->last = entry;
    pipeline->rows++;
    oif_eviction_see(&pipeline->keys.entries[entry], pipeline->rows);
    return OIF_OK;
}

/* Of params with the same table. */
static bool have_equal_values(const oif_params *p, const oif_params *q)
{
    for (size_t i = 0; i < p->table->param_count; i++)
        if (p->values[i] != q->values[i])
            return false;
    return true;
}

/* Whether the detector has the parameters and columns of the pipeline's detectors. */
static bool is_alike(const oif_detector *detector, const oif_pipeline *pipeline)
{
    const oif_params *p = oif_detector_params(detector), *q = &pipeline->params;
    return p->table == q->table &&
           oif_detector_columns(detector) == oif_pipeline_dimension(pipeline) &&
           have_equal_values(p, q);
}

oif_status oif_pipeline_exchange_detector(oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                          oif_detector **detector, oif_error *error)
{
    uint32_t entry;
    if (!is_alike(*detector, pipeline))
        return oif_fail(error, OIF_EPARAM,
                        "the detector has other parameters or columns than those of the pipeline; "
                        "moves add columns");
    oif_status status = OIF_OK;
    if (oif_detector_is_in_callers_memory(*detector)) /* it must not become the blank one */
        status = oif_models_keep_blank(&pipeline->models, error);
    if (status == OIF_OK)
        status = find_model(pipeline, key, key_bytes, &entry, error);
    if (status != OIF_OK)
        return status;
    status = oif_models_make_whole(&pipeline->models, entry, error);
    if (status != OIF_OK)
        return status;
    oif_models_before_change(&pipeline->models, entry);
    oif_model *model = pipeline->keys.entries[entry].value;
    oif_keys_mark(&pipeline->keys, entry);
    pipeline->keys.entries[entry].seen +=
        pipeline->keys.entries[entry].seen == 0 ? pipeline->rows : 0;
    oif_detector *old = model->detectors[0];
    model->detectors[0] = *detector;
    *detector = old;
    return OIF_OK;
}

/* A detector that exists has no columns for moves. */
static oif_status leave_moves_out(const oif_params *options, oif_params *without, oif_error *error)
{
    oif_pipeline_options_init(without);
    if (options) {
        const oif_status status = oif_pipeline_options_check(options, error);
        if (status != OIF_OK)
            return status;
        *without = *options;
    }
    return oif_params_set_text(without, "moves", "off", error);
}

oif_status oif_pipeline_new_around(oif_detector **detector, const oif_params *options,
                                   const char *key, size_t key_bytes, oif_pipeline **pipeline,
                                   oif_error *error)
{
    oif_pipeline *made = NULL;
    oif_params without_moves;
    oif_status status = leave_moves_out(options, &without_moves, error);
    if (status != OIF_OK)
        return status;
    size_t columns = oif_detector_columns(*detector),
           shingle = (size_t)oif_params_value(&without_moves, "shingle");
    if (columns % shingle != 0)
        return oif_fail(error, OIF_EPARAM,
                        "a detector of %zu columns cannot take shingles of %zu rows", columns,
                        shingle);
    status = oif_pipeline_new(oif_detector_params(*detector), columns / shingle, &without_moves,
                              &made, error);
    if (status == OIF_OK && shingle == 1)
        status = oif_column_names_clone(oif_detector_names(*detector), &made->names, error);
    if (status == OIF_OK)
        status = oif_pipeline_exchange_detector(made, key, key_bytes, detector, error);
    if (status != OIF_OK) {
        oif_pipeline_free(made);
        return status;
    }
    oif_detector_free(*detector); /* the previous one */
    *detector = NULL;
    *pipeline = made;
    return OIF_OK;
}

void oif_pipeline_explain(oif_pipeline *pipeline, oif_attribution *attributions)
{
    oif_model *model;
    for (size_t i = 0; i < pipeline->plan.derived_columns; i++)
        attributions[i] = (oif_attribution){.size = NAN, .usual = NAN};
    if (pipeline->last != OIF_NO_KEY &&
        oif_models_open(&pipeline->models, pipeline->last, &model, NULL) == OIF_OK)
        oif_model_explain(model, attributions);
}

void oif_pipeline_expected(const oif_pipeline *pipeline, oif_expected *expected)
{
    const oif_model *model = oif_pipeline_model(pipeline, pipeline->last);
    for (size_t i = 0; i < pipeline->plan.derived_columns; i++)
        expected[i] =
            model ? oif_model_expected(model, i) : (oif_expected){.low = NAN, .high = NAN};
}

/* ---- Questions ---- */

const oif_params *oif_pipeline_detector_params(const oif_pipeline *pipeline)
{
    return &pipeline->params;
}

const oif_params *oif_pipeline_options(const oif_pipeline *pipeline)
{
    return &pipeline->options;
}

/* A budget that is turned off is forgotten, because a snapshot does not have it then. */
static void change_budget(oif_alert_budget *budget, double per_day)
{
    if (per_day > 0)
        budget->per_day = per_day;
    else
        oif_alert_budget_init(budget, 0);
}

oif_status oif_pipeline_change_option(oif_pipeline *pipeline, const char *name, double value,
                                      oif_error *error)
{
    oif_params changed = pipeline->options;
    oif_status status = oif_pipeline_options_change(&changed, name, value, error);
    if (status != OIF_OK)
        return status;
    oif_model_options options = oif_pipeline_options_read(&changed, &pipeline->params);
    if (pipeline->budget.per_day > 0 || !have_equal_values(&pipeline->options, &changed))
        pipeline->stored = (oif_stored_place){0}; /* all models change */
    pipeline->options = changed;
    change_budget(&pipeline->budget, oif_params_value(&changed, "alerts"));
    oif_models_set_options(&pipeline->models, &options);
    for (uint32_t i = pipeline->keys.oldest; i != OIF_NO_KEY; i = pipeline->keys.entries[i].newer)
        oif_pipeline_await(pipeline, i);
    return OIF_OK;
}

bool oif_pipeline_episode(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                          oif_episode_info *episode)
{
    const oif_model *model =
        oif_pipeline_model(pipeline, oif_keys_find(&pipeline->keys, key, key_bytes));
    return model && oif_model_episode(model, episode);
}

bool oif_pipeline_season(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                         size_t index, oif_season_info *info)
{
    const oif_model *model =
        oif_pipeline_model(pipeline, oif_keys_find(&pipeline->keys, key, key_bytes));
    return model && oif_model_season(model, index, info);
}

size_t oif_pipeline_columns(const oif_pipeline *pipeline)
{
    return pipeline->columns;
}

uint64_t oif_pipeline_rows(const oif_pipeline *pipeline)
{
    return pipeline->rows;
}

size_t oif_pipeline_keys(const oif_pipeline *pipeline)
{
    return pipeline->keys.count;
}

uint64_t oif_pipeline_evictions(const oif_pipeline *pipeline)
{
    return pipeline->evictions;
}

uint64_t oif_pipeline_unmodelled_rows(const oif_pipeline *pipeline)
{
    return pipeline->unmodelled_rows;
}

uint64_t oif_pipeline_restarts(const oif_pipeline *pipeline)
{
    return pipeline->restarts;
}

void oif_pipeline_limit_memory(oif_pipeline *pipeline, size_t bytes)
{
    limits found = {0};
    oif_status status =
        read_limits(&pipeline->params, &pipeline->plan, &pipeline->options, &found, NULL);
    (void)status; /* cannot fail: the pipeline has the same parameters */
    found.bytes = bytes < found.bytes ? bytes : found.bytes;
    set_limits(pipeline, &found);
}

size_t oif_pipeline_kept(const oif_pipeline *pipeline)
{
    return pipeline->evicted.count;
}

uint64_t oif_pipeline_lost(const oif_pipeline *pipeline, const char **why)
{
    if (why)
        *why = pipeline->evicted.why_lost;
    return pipeline->evicted.lost;
}

size_t oif_pipeline_memory_bytes(const oif_pipeline *pipeline)
{
    return sizeof *pipeline + oif_models_bytes(&pipeline->models) +
           oif_keys_bytes(&pipeline->keys) + oif_column_names_memory_bytes(pipeline->names) +
           oif_column_names_memory_bytes(pipeline->roles) + pipeline->attached.count +
           oif_rules_bytes(pipeline->rules) + (pipeline->past ? sizeof *pipeline->past : 0) +
           oif_keys_bytes(&pipeline->evicted.keys) + oif_silence_queue_bytes(&pipeline->silence) +
           pipeline->plan.count * sizeof *pipeline->plan.list;
}

const oif_detector *oif_pipeline_detector(const oif_pipeline *pipeline, const char *key,
                                          size_t key_bytes)
{
    const oif_model *model =
        oif_pipeline_model(pipeline, oif_keys_find(&pipeline->keys, key, key_bytes));
    return model ? model->detectors[0] : NULL;
}

const char *oif_pipeline_recent_key(const oif_pipeline *pipeline, size_t *key_bytes)
{
    uint32_t recent = pipeline->last != OIF_NO_KEY ? pipeline->last : pipeline->keys.newest;
    const oif_key_entry *entry = recent == OIF_NO_KEY ? NULL : &pipeline->keys.entries[recent];
    *key_bytes = entry ? entry->key_bytes : 0;
    return *key_bytes > 0 ? entry->key : NULL;
}

oif_status oif_pipeline_check(const oif_pipeline *pipeline, oif_error *error)
{
    oif_status status = oif_evicted_models_check(&pipeline->evicted, &pipeline->keys, error);
    const oif_keys *keys = &pipeline->keys;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY && status == OIF_OK; i = keys->entries[i].newer)
        status = oif_model_check(oif_pipeline_model(pipeline, i), error);
    return status;
}

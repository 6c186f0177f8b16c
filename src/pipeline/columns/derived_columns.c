#include "pipeline/columns/derived_columns.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"

#include <math.h>
#include <string.h>

/* ---- The plan ---- */

void oif_derived_plan_init(oif_derived_plan *plan, size_t columns)
{
    *plan = (oif_derived_plan){.columns = columns, .derived_columns = columns};
}

void oif_derived_plan_free(oif_derived_plan *plan)
{
    oif_memory_free(plan->list);
    plan->list = NULL;
    plan->count = plan->capacity = plan->categories = 0;
}

/* Returns the end of a column's derivations; `first` gets their start. Searches from the end,
 * because a snapshot lists them in order. */
static size_t end_of_column(const oif_derived_plan *plan, size_t column, size_t *first)
{
    size_t end = plan->count;
    while (end > 0 && plan->list[end - 1].column > column)
        end--;
    *first = end;
    while (*first > 0 && plan->list[*first - 1].column == column)
        --*first;
    return end;
}

static oif_status check_new(const oif_derived_plan *plan, size_t column, oif_derive kind,
                            bool keeps, oif_error *error)
{
    size_t first, end;
    bool is_category = keeps && kind == OIF_DERIVE_CATEGORY;
    if (column >= plan->columns)
        return oif_fail(error, OIF_EPARAM, "there is no column %zu among %zu", column,
                        plan->columns);
    if (kind < OIF_DERIVE_DIFF || kind > OIF_DERIVE_CATEGORY)
        return oif_fail(error, OIF_EPARAM, "a column is derived by diff, rate, log or category");
    end = end_of_column(plan, column, &first);
    for (size_t i = first; i < end; i++) {
        oif_derive other = plan->list[i].kind;
        if (other == kind)
            return oif_fail(error, OIF_EPARAM, "column %zu is derived in this way already", column);
        is_category |= other == OIF_DERIVE_CATEGORY || kind == OIF_DERIVE_CATEGORY;
    }
    if (is_category)
        return oif_fail(error, OIF_EPARAM,
                        "column %zu is a category, not a number: it cannot be kept as it is or "
                        "derived in another way as well",
                        column);
    return OIF_OK;
}

/* Makes space for one more. */
static bool grow(oif_derived_plan *plan)
{
    if (plan->count < plan->capacity)
        return true;
    size_t capacity = plan->capacity > 0 ? 2 * plan->capacity : 8;
    oif_derivation *list = oif_memory_new(oif_size_multiply(capacity, sizeof *list));
    if (!list)
        return false;
    if (plan->count > 0)
        memcpy(list, plan->list, plan->count * sizeof *list);
    oif_memory_free(plan->list);
    plan->list = list;
    plan->capacity = capacity;
    return true;
}

oif_status oif_derived_plan_add(oif_derived_plan *plan, size_t column, oif_derive kind, bool keeps,
                                oif_error *error)
{
    oif_status status = check_new(plan, column, kind, keeps, error);
    if (status != OIF_OK)
        return status;
    if (!grow(plan))
        return oif_fail(error, OIF_EMEMORY, "no memory for one more derived column");
    size_t first, end = end_of_column(plan, column, &first);
    oif_derivation *list = plan->list;
    bool is_first = first == end, was_learned = is_first || list[first].keeps;
    keeps = keeps || (!is_first && was_learned);
    memmove(list + end + 1, list + end, (plan->count - end) * sizeof *list);
    list[end] = (oif_derivation){column, kind, keeps};
    for (size_t i = first; i < end; i++)
        list[i].keeps = keeps;
    plan->derived_columns += 1 + (size_t)keeps - (size_t)was_learned;
    plan->categories += kind == OIF_DERIVE_CATEGORY;
    plan->count++;
    return OIF_OK;
}

oif_status oif_derived_plan_clone(const oif_derived_plan *plan, oif_derived_plan *copy,
                                  oif_error *error)
{
    *copy = *plan;
    copy->capacity = plan->count;
    copy->list = NULL;
    if (plan->count == 0)
        return OIF_OK;
    copy->list = oif_memory_new(plan->count * sizeof *copy->list);
    if (!copy->list)
        return oif_fail(error, OIF_EMEMORY, "no memory for the derived columns");
    memcpy(copy->list, plan->list, plan->count * sizeof *copy->list);
    return OIF_OK;
}

size_t oif_derived_source(const oif_derived_plan *plan, size_t learned, oif_derive *kind)
{
    size_t more = 0; /* learned columns minus input columns, so far */
    for (size_t i = 0, end; i < plan->count; i = end) {
        const oif_derivation *first = &plan->list[i];
        const size_t start = first->column + more;
        for (end = i + 1; end < plan->count && plan->list[end].column == first->column;)
            end++;
        const size_t width = end - i + first->keeps;
        if (learned < start)
            break;
        if (learned < start + width) {
            const bool is_itself = first->keeps && learned == start;
            *kind = is_itself ? OIF_DERIVE_NONE : first[learned - start - first->keeps].kind;
            return first->column;
        }
        more += width - 1;
    }
    *kind = OIF_DERIVE_NONE;
    return learned - more;
}

/* ---- The state of a key ---- */

size_t oif_derived_state_bytes(const oif_derived_plan *plan)
{
    return oif_size_add(oif_size_add(sizeof(oif_derived_state),
                                     oif_size_multiply(plan->count, sizeof(oif_derived_sample))),
                        oif_size_multiply(plan->categories, sizeof(oif_category_table)));
}

/* In the order of the derivations. */
static oif_category_table *tables_of(const oif_derived_plan *plan, const oif_derived_state *state)
{
    return (oif_category_table *)(state->samples + plan->count);
}

void oif_derived_state_init(const oif_derived_plan *plan, oif_derived_state *state)
{
    *state = (oif_derived_state){0};
    for (size_t i = 0; i < plan->count; i++)
        state->samples[i] = (oif_derived_sample){NAN, NAN};
    if (plan->categories > 0)
        memset(tables_of(plan, state), 0, plan->categories * sizeof(oif_category_table));
}

static double finite_or_missing(double value)
{
    return fabs(value) <= DBL_MAX ? value : NAN;
}

static double difference(oif_derived_sample *sample, double value)
{
    double before = sample->value;
    sample->value = value;
    return finite_or_missing(value - before);
}

/* The increase per unit of `at`; NaN if unknown. A row without value or time is skipped, so the
 * next rate covers the whole time since the last row. A row at the same time is skipped too. A late
 * row is not: it becomes the new base, or a single wrong time in the far future would make every
 * later row late. */
static double rate(oif_derived_sample *sample, double value, double at)
{
    const oif_derived_sample before = *sample;
    double step = at - before.at;
    if (value != value || at != at || step == 0)
        return NAN;
    *sample = (oif_derived_sample){value, at};
    double increase = value >= before.value ? value - before.value : value;
    return step > 0 && increase >= 0 && step <= DBL_MAX ? finite_or_missing(increase / step) : NAN;
}

/* oif_log2 takes only normal numbers. */
static double natural_log(double value)
{
    const double ln_2 = 0x1.62e42fefa39efp-1;
    if (!(value > 0))
        return NAN;
    return ln_2 * (value < DBL_MIN ? oif_log2(value * 0x1p60) - 60 : oif_log2(value));
}

static double derive(oif_derive kind, oif_derived_sample *sample, double value, double at)
{
    switch (kind) {
    case OIF_DERIVE_DIFF: return difference(sample, value);
    case OIF_DERIVE_RATE: return rate(sample, value, at);
    case OIF_DERIVE_LOG: return natural_log(value);
    case OIF_DERIVE_CATEGORY: /* judge_category */
    case OIF_DERIVE_NONE: break;
    }
    return value;
}

/* Detectors learn only whether the value is missing. A number for its rarity would turn every less
 * common value into a small cluster of rows, and hide what is unusual in the other columns:
 * docs/algorithms/categories.md. */
static double judge_category(oif_derived_state *state, oif_derived_sample *sample,
                             oif_category_table *table, double value, size_t learned_column)
{
    sample->value = value;
    if (value != value)
        return NAN;
    double surprise = oif_category_surprise(table, value);
    if (surprise > state->surprise) {
        state->surprise = surprise;
        state->surprising_column = (uint32_t)learned_column;
        state->is_new = table->is_new;
    }
    return 0;
}

/* The clock of rates: the time, or the row number while no time is known. */
static double place_in_time(const oif_derived_plan *plan, oif_derived_state *state, double seconds)
{
    bool is_known = fabs(seconds) <= DBL_MAX;
    state->rows++;
    if (is_known && !state->has_time) {
        state->has_time = 1;
        for (size_t i = 0; i < plan->count; i++)
            state->samples[i].at = NAN; /* these were row numbers */
    }
    return is_known ? seconds : state->has_time ? NAN : (double)state->rows;
}

void oif_derived_row(const oif_derived_plan *plan, oif_derived_state *state, const double *row,
                     double seconds, double *derived)
{
    const oif_derivation *list = plan->list;
    oif_category_table *table = tables_of(plan, state);
    double at = place_in_time(plan, state, seconds);
    size_t next = 0, to = 0;
    state->surprise = 0;
    state->is_new = 0;
    for (size_t i = 0; i < plan->columns; i++) {
        bool is_derived = next < plan->count && list[next].column == i;
        if (!is_derived || list[next].keeps)
            derived[to++] = row[i];
        for (; next < plan->count && list[next].column == i; next++, to++) {
            oif_derived_sample *sample = &state->samples[next];
            derived[to] = list[next].kind == OIF_DERIVE_CATEGORY
                              ? judge_category(state, sample, table++, row[i], to)
                              : derive(list[next].kind, sample, row[i], at);
        }
    }
}

void oif_derived_learn(const oif_derived_plan *plan, oif_derived_state *state)
{
    oif_category_table *table = tables_of(plan, state);
    for (size_t i = 0; i < plan->count && plan->categories > 0; i++) {
        double value = state->samples[i].value;
        if (plan->list[i].kind != OIF_DERIVE_CATEGORY)
            continue;
        if (value == value)
            oif_category_learn(table, value);
        table++;
    }
}

void oif_derived_state_widen(const oif_derived_plan *wide_plan, oif_derived_state *wide,
                             const oif_derived_plan *plan, const oif_derived_state *state)
{
    wide->rows = state->rows;
    wide->has_time = state->has_time;
    wide->surprising_column = state->surprising_column;
    wide->surprise = state->surprise;
    wide->is_new = state->is_new;
    memcpy(wide->samples, state->samples, plan->count * sizeof *state->samples);
    memcpy(tables_of(wide_plan, wide), tables_of(plan, state),
           plan->categories * sizeof(oif_category_table));
}

/* ---- Snapshots ---- */

void oif_derived_state_visit_fields(const oif_derived_plan *plan, oif_derived_state *state,
                                    oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "derived_rows", &state->rows, 1);
    oif_visit_u32(visitor, "has_time", &state->has_time, 1);
    for (size_t i = 0; i < plan->count; i++) {
        oif_visit_f64(visitor, "previous_value", &state->samples[i].value, 1);
        oif_visit_f64(visitor, "previous_at", &state->samples[i].at, 1);
    }
    for (size_t i = 0; i < plan->categories; i++)
        oif_category_visit_fields(&tables_of(plan, state)[i], visitor);
}

bool oif_derived_state_check(const oif_derived_plan *plan, const oif_derived_state *state)
{
    if (state->has_time > 1)
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        const oif_derived_sample *sample = &state->samples[i];
        bool is_rate = plan->list[i].kind == OIF_DERIVE_RATE;
        if (fabs(sample->value) > DBL_MAX || fabs(sample->at) > DBL_MAX)
            return false;
        if (plan->list[i].kind == OIF_DERIVE_LOG && sample->value == sample->value)
            return false;
        if (sample->at == sample->at && (!is_rate || sample->value != sample->value))
            return false;
    }
    for (size_t i = 0; i < plan->categories; i++)
        if (!oif_category_check(&tables_of(plan, state)[i]))
            return false;
    return true;
}

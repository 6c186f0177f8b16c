#include "pipeline/columns/category_table.h"

#include "base/stable_math.h"
#include "oif.h"

#include <math.h>
#include <string.h>

enum {
    REDUCE_ROWS = 1024, /* between two reductions of the counts */
    REDUCE_PARTS = 16,  /* a reduction removes one part in this many */
    /* The limit of repeated reductions: no more is left after one. */
    MOST_LEFT_ROWS = REDUCE_ROWS * (REDUCE_PARTS - 1)
};

/* ---- Values ---- */

/* FNV-1a, then mixed; a double holds the highest 53 bits exactly. */
double oif_category(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return bytes > 0 ? (double)((hash ^ hash >> 32) >> 11) : NAN;
}

/* The first entry whose value is not below this one. */
static uint32_t place_of(const oif_category_table *table, double value)
{
    uint32_t first = 0, end = table->used;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        if (table->values[middle] < value)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static bool is_at(const oif_category_table *table, uint32_t place, double value)
{
    return place < table->used && table->values[place] == value;
}

double oif_category_surprise(oif_category_table *table, double value)
{
    const uint32_t place = place_of(table, value), *counts = table->counts;
    table->is_new = !is_at(table, place, value);
    const uint32_t most = OIF_CATEGORY_ROW + (table->is_new ? 0 : counts[place]);
    uint32_t all = table->forgotten, as_rare = all;
    for (uint32_t i = 0; i < table->used; i++) {
        all += counts[i];
        as_rare += counts[i] <= most ? counts[i] : 0;
    }
    const double half_row = OIF_CATEGORY_ROW / 2;
    return oif_log2((all + half_row) / (as_rare + half_row));
}

/* ---- Learning ---- */

static void reduce_counts(oif_category_table *table)
{
    for (uint32_t i = 0; i < table->used; i++)
        table->counts[i] -= (table->counts[i] + REDUCE_PARTS - 1) / REDUCE_PARTS;
    table->forgotten -= (table->forgotten + REDUCE_PARTS - 1) / REDUCE_PARTS;
    table->rows = 0;
}

/* Moves the entries in [first, end) to another position. */
static void move_entries(oif_category_table *table, uint32_t first, uint32_t end, uint32_t to)
{
    const size_t count = end - first;
    memmove(table->values + to, table->values + first, count * sizeof *table->values);
    memmove(table->counts + to, table->counts + first, count * sizeof *table->counts);
}

static void forget_rarest(oif_category_table *table)
{
    uint32_t rarest = 0;
    for (uint32_t i = 1; i < table->used; i++)
        if (table->counts[i] < table->counts[rarest])
            rarest = i;
    table->forgotten += table->counts[rarest];
    move_entries(table, rarest + 1, table->used, rarest);
    table->used--;
}

void oif_category_learn(oif_category_table *table, double value)
{
    uint32_t place = place_of(table, value);
    if (!is_at(table, place, value)) {
        if (table->used == OIF_CATEGORY_ENTRIES) {
            forget_rarest(table);
            place = place_of(table, value);
        }
        move_entries(table, place, table->used++, place + 1);
        table->values[place] = value;
        table->counts[place] = 0;
    }
    table->counts[place] += OIF_CATEGORY_ROW;
    if (++table->rows == REDUCE_ROWS)
        reduce_counts(table);
}

/* ---- Snapshots ---- */

void oif_category_visit_fields(oif_category_table *table, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "categories", &table->used, 1);
    oif_visit_u32(visitor, "category_rows", &table->rows, 1);
    oif_visit_u32(visitor, "forgotten_count", &table->forgotten, 1);
    oif_visit_f64(visitor, "category_values", table->values, OIF_CATEGORY_ENTRIES);
    oif_visit_u32(visitor, "category_counts", table->counts, OIF_CATEGORY_ENTRIES);
}

bool oif_category_check(const oif_category_table *table)
{
    uint64_t sum = table->forgotten;
    if (table->used > OIF_CATEGORY_ENTRIES || table->rows >= REDUCE_ROWS)
        return false;
    for (uint32_t i = 0; i < table->used; i++) {
        sum += table->counts[i];
        if (!(fabs(table->values[i]) <= DBL_MAX) ||
            (i > 0 && !(table->values[i - 1] < table->values[i])))
            return false;
    }
    return sum <= (uint64_t)OIF_CATEGORY_ROW * (MOST_LEFT_ROWS + table->rows);
}

/* The fields of an object, passed in order to a visitor. The same function serves visitors that
 * write, read or list fields, so saving and loading cannot disagree.
 *
 *     static void visit_fields(void *state, oif_state_visitor *visitor)
 *     {
 *         counter *c = state;
 *         oif_visit_u64(visitor, "rows", &c->rows, 1);
 *         oif_visit_f64(visitor, "window", window_of(c), c->window_size);
 *     }
 *
 * Fields that follow from the parameters are not passed: the caller that reads fields back has
 * created the object with the same parameters.
 */
#ifndef OIF_BASE_STATE_VISITOR_H
#define OIF_BASE_STATE_VISITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum oif_field_type {
    OIF_FIELD_U8,
    OIF_FIELD_U16,
    OIF_FIELD_U32,
    OIF_FIELD_I32,
    OIF_FIELD_U64,
    OIF_FIELD_I64,
    OIF_FIELD_F64
} oif_field_type;

typedef struct oif_state_visitor oif_state_visitor;

/* A field of a record: its offset and number of values. */
typedef struct oif_field {
    const char *name;
    oif_field_type type;
    size_t offset, count;
} oif_field;

/* An array of records, such as the nodes of a tree: the first record and the stride. */
typedef struct oif_records {
    const oif_field *fields;
    size_t field_count;
    void *first;
    size_t stride, count;
} oif_records;

/* The head of a visitor's own state. */
struct oif_state_visitor {
    void (*visit)(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                  size_t count);
    /* NULL, or a faster equivalent of visiting each field of each record. */
    void (*visit_records)(oif_state_visitor *self, const oif_records *records);
};

static inline size_t oif_field_type_bytes(oif_field_type type)
{
    switch (type) {
    case OIF_FIELD_U8: return 1;
    case OIF_FIELD_U16: return 2;
    case OIF_FIELD_U32:
    case OIF_FIELD_I32: return 4;
    case OIF_FIELD_U64:
    case OIF_FIELD_I64:
    case OIF_FIELD_F64: break;
    }
    return 8;
}

/* Visits every field of the first record, then of the second, ... */
static inline void oif_visit_fields_of_records(oif_state_visitor *visitor,
                                               const oif_records *records)
{
    for (size_t i = 0; i < records->count; i++)
        for (size_t f = 0; f < records->field_count; f++) {
            const oif_field *field = &records->fields[f];
            void *values = (char *)records->first + i * records->stride + field->offset;
            visitor->visit(visitor, field->name, field->type, values, field->count);
        }
}

/* The same, as fast as the visitor can. */
static inline void oif_visit_records(oif_state_visitor *visitor, const oif_records *records)
{
    if (visitor->visit_records)
        visitor->visit_records(visitor, records);
    else
        oif_visit_fields_of_records(visitor, records);
}

static inline size_t oif_record_bytes(const oif_records *records)
{
    size_t bytes = 0;
    for (size_t f = 0; f < records->field_count; f++)
        bytes += records->fields[f].count * oif_field_type_bytes(records->fields[f].type);
    return bytes;
}

static inline void oif_visit_u8(oif_state_visitor *visitor, const char *name, uint8_t *values,
                                size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_U8, values, count);
}

static inline void oif_visit_u16(oif_state_visitor *visitor, const char *name, uint16_t *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_U16, values, count);
}

static inline void oif_visit_u32(oif_state_visitor *visitor, const char *name, uint32_t *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_U32, values, count);
}

static inline void oif_visit_i32(oif_state_visitor *visitor, const char *name, int32_t *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_I32, values, count);
}

static inline void oif_visit_u64(oif_state_visitor *visitor, const char *name, uint64_t *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_U64, values, count);
}

static inline void oif_visit_i64(oif_state_visitor *visitor, const char *name, int64_t *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_I64, values, count);
}

static inline void oif_visit_f64(oif_state_visitor *visitor, const char *name, double *values,
                                 size_t count)
{
    visitor->visit(visitor, name, OIF_FIELD_F64, values, count);
}

#endif

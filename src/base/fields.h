/* The fields of an object, told one after another to a visitor. One function tells them, whether the visitor writes them
 * down, reads them back or lists them: so saving and loading cannot disagree.
 *
 *     static void tell_fields(void *state, oif_fields *fields)
 *     {
 *         counter *c = state;
 *         oif_field_u64(fields, "rows", &c->rows, 1);
 *         oif_field_f64(fields, "window", window_of(c), c->window_size);
 *     }
 *
 * What follows from the parameters is not told: whoever reads fields back has made the object with the same parameters.
 */
#ifndef OIF_BASE_FIELDS_H
#define OIF_BASE_FIELDS_H

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

typedef struct oif_fields oif_fields;

/* A visitor's own state begins with this. */
struct oif_fields {
    void (*visit)(oif_fields *self, const char *name, oif_field_type type, void *values, size_t count);
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

static inline void oif_field_u8(oif_fields *fields, const char *name, uint8_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_U8, values, count);
}

static inline void oif_field_u16(oif_fields *fields, const char *name, uint16_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_U16, values, count);
}

static inline void oif_field_u32(oif_fields *fields, const char *name, uint32_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_U32, values, count);
}

static inline void oif_field_i32(oif_fields *fields, const char *name, int32_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_I32, values, count);
}

static inline void oif_field_u64(oif_fields *fields, const char *name, uint64_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_U64, values, count);
}

static inline void oif_field_i64(oif_fields *fields, const char *name, int64_t *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_I64, values, count);
}

static inline void oif_field_f64(oif_fields *fields, const char *name, double *values, size_t count)
{
    fields->visit(fields, name, OIF_FIELD_F64, values, count);
}

#endif

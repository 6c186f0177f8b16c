/* Arrow's C stream interface: https://arrow.apache.org/docs/format/CStreamInterface.html. A table
 * is a struct of columns, in batches. Columns of numbers are copied row by row; null becomes
 * NaN. */
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

typedef struct table {
    double *numbers;
    size_t rows, capacity, columns;
    size_t *from; /* for each column, its index in the stream */
} table;

static bool bit_at(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

/* Half precision: a sign, five bits of exponent, ten of fraction. */
static double half_as_double(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double fraction = half & 1023, number;
    if (exponent == 31)
        number = fraction > 0 ? (double)NAN : (double)INFINITY;
    else
        number = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    return half >> 15 ? -number : number;
}

/* A decimal is an integer of 32 to 256 bits, least significant part first, and a scale. */
typedef struct decimal {
    int bits, scale;
} decimal;

/* The format is d:precision,scale or d:precision,scale,bits. */
static bool read_decimal(const char *format, decimal *d)
{
    int precision, fields;
    d->bits = 128;
    fields = sscanf(format, "d:%d,%d,%d", &precision, &d->scale, &d->bits);
    return fields >= 2 && (d->bits == 32 || d->bits == 64 || d->bits == 128 || d->bits == 256);
}

static double decimal_at(const void *values, decimal d, int64_t i)
{
    const uint32_t *parts = (const uint32_t *)values + i * (d.bits / 32);
    int count = d.bits / 32;
    bool negative = parts[count - 1] >> 31;
    long double number = 0;
    uint64_t carry = negative; /* the digits of -x are those of ~x, plus 1 */
    for (int j = 0; j < count; j++) {
        uint64_t part = (uint64_t)(negative ? ~parts[j] : parts[j]) + carry;
        carry = part >> 32;
        number += ldexpl((uint32_t)part, 32 * j);
    }
    number = d.scale < 0 ? number * powl(10, -d.scale) : number / powl(10, d.scale);
    return (double)(negative ? -number : number);
}

#define AT(type) (double)((const type *)values)[i]

static double value_at(const void *values, char format, int64_t i)
{
    switch (format) {
    case 'g': return AT(double);
    case 'f': return AT(float);
    case 'e': return half_as_double(((const uint16_t *)values)[i]);
    case 'c': return AT(int8_t);
    case 'C': return AT(uint8_t);
    case 's': return AT(int16_t);
    case 'S': return AT(uint16_t);
    case 'i': return AT(int32_t);
    case 'I': return AT(uint32_t);
    case 'l': return AT(int64_t);
    case 'L': return AT(uint64_t);
    case 'b': return bit_at(values, i);
    default: return (double)NAN; /* 'n', a column of nulls; others were rejected */
    }
}

static bool is_number(const struct ArrowSchema *column)
{
    decimal unused;
    if (column->dictionary)
        return false;
    if (column->format[0] == 'd')
        return read_decimal(column->format, &unused);
    return column->format[0] && !column->format[1] && strchr("gfecCsSiIlLbn", column->format[0]);
}

/* What a column contains if is_number rejects it. */
static const char *describe(const struct ArrowSchema *column)
{
    if (column->dictionary)
        return "categories";
    switch (column->format[0]) {
    case 'u':
    case 'U': return "text";
    case 'v': return column->format[1] == 'u' ? "text" : "bytes";
    case 'z':
    case 'Z':
    case 'w': return "bytes";
    case 't': return "dates or times";
    case 'd': return "decimals";
    default: return "lists or structs";
    }
}

/* Appends the value to the list and releases it; false with an exception set. */
static bool append_new(PyObject *list, PyObject *value)
{
    bool good = value && PyList_Append(list, value) == 0;
    Py_XDECREF(value);
    return good;
}

/* Chooses the columns of numbers. Appends their names to `names`, and (position, name, content) of
 * every other column to `left_out`. False with an exception set. */
static bool choose_columns(table *t, const struct ArrowSchema *schema, PyObject *names,
                           PyObject *left_out)
{
    if (strcmp(schema->format, "+s") != 0) {
        PyErr_SetString(PyExc_TypeError, "expected a table, got a single Arrow column");
        return false;
    }
    t->from = PyMem_Malloc((size_t)(schema->n_children + 1) * sizeof *t->from);
    if (!t->from) {
        PyErr_NoMemory();
        return false;
    }
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *column = schema->children[i];
        const char *name = column->name ? column->name : "";
        bool chosen = is_number(column);
        if (chosen)
            t->from[t->columns++] = (size_t)i;
        if (chosen ? !append_new(names, PyUnicode_FromString(name))
                   : !append_new(left_out,
                                 Py_BuildValue("nss", (Py_ssize_t)i, name, describe(column))))
            return false;
    }
    return true;
}

static bool make_room(table *t, size_t more)
{
    if (more <= t->capacity - t->rows)
        return true;
    size_t capacity = t->rows + more;
    if (t->rows > 0 && capacity < 2 * t->rows)
        capacity = 2 * t->rows; /* many small batches */
    double *larger = NULL;
    if (t->columns == 0 || capacity < SIZE_MAX / sizeof *larger / t->columns)
        larger = PyMem_Realloc(t->numbers, capacity * t->columns * sizeof *larger + 1);
    if (!larger) {
        PyErr_NoMemory();
        return false;
    }
    t->numbers = larger;
    t->capacity = capacity;
    return true;
}

static void copy_column(const table *t, size_t column, const char *format,
                        const struct ArrowArray *batch)
{
    const struct ArrowArray *from = batch->children[t->from[column]];
    decimal d = {0, 0};
    bool is_decimal = format[0] == 'd' && read_decimal(format, &d);
    const void *validity = from->n_buffers > 0 ? from->buffers[0] : NULL;
    const void *values = from->n_buffers > 1 ? from->buffers[1] : NULL;
    const void *rows_validity = batch->n_buffers > 0 ? batch->buffers[0] : NULL;
    double *to = t->numbers + t->rows * t->columns + column;
    for (int64_t row = 0; row < batch->length; row++, to += t->columns) {
        int64_t in_batch = row + batch->offset, i = in_batch + from->offset;
        bool known = (!validity || bit_at(validity, i)) &&
                     (!rows_validity || bit_at(rows_validity, in_batch));
        if (!known || !values)
            *to = (double)NAN;
        else
            *to = is_decimal ? decimal_at(values, d, i) : value_at(values, format[0], i);
    }
}

static bool read_batch(table *t, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    if (batch->length < 0 || batch->n_children != schema->n_children) {
        PyErr_SetString(PyExc_ValueError, "a batch of the Arrow stream does not fit its schema");
        return false;
    }
    if (!make_room(t, (size_t)batch->length))
        return false;
    for (size_t column = 0; column < t->columns; column++)
        copy_column(t, column, schema->children[t->from[column]]->format, batch);
    t->rows += (size_t)batch->length;
    return true;
}

static bool read_batches(table *t, struct ArrowArrayStream *stream,
                         const struct ArrowSchema *schema)
{
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        if (stream->get_next(stream, &batch) != 0) {
            const char *reason = stream->get_last_error(stream);
            PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s",
                         reason ? reason : "it does not say why");
            return false;
        }
        if (!batch.release)
            return true;
        bool read = read_batch(t, schema, &batch);
        batch.release(&batch);
        if (!read)
            return false;
    }
}

static PyObject *table_as_array(const table *t)
{
    array_view view;
    PyObject *array = new_array((Py_ssize_t)t->rows, (Py_ssize_t)t->columns, &view);
    if (!array)
        return NULL;
    if (t->rows * t->columns > 0)
        memcpy(view.data, t->numbers, t->rows * t->columns * sizeof *t->numbers);
    array_view_release(&view);
    return array;
}

PyObject *arrow_rows(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema = {.release = NULL};
    if (!stream)
        return NULL;
    if (!stream->release || stream->get_schema(stream, &schema) != 0) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream has no schema");
        return NULL;
    }
    PyObject *array = NULL, *names = PyList_New(0), *left_out = PyList_New(0), *result = NULL;
    table t = {.columns = 0};
    if (names && left_out && choose_columns(&t, &schema, names, left_out) &&
        read_batches(&t, stream, &schema))
        array = table_as_array(&t);
    PyMem_Free(t.numbers);
    PyMem_Free(t.from);
    schema.release(&schema);
    if (array)
        result = Py_BuildValue("NNO", array, PyList_AsTuple(names), left_out);
    Py_XDECREF(names);
    Py_XDECREF(left_out);
    return result;
}

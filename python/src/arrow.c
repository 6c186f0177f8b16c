/* Arrow's C stream interface: https://arrow.apache.org/docs/format/CStreamInterface.html. A
 * table comes as a struct of columns, batch after batch; columns of numbers are copied row by
 * row, and what is null becomes NaN. */
#include "core.h"

#include <math.h>
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
    default: return (double)NAN; /* 'n', a column of nulls; others were refused */
    }
}

static bool is_number(const struct ArrowSchema *column)
{
    return column->format[0] && !column->format[1] && strchr("gfecCsSiIlLbn", column->format[0]) &&
           !column->dictionary;
}

/* What a column holds that is_number refuses. */
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

static PyObject *read_names(const struct ArrowSchema *schema)
{
    if (strcmp(schema->format, "+s") != 0) {
        PyErr_SetString(PyExc_TypeError, "expected a table, got a single Arrow column");
        return NULL;
    }
    PyObject *names = PyTuple_New((Py_ssize_t)schema->n_children);
    for (int64_t i = 0; names && i < schema->n_children; i++) {
        const struct ArrowSchema *column = schema->children[i];
        const char *name = column->name ? column->name : "";
        if (!is_number(column)) {
            raise_column_type((Py_ssize_t)i, name, describe(column));
            Py_CLEAR(names);
            break;
        }
        PyObject *text = PyUnicode_FromString(name);
        if (!text)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, (Py_ssize_t)i, text);
    }
    return names;
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

static void copy_column(const table *t, size_t column, char format, const struct ArrowArray *batch)
{
    const struct ArrowArray *from = batch->children[column];
    const void *validity = from->n_buffers > 0 ? from->buffers[0] : NULL;
    const void *values = from->n_buffers > 1 ? from->buffers[1] : NULL;
    const void *rows_validity = batch->n_buffers > 0 ? batch->buffers[0] : NULL;
    double *to = t->numbers + t->rows * t->columns + column;
    for (int64_t row = 0; row < batch->length; row++, to += t->columns) {
        int64_t in_batch = row + batch->offset, i = in_batch + from->offset;
        bool known = (!validity || bit_at(validity, i)) &&
                     (!rows_validity || bit_at(rows_validity, in_batch));
        *to = known && values ? value_at(values, format, i) : (double)NAN;
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
        copy_column(t, column, schema->children[column]->format[0], batch);
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
    Py_buffer view;
    PyObject *array = new_array((Py_ssize_t)t->rows, (Py_ssize_t)t->columns, &view);
    if (!array)
        return NULL;
    if (t->rows * t->columns > 0)
        memcpy(view.buf, t->numbers, t->rows * t->columns * sizeof *t->numbers);
    PyBuffer_Release(&view);
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
    PyObject *array = NULL, *names = read_names(&schema);
    table t = {.columns = names ? (size_t)schema.n_children : 0};
    if (names && read_batches(&t, stream, &schema))
        array = table_as_array(&t);
    PyMem_Free(t.numbers);
    schema.release(&schema);
    if (!array) {
        Py_XDECREF(names);
        return NULL;
    }
    return Py_BuildValue("NN", array, names);
}

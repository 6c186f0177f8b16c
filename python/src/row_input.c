/* Rows come as dicts, as lists and tuples of numbers, and as buffers of float64 or float32 with any
 * strides. Everything else that can become an array (a DataFrame, integers, a list of lists) goes
 * through rows_of in python/oif/_arrays.py once and comes back as one of these. */
#include "core.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory for a single row ---- */

static double *make_single(row_input *rows, Py_ssize_t columns)
{
    double *numbers = rows->few;
    if (columns > ROW_NUMBERS)
        numbers = rows->own = PyMem_Malloc((size_t)columns * sizeof *numbers);
    if (!numbers)
        PyErr_NoMemory();
    rows->single = true;
    rows->count = 1;
    rows->columns = columns;
    rows->data = (const char *)numbers;
    rows->row_stride = columns * (Py_ssize_t)sizeof *numbers;
    rows->column_stride = sizeof *numbers;
    rows->format = 'd';
    return numbers;
}

/* What converts a text that is a number; "" if it is none. */
static const char *conversion_of(PyObject *object)
{
    PyObject *number = PyUnicode_Check(object) ? PyFloat_FromString(object) : NULL;
    PyErr_Clear();
    Py_XDECREF(number);
    return number ? "; convert it with float(...)" : "";
}

/* None is a missing value, like NaN. */
static bool read_number(PyObject *object, double *number, Py_ssize_t column, PyObject *name)
{
    *number = object == Py_None ? (double)NAN : PyFloat_AsDouble(object);
    if (*number != -1 || !PyErr_Occurred())
        return true;
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        raise_data_error(OIF_CAUSE_INFINITE_VALUE, 0, column,
                         "the number in column %zd is too large for a float", column);
    } else if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        if (name)
            raise_data_error(OIF_CAUSE_NOT_A_NUMBER, 0, column, "%R is not a number in column %R%s",
                             object, name, conversion_of(object));
        else
            raise_data_error(OIF_CAUSE_NOT_A_NUMBER, 0, column,
                             "%R is not a number in column %zd%s", object, column,
                             conversion_of(object));
    }
    return false;
}

/* ---- Dicts ---- */

static void raise_unknown(PyObject *dict, PyObject *names)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        int known = PySequence_Contains(names, key);
        if (known == 0)
            raise_data_error(OIF_CAUSE_UNKNOWN_COLUMN, 0, -1,
                             "there is no column %R; the columns are %R; ignore_unknown=True "
                             "leaves others out, add_columns of a Pipeline adds them",
                             key, names);
        if (known != 1)
            return;
    }
}

/* Reads plain numbers as long as the keys are the same objects as the names, in order, as in dicts
 * from one place in a program; returns how many. No key is looked up, and no user code runs that
 * might change the dict. */
static Py_ssize_t read_in_order(PyObject *dict, PyObject *names, Py_ssize_t columns,
                                double *numbers)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;
    for (; i < columns && PyDict_Next(dict, &at, &key, &value); i++) {
        bool is_float = PyFloat_CheckExact(value);
        if (key != PyTuple_GetItem(names, i) || (!is_float && !PyLong_CheckExact(value)))
            break;
        numbers[i] = is_float ? PyFloat_AsDouble(value) : PyLong_AsDouble(value);
        if (numbers[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear(); /* the later lookup raises it */
            break;
        }
    }
    return i;
}

static bool read_known(row_input *rows, PyObject *dict, PyObject *names, bool ignore_unknown)
{
    Py_ssize_t columns = PyTuple_Size(names);
    double *numbers = make_single(rows, columns);
    if (!numbers)
        return false;
    Py_ssize_t found = read_in_order(dict, names, columns, numbers);
    for (Py_ssize_t i = found; i < columns; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject *value = PyDict_GetItemWithError(dict, name);
        if (!value && PyErr_Occurred())
            return false;
        found += value != NULL;
        Py_XINCREF(value);
        bool read = read_number(value ? value : Py_None, &numbers[i], i, name);
        Py_XDECREF(value);
        if (!read)
            return false;
    }
    if (found == PyDict_Size(dict) || ignore_unknown)
        return true;
    raise_unknown(dict, names);
    return false;
}

/* The first dict names the columns. */
static bool read_dict(row_input *rows, PyObject *dict, const expected_rows *expected)
{
    rows->by_name = true;
    if (expected->names)
        return read_known(rows, dict, expected->names, expected->ignore_unknown);
    PyObject *keys = PyDict_Keys(dict);
    rows->names = keys ? PySequence_Tuple(keys) : NULL;
    Py_XDECREF(keys);
    return rows->names && read_known(rows, dict, rows->names, false);
}

/* ---- Lists and tuples ---- */

/* Whether the object is a list or a tuple that starts with a number: one row, not several. */
static bool is_row(PyObject *x)
{
    bool list = PyList_Check(x);
    if (!list && !PyTuple_Check(x))
        return false;
    if ((list ? PyList_Size(x) : PyTuple_Size(x)) == 0)
        return false;
    PyObject *first = list ? PyList_GetItem(x, 0) : PyTuple_GetItem(x, 0);
    return PyFloat_Check(first) || PyLong_Check(first) || first == Py_None;
}

static bool read_sequence(row_input *rows, PyObject *x)
{
    bool list = PyList_Check(x);
    Py_ssize_t columns = list ? PyList_Size(x) : PyTuple_Size(x);
    double *numbers = make_single(rows, columns);
    for (Py_ssize_t i = 0; numbers && i < columns; i++) {
        PyObject *item = list ? PyList_GetItem(x, i) : PyTuple_GetItem(x, i);
        if (!item)
            return false; /* the list got shorter meanwhile */
        Py_INCREF(item);
        bool read = read_number(item, &numbers[i], i, NULL);
        Py_DECREF(item);
        if (!read)
            return false;
    }
    return numbers != NULL;
}

/* ---- Buffers ---- */

static bool is_native_float(const array_view *view)
{
    return view->kind == 'f' &&
           (view->item_bytes == sizeof(double) || view->item_bytes == sizeof(float));
}

static bool shape_rows(row_input *rows)
{
    const array_view *view = &rows->view;
    int last = view->dimensions - 1;
    if (last != 0 && last != 1) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1,
                         "rows are an array of 2 dimensions, or 1 for a single row, not %d",
                         view->dimensions);
        return false;
    }
    rows->single = last == 0;
    rows->count = rows->single ? 1 : view->shape[0];
    rows->columns = view->shape[last];
    rows->data = view->data;
    rows->column_stride = view->strides[last];
    rows->row_stride = rows->single ? rows->columns * view->item_bytes : view->strides[0];
    rows->format = view->item_bytes == sizeof(double) ? 'd' : 'f';
    return true;
}

/* Views an array if it contains floats: 1 if so, 0 if not, -1 with an exception set. */
static int read_array(row_input *rows, PyObject *array)
{
    if (!array_view_get(&rows->view, array)) {
        PyErr_Clear(); /* the conversion has a better message */
        return 0;
    }
    if (!is_native_float(&rows->view)) {
        array_view_release(&rows->view);
        return 0;
    }
    rows->has_view = true;
    return shape_rows(rows) ? 1 : -1;
}

/* 1: read, 0: neither an array nor a buffer of floats, -1: an exception is set. */
static int read_buffer(row_input *rows, PyObject *x)
{
    if (is_plain_array(x))
        return read_array(rows, x);
    if (PyObject_HasAttrString(x, "mask")) /* not all its numbers are valid */
        return 0;
    if (is_array(x))
        return read_array(rows, x);
    PyObject *array = array_of_buffer(x);
    if (!array) {
        PyErr_Clear();
        return 0;
    }
    int read = read_array(rows, array);
    Py_DECREF(array);
    return read;
}

/* ---- Everything else ---- */

/* 1: read, 0: not usable, -1: an exception is set. */
static int read_plain(row_input *rows, PyObject *x, const expected_rows *expected)
{
    if (PyDict_Check(x))
        return read_dict(rows, x, expected) ? 1 : -1;
    if (is_row(x))
        return read_sequence(rows, x) ? 1 : -1;
    return read_buffer(rows, x);
}

/* Converts it to an array in Python, possibly with names. */
static int read_converted(row_input *rows, PyObject *x, const expected_rows *expected,
                          rows_wanted wanted)
{
    static PyObject *convert; /* oif._arrays.rows_of */
    if (!convert) {
        PyObject *module = PyImport_ImportModule("oif._arrays");
        convert = module ? PyObject_GetAttrString(module, "rows_of") : NULL;
        Py_XDECREF(module);
        if (!convert)
            return -1;
    }
    PyObject *pair =
        PyObject_CallFunction(convert, "OOOnO", x, expected->names ? expected->names : Py_None,
                              expected->ignore_unknown ? Py_True : Py_False, expected->columns,
                              wanted == ONE_ROW ? Py_True : Py_False);
    if (!pair)
        return -1;
    int read = -1;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2)
        PyErr_SetString(PyExc_SystemError, "rows_of did not return a pair");
    else {
        read = read_plain(rows, PyTuple_GetItem(pair, 0), expected);
        PyObject *names = PyTuple_GetItem(pair, 1);
        if (read == 1 && names != Py_None && !rows->names)
            rows->names = Py_NewRef(names);
    }
    Py_DECREF(pair);
    return read;
}

static bool check_columns(const row_input *rows, const expected_rows *expected)
{
    if (rows->columns == 0 && rows->count > 0) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "a row needs at least one number");
        return false;
    }
    if (expected->columns == 0 || rows->columns == expected->columns)
        return true;
    raise_data_error(cause_of_count(rows->columns, expected->columns), -1, -1,
                     "expected rows of %zd columns, not %zd", expected->columns, rows->columns);
    return false;
}

/* Numbers in one dimension become rows of one number each, or are rejected if they could also be
 * one row. */
static bool settle_dimension(row_input *rows, const expected_rows *expected, rows_wanted wanted)
{
    Py_ssize_t columns = expected->columns;
    if (columns == 0 && expected->names)
        columns = PyTuple_Size(expected->names);
    if (!rows->single || rows->by_name || wanted == ONE_ROW)
        return true;
    if (wanted == SOME_ROWS && columns == 0 && rows->has_view && rows->columns > 1) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1,
                         "an array of 1 dimension is a row or a series; for a series of %zd rows "
                         "use reshape(-1, 1), for one row of %zd numbers reshape(1, -1) or a "
                         "method for one row, such as learn_one",
                         rows->columns, rows->columns);
        return false;
    }
    if ((columns == 1 && rows->columns > 1) || (columns <= 1 && wanted == SERIES)) {
        rows->count = rows->columns;
        rows->columns = 1;
        rows->row_stride = rows->column_stride;
        rows->single = false;
    }
    return true;
}

static bool read_rows(row_input *rows, PyObject *x, const expected_rows *expected,
                      rows_wanted wanted)
{
    int read = read_plain(rows, x, expected);
    if (read == 0)
        read = read_converted(rows, x, expected, wanted);
    if (read == 0)
        PyErr_Format(PyExc_TypeError, "%R cannot be read as rows of numbers",
                     (PyObject *)Py_TYPE(x));
    if (read != 1)
        return false;
    if (wanted == ONE_ROW && !rows->single) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "expected a single row, got a 2-D array");
        return false;
    }
    return settle_dimension(rows, expected, wanted) && check_columns(rows, expected);
}

bool row_input_read(row_input *rows, PyObject *x, const expected_rows *expected, rows_wanted wanted)
{
    rows->by_name = false;
    rows->names = NULL;
    rows->has_view = false;
    rows->own = NULL;
    /* reading runs Python code, which may replace the names */
    PyObject *names = Py_XNewRef(expected->names);
    bool read = read_rows(rows, x, expected, wanted);
    Py_XDECREF(names);
    return read;
}

void row_input_free(row_input *rows)
{
    if (rows->has_view)
        array_view_release(&rows->view);
    rows->has_view = false;
    PyMem_Free(rows->own);
    Py_XDECREF(rows->names);
}

/* ---- Numbers ---- */

static double number_at(const char *data, char format)
{
    double number;
    float narrow;
    if (format == 'd') {
        memcpy(&number, data, sizeof number); /* may be unaligned */
        return number;
    }
    memcpy(&narrow, data, sizeof narrow);
    return (double)narrow;
}

bool row_input_in_place(const row_input *rows, size_t *stride)
{
    Py_ssize_t size = sizeof(double);
    bool row_ok = rows->count == 1 ||
                  (rows->row_stride % size == 0 && rows->row_stride / size >= rows->columns);
    if (rows->format != 'd' || (rows->column_stride != size && rows->columns != 1) || !row_ok ||
        (uintptr_t)rows->data % sizeof(double) != 0)
        return false;
    *stride = (size_t)(rows->count == 1 ? rows->columns : rows->row_stride / size);
    return true;
}

void row_input_copy(const row_input *rows, Py_ssize_t first, Py_ssize_t count, double *to)
{
    for (Py_ssize_t i = first; i < first + count; i++)
        for (Py_ssize_t j = 0; j < rows->columns; j++)
            *to++ = number_at(rows->data + i * rows->row_stride + j * rows->column_stride,
                              rows->format);
}

const double *row_input_at(const row_input *rows, Py_ssize_t i, double *copy)
{
    const char *data = rows->data + i * rows->row_stride;
    if (rows->format == 'd' && rows->column_stride == sizeof(double) &&
        (uintptr_t)data % sizeof(double) == 0)
        return (const double *)(const void *)data;
    row_input_copy(rows, i, 1, copy);
    return copy;
}

/* Whether there is an infinity, in four lanes that compilers vectorise. A NaN compares false. */
static bool has_infinity(const double *numbers, Py_ssize_t count)
{
    double greatest[4] = {0, 0, 0, 0};
    Py_ssize_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int lane = 0; lane < 4; lane++) {
            double size = fabs(numbers[i + lane]);
            greatest[lane] = size > greatest[lane] ? size : greatest[lane];
        }
    bool is_found = false;
    for (; i < count; i++)
        is_found |= fabs(numbers[i]) > DBL_MAX;
    for (int lane = 0; lane < 4; lane++)
        is_found |= greatest[lane] > DBL_MAX;
    return is_found;
}

/* Returns a row with no infinity before it. Contiguous rows are checked many at a time: 1.0% of the
 * instructions of learn_score at d = 9; number by number it would be 1.9%. */
static Py_ssize_t skip_finite_rows(const row_input *rows)
{
    enum { NUMBERS = 4096 };
    size_t stride;
    if (!row_input_in_place(rows, &stride) || stride != (size_t)rows->columns)
        return 0;
    const double *numbers = (const double *)(const void *)rows->data;
    Py_ssize_t left = rows->count * rows->columns;
    while (left > 0) {
        Py_ssize_t some = left < NUMBERS ? left : NUMBERS;
        if (has_infinity(numbers, some))
            break;
        numbers += some;
        left -= some;
    }
    return rows->count - (left + rows->columns - 1) / rows->columns;
}

bool row_input_find_infinity(const row_input *rows, Py_ssize_t *row, Py_ssize_t *column)
{
    for (Py_ssize_t i = skip_finite_rows(rows); i < rows->count; i++)
        for (Py_ssize_t j = 0; j < rows->columns; j++)
            if (isinf(number_at(rows->data + i * rows->row_stride + j * rows->column_stride,
                                rows->format))) {
                *row = i;
                *column = j;
                return true;
            }
    return false;
}

PyObject *raise_infinity(Py_ssize_t row, Py_ssize_t column, bool single, PyObject *names)
{
    const char *advice = "is infinite; use NaN for a missing number";
    PyObject *name = names ? PyTuple_GetItem(names, column) : NULL;
    if (names && !name)
        PyErr_Clear();
    if (single)
        return name ? raise_data_error(OIF_CAUSE_INFINITE_VALUE, 0, column,
                                       "the number of column %R %s", name, advice)
                    : raise_data_error(OIF_CAUSE_INFINITE_VALUE, 0, column,
                                       "the number of column %zd %s", column, advice);
    return name ? raise_data_error(OIF_CAUSE_INFINITE_VALUE, row, column,
                                   "the number of row %zd, column %R %s", row, name, advice)
                : raise_data_error(OIF_CAUSE_INFINITE_VALUE, row, column,
                                   "the number of row %zd, column %zd %s", row, column, advice);
}

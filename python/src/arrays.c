/* NumPy arrays, for rows and results. The extension uses neither NumPy's C API nor Python's
 * buffers, which the limited API has only since 3.11. Instead, an array describes itself by its
 * attribute __array_struct__,
 * https://numpy.org/doc/stable/reference/arrays.interface.html#c-struct-access. The structure is in
 * a capsule, which keeps the array alive. With NumPy that is as fast as a buffer.
 *
 * NumPy makes structure and capsule for each request: 765 of the 1,797 instructions of a call. So
 * plain arrays of float64 are read from the fields of the object itself, as programs that are
 * compiled with NumPy's headers do, once a first array has shown that both ways agree. */
#include "core.h"

#include <string.h>

/* Laid out as on that page. */
typedef struct array_struct {
    int two; /* the number 2 */
    int dimensions;
    char kind; /* 'f' for floats */
    int item_bytes;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} array_struct;

enum { NOT_SWAPPED = 0x200 };

/* How an array begins: PyArrayObject_fields of NumPy's ndarraytypes.h, versions 1 and 2. */
typedef struct array_fields {
    PyObject_HEAD char *data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
} array_fields;

/* An attribute of the module numpy, looked up once; NULL with an exception set. */
static PyObject *from_numpy(const char *name, PyObject **found)
{
    if (*found)
        return *found;
    PyObject *numpy = PyImport_ImportModule("numpy");
    *found = numpy ? PyObject_GetAttrString(numpy, name) : NULL;
    Py_XDECREF(numpy);
    return *found;
}

/* ---- Views ---- */

static PyTypeObject *array_type(void)
{
    static PyObject *type;
    if (!from_numpy("ndarray", &type))
        PyErr_Clear();
    return (PyTypeObject *)type;
}

bool is_array(PyObject *x)
{
    PyTypeObject *type = array_type();
    return type && PyObject_TypeCheck(x, type);
}

bool is_plain_array(PyObject *x)
{
    return Py_TYPE(x) == array_type();
}

static bool view_struct(array_view *view, PyObject *array)
{
    static PyObject *attribute;
    if (!attribute && !(attribute = PyUnicode_InternFromString("__array_struct__")))
        return false;
    PyObject *capsule = PyObject_GetAttr(array, attribute);
    array_struct *found = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    if (found && found->two != 2) {
        PyErr_SetString(PyExc_ValueError, "__array_struct__ is not what NumPy documents");
        found = NULL;
    }
    if (!found) {
        Py_XDECREF(capsule);
        return false;
    }
    *view = (array_view){.owner = capsule,
                         .data = found->data,
                         .dimensions = found->dimensions,
                         .shape = found->shape,
                         .strides = found->strides,
                         .item_bytes = found->item_bytes,
                         .kind = found->flags & NOT_SWAPPED ? found->kind : '\0'};
    return true;
}

static array_view view_fields(PyObject *array)
{
    const array_fields *fields = (const array_fields *)array;
    return (array_view){.owner = Py_NewRef(array),
                        .data = fields->data,
                        .dimensions = fields->dimensions,
                        .shape = fields->shape,
                        .strides = fields->strides,
                        .item_bytes = sizeof(double),
                        .kind = 'f'};
}

/* Whether the fields of an array of two dimensions say what its __array_struct__ says. */
static bool fields_agree(PyObject *array)
{
    array_view told;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    const array_fields *fields = (const array_fields *)array;
    bool agree = dtype && view_struct(&told, array);
    if (agree) {
        agree = fields->data == told.data && fields->dimensions == 2 &&
                memcmp(fields->shape, told.shape, 2 * sizeof *told.shape) == 0 &&
                memcmp(fields->strides, told.strides, 2 * sizeof *told.strides) == 0 &&
                fields->dtype == dtype;
        array_view_release(&told);
    }
    Py_XDECREF(dtype);
    return agree;
}

/* The dtype of plain arrays of float64 if their fields can be read, else NULL. */
static PyObject *readable_dtype(void)
{
    static PyObject *dtype;
    static bool tried;
    if (tried)
        return dtype;
    tried = true;
    static PyObject *empty;
    PyObject *array = from_numpy("empty", &empty)
                          ? PyObject_CallFunction(empty, "((ii)ss)", 3, 5, "d", "F")
                          : NULL;
    if (array && is_plain_array(array) && fields_agree(array))
        dtype = PyObject_GetAttrString(array, "dtype");
    Py_XDECREF(array);
    PyErr_Clear();
    return dtype;
}

bool array_view_get(array_view *view, PyObject *array)
{
    PyObject *dtype = is_plain_array(array) ? readable_dtype() : NULL;
    if (!dtype || ((const array_fields *)array)->dtype != dtype)
        return view_struct(view, array);
    *view = view_fields(array);
    return true;
}

void array_view_release(array_view *view)
{
    Py_CLEAR(view->owner);
}

/* ---- From and to arrays ---- */

PyObject *array_of_buffer(PyObject *x)
{
    static PyObject *convert;
    PyObject *memory = PyMemoryView_FromObject(x), *array = NULL;
    if (memory && from_numpy("asarray", &convert))
        array = PyObject_CallFunctionObjArgs(convert, memory, NULL);
    Py_XDECREF(memory);
    return array;
}

PyObject *new_array(Py_ssize_t count, Py_ssize_t columns, array_view *view)
{
    static PyObject *empty;
    if (!from_numpy("empty", &empty))
        return NULL;
    PyObject *array = columns < 0 ? PyObject_CallFunction(empty, "n", count)
                                  : PyObject_CallFunction(empty, "((nn))", count, columns);
    if (array && !array_view_get(view, array))
        Py_CLEAR(array);
    return array;
}

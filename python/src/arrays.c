/* NumPy arrays, for rows and results. The extension uses neither NumPy's C API nor Python's
 * buffers, which the limited API has only since 3.11. Instead, an array describes itself by its
 * attribute __array_struct__,
 * https://numpy.org/doc/stable/reference/arrays.interface.html#c-struct-access. The structure is in
 * a capsule, which keeps the array alive. With NumPy that is as fast as a buffer. */
#include "core.h"

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

bool array_view_get(array_view *view, PyObject *array)
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
    *view = (array_view){.capsule = capsule,
                         .data = found->data,
                         .dimensions = found->dimensions,
                         .shape = found->shape,
                         .strides = found->strides,
                         .item_bytes = found->item_bytes,
                         .kind = found->flags & NOT_SWAPPED ? found->kind : '\0'};
    return true;
}

void array_view_release(array_view *view)
{
    Py_CLEAR(view->capsule);
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

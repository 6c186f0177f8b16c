/* Arrays for results. NumPy makes them, through Python, so the extension does not depend on
 * NumPy's C interface. */
#include "core.h"

PyObject *new_array(Py_ssize_t count, Py_ssize_t columns, Py_buffer *view)
{
    static PyObject *empty; /* numpy.empty */
    if (!empty) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
        Py_XDECREF(numpy);
        if (!empty)
            return NULL;
    }
    PyObject *array = columns < 0 ? PyObject_CallFunction(empty, "n", count)
                                  : PyObject_CallFunction(empty, "((nn))", count, columns);
    if (array && PyObject_GetBuffer(array, view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0)
        Py_CLEAR(array);
    return array;
}

/* Text and bytes, with what the limited API had before 3.10. */
#include "core.h"

const char *text_read(PyObject *object, Py_ssize_t *count)
{
    /* PyUnicode_AsUTF8AndSize finds the same bytes, but is in the limited API only since 3.10. */
    const char *text;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "expected a str, not %R", (PyObject *)Py_TYPE(object));
        return NULL;
    }
    if (count)
        return PyArg_Parse(object, "s#", &text, count) ? text : NULL;
    return PyArg_Parse(object, "s", &text) ? text : NULL;
}

PyObject *bytes_of(PyObject *object)
{
    if (PyBytes_Check(object))
        return Py_NewRef(object);
    /* via a memoryview, because PyBytes_FromObject would accept lists of numbers */
    PyObject *view = PyMemoryView_FromObject(object);
    PyObject *bytes = view ? PyBytes_FromObject(view) : NULL;
    Py_XDECREF(view);
    return bytes;
}

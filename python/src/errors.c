/* Raises the exceptions of the package. The classes are in Python: python/oif/_errors.py. */
#include "core.h"

#include <stdarg.h>
#include <string.h>

static PyObject *errors_function(const char *name)
{
    PyObject *module = PyImport_ImportModule("oif._errors");
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return function;
}

/* Raises the exception created by a call, unless that call failed. */
static void raise_made(PyObject *exception)
{
    if (exception)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
}

PyObject *raise_error(const oif_error *error)
{
    /* A message may end within a character, or quote bytes that are none. */
    PyObject *message =
        PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace");
    PyObject *make = message ? errors_function("from_status") : NULL;
    if (make)
        raise_made(PyObject_CallFunction(
            make, "iOKKsi", (int)error->status, message, (unsigned long long)error->line,
            (unsigned long long)error->column, oif_cause_name(error->cause), error->system_errno));
    Py_XDECREF(make);
    Py_XDECREF(message);
    return NULL;
}

PyObject *raise_data_error(oif_cause cause, Py_ssize_t row, Py_ssize_t column, const char *format,
                           ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *message = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    PyObject *make = message ? errors_function("from_place") : NULL;
    if (make)
        raise_made(
            PyObject_CallFunction(make, "Onns", message, row, column, oif_cause_name(cause)));
    Py_XDECREF(make);
    Py_XDECREF(message);
    return NULL;
}

#include "core.h"

#include <stdarg.h>

/* ---- Errors: the classes are Python's, see python/oif/_errors.py ---- */

static PyObject *errors_function(const char *name)
{
    PyObject *module = PyImport_ImportModule("oif._errors");
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return function;
}

/* Raises the exception that a call made, unless the call itself failed. */
static void raise_made(PyObject *exception)
{
    if (exception)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
}

PyObject *raise_error(const oif_error *error)
{
    PyObject *make = errors_function("from_status");
    if (make)
        raise_made(PyObject_CallFunction(make, "isKK", (int)error->status, error->message,
                                         (unsigned long long)error->line,
                                         (unsigned long long)error->column));
    Py_XDECREF(make);
    return NULL;
}

PyObject *raise_data_error(Py_ssize_t row, Py_ssize_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *message = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    PyObject *make = message ? errors_function("from_place") : NULL;
    if (make)
        raise_made(PyObject_CallFunction(make, "Onn", message, row, column));
    Py_XDECREF(make);
    Py_XDECREF(message);
    return NULL;
}

void raise_column_type(Py_ssize_t column, const char *name, const char *holds)
{
    PyObject *make = errors_function("from_column");
    PyObject *message =
        make
            ? PyUnicode_FromFormat("column '%s' holds no numbers but %s; leave it out", name, holds)
            : NULL;
    if (message)
        raise_made(PyObject_CallFunction(make, "On", message, column));
    Py_XDECREF(make);
    Py_XDECREF(message);
}

/* ---- Arrays ---- */

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

/* ---- The module ---- */

static PyObject *detector_infos(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const oif_detector_info *info;
    for (size_t i = 0; list && (info = oif_detector_info_at(i)); i++) {
        PyObject *dict = info_as_dict(info);
        if (!dict || PyList_Append(list, dict) < 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

static PyObject *pipeline_info(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    oif_params options;
    oif_pipeline_options_init(&options);
    return info_as_dict(options.info);
}

static PyMethodDef functions[] = {
    {"detector_infos", detector_infos, METH_NOARGS,
     "detector_infos()\n--\n\nThe kinds of detectors and their parameters, as the library lists "
     "them."},
    {"pipeline_info", pipeline_info, METH_NOARGS,
     "pipeline_info()\n--\n\nThe options of pipelines, as the library lists them."},
    {"arrow_rows", arrow_rows, METH_O,
     "arrow_rows(stream, /)\n--\n\nThe array and the column names behind the capsule of an Arrow "
     "stream."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_core",      .m_doc = "The C library; use oif instead.",
    .m_size = -1,          .m_methods = functions,
};

/* Adds a type to the module, derived from `base` unless that is NULL; returns it, or NULL with
 * an exception set. */
static PyObject *add_type(PyObject *module, PyType_Spec *spec, PyObject *base)
{
    PyObject *type = PyType_FromSpecWithBases(spec, base);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    Py_XDECREF(type); /* the module has it */
    return type;
}

PyTypeObject *detector_type;

static bool add_types(PyObject *module)
{
    PyObject *base = add_type(module, &learner_spec, NULL);
    detector_type = base ? (PyTypeObject *)add_type(module, &detector_spec, base) : NULL;
    Py_XINCREF((PyObject *)detector_type);
    return detector_type && add_type(module, &pipeline_spec, base);
}

PyMODINIT_FUNC PyInit__core(void); /* the compiler wants to have seen it */

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && add_types(module) &&
        PyModule_AddStringConstant(module, "version", oif_version()) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}

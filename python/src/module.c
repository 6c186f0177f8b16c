/* The module oif._core: its functions and types. */
#include "core.h"

#include "oif_rows.h"

#include <string.h>

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

static PyObject *detector_params(PyObject *module, PyObject *name)
{
    oif_params params;
    oif_error error;
    const char *text = text_read(name, NULL);
    (void)module;
    if (!text)
        return NULL;
    if (oif_params_init(&params, text, &error) == OIF_OK)
        return params_as_dict(&params);
    raise_error(&error);
    return NULL;
}

static PyObject *pipeline_info(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    oif_params options;
    oif_pipeline_options_init(&options);
    return table_as_dict(options.table);
}

static PyObject *category(PyObject *module, PyObject *text)
{
    (void)module;
    Py_ssize_t bytes;
    const char *utf8 = text_read(text, &bytes);
    return utf8 ? PyFloat_FromDouble(oif_category(utf8, (size_t)bytes)) : NULL;
}

/* A format that has read a number knows its unit. */
static PyObject *time_units(PyObject *module, PyObject *number)
{
    (void)module;
    char text[OIF_NUMBER_TEXT_BYTES];
    oif_time_format format = {.per_second = 0};
    double value = PyFloat_AsDouble(number), seconds;
    if (value == -1 && PyErr_Occurred())
        return NULL;
    (void)!oif_time_parse(&format, text, oif_number_format(value, text), &seconds, NULL);
    return PyFloat_FromDouble(format.per_second);
}

static PyMethodDef functions[] = {
    {"detector_infos", detector_infos, METH_NOARGS,
     "detector_infos()\n--\n\nThe kinds of detectors and their parameters, as the library lists "
     "them."},
    {"detector_params", detector_params, METH_O,
     "detector_params(name, /)\n--\n\nThe parameters of a detector, or of a list of detectors that "
     "judge together, and their initial values."},
    {"pipeline_info", pipeline_info, METH_NOARGS,
     "pipeline_info()\n--\n\nThe options of pipelines, as the library lists them."},
    {"category", category, METH_O,
     "category(text, /)\n--\n\nThe number that stands for a text in a column of categories."},
    {"time_units", time_units, METH_O,
     "time_units(number, /)\n--\n\nThe units per second of a time since 1970, by its size; 0 if it "
     "is 0 or no time."},
    {"_set_result_type", set_result_type, METH_VARARGS,
     "_set_result_type(type, episodes, grades, reasons, /)\n--\n\n"},
    {"arrow_rows", arrow_rows, METH_O,
     "arrow_rows(stream, /)\n--\n\nThe array, the column names and the columns without numbers "
     "behind the capsule of an Arrow stream."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_core",      .m_doc = "The C library; use oif instead.",
    .m_size = -1,          .m_methods = functions,
};

/* Adds a type to the module, derived from `base` unless that is NULL; returns it, or NULL with an
 * exception set. */
static PyObject *add_type(PyObject *module, PyType_Spec *spec, PyObject *base)
{
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    PyObject *type = base && !bases ? NULL : PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    if (type && PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type) < 0)
        Py_CLEAR(type);
    return type; /* owned by the module */
}

static bool add_types(PyObject *module)
{
    PyObject *base = add_type(module, &learner_spec, NULL);
    detector_type = base ? (PyTypeObject *)add_type(module, &detector_spec, base) : NULL;
    Py_XINCREF((PyObject *)detector_type);
    return detector_type && add_type(module, &pipeline_spec, base) &&
           add_type(module, &incidents_spec, NULL);
}

PyMODINIT_FUNC PyInit__core(void); /* avoids a compiler warning */

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && add_types(module) &&
        PyModule_AddStringConstant(module, "version", oif_version()) == 0 &&
        PyModule_AddStringConstant(module, "default_detector", OIF_DEFAULT_DETECTOR) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}

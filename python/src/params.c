/* Parameters in Python: int, float or str by name. */
#include "core.h"

#include <string.h>

static PyObject *param_value(const oif_param *param, double value)
{
    if (param->type == OIF_PARAM_INTEGER)
        return PyLong_FromDouble(value);
    if (param->type == OIF_PARAM_CHOICE)
        return PyUnicode_FromString(param->choices[(size_t)value]);
    return PyFloat_FromDouble(value);
}

PyObject *params_as_dict(const oif_params *params)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < params->table->param_count; i++) {
        const oif_param *param = &params->table->params[i];
        PyObject *value = param_value(param, params->values[i]);
        if (!value || PyDict_SetItemString(dict, param->name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *params_as_proxy(const oif_params *params)
{
    PyObject *dict = params->table ? params_as_dict(params) : PyDict_New();
    PyObject *proxy = dict ? PyDictProxy_New(dict) : NULL;
    Py_XDECREF(dict);
    return proxy;
}

/* The parameter of that name; NULL if unknown. */
static const oif_param *find_param(const oif_param_table *table, const char *name)
{
    for (size_t i = 0; i < table->param_count; i++)
        if (strcmp(table->params[i].name, name) == 0)
            return &table->params[i];
    return NULL;
}

/* Sets a parameter whose value has the right type. Fails if the name is unknown. */
static bool set_checked(oif_params *params, const char *name, const oif_param *param,
                        PyObject *value)
{
    oif_error error;
    oif_status status;
    if (param && param->type == OIF_PARAM_CHOICE) {
        const char *text = text_read(value, NULL);
        if (!text)
            return false;
        status = oif_params_set_text(params, name, text, &error);
    } else {
        double number = param ? PyFloat_AsDouble(value) : 0;
        if (number == -1 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", name, value);
            return false;
        }
        status = oif_params_set(params, name, number, &error);
    }
    if (status != OIF_OK)
        raise_error(&error);
    return status == OIF_OK;
}

/* A choice takes a word, the others a number. Anything else is a mistake that a conversion to text
 * would hide. */
static bool set_param(oif_params *params, PyObject *key, PyObject *value)
{
    const char *name = PyUnicode_Check(key) ? text_read(key, NULL) : NULL;
    if (!name) {
        PyErr_SetString(PyExc_TypeError, "the names of parameters are strings");
        return false;
    }
    const oif_param *param = find_param(params->table, name);
    bool is_word = param && param->type == OIF_PARAM_CHOICE;
    if (param && is_word != PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a %s, not %R", name, is_word ? "word" : "number",
                     value);
        return false;
    }
    return set_checked(params, name, param, value);
}

bool params_set(oif_params *params, PyObject *values)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "the parameters must be a dict");
        return false;
    }
    while (PyDict_Next(values, &at, &key, &value))
        if (!set_param(params, key, value))
            return false;
    return true;
}

static PyObject *choices_as_tuple(const oif_param *param)
{
    if (param->type != OIF_PARAM_CHOICE)
        return Py_NewRef(Py_None);
    Py_ssize_t count = (Py_ssize_t)param->maximum + 1;
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *word = PyUnicode_FromString(param->choices[i]);
        if (!word)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, word);
    }
    return tuple;
}

static PyObject *param_as_dict(const oif_param *param)
{
    static const char *const types[] = {"integer", "real", "choice"};
    bool word = param->type == OIF_PARAM_CHOICE;
    PyObject *initial = param_value(param, param->initial);
    PyObject *minimum = word ? Py_NewRef(Py_None) : param_value(param, param->minimum);
    PyObject *maximum = word ? Py_NewRef(Py_None) : param_value(param, param->maximum);
    PyObject *choices = choices_as_tuple(param);
    PyObject *dict = NULL;
    if (initial && minimum && maximum && choices)
        dict = Py_BuildValue("{sssssssOsOsOsO}", "name", param->name, "help", param->help, "type",
                             types[param->type], "initial", initial, "minimum", minimum, "maximum",
                             maximum, "choices", choices);
    Py_XDECREF(initial);
    Py_XDECREF(minimum);
    Py_XDECREF(maximum);
    Py_XDECREF(choices);
    return dict;
}

static PyObject *params_as_list(const oif_param_table *table)
{
    PyObject *params = PyList_New(0);
    for (size_t i = 0; params && i < table->param_count; i++) {
        PyObject *param = param_as_dict(&table->params[i]);
        if (!param || PyList_Append(params, param) < 0)
            Py_CLEAR(params);
        Py_XDECREF(param);
    }
    return params;
}

PyObject *table_as_dict(const oif_param_table *table)
{
    PyObject *params = params_as_list(table);
    return params ? Py_BuildValue("{szszsN}", "name", table->name, "summary", table->summary,
                                  "params", params)
                  : NULL;
}

PyObject *info_as_dict(const oif_detector_info *info)
{
    PyObject *params = params_as_list(&info->table);
    return params ? Py_BuildValue("{szszszszszsN}", "name", info->table.name, "summary",
                                  info->table.summary, "paper", info->paper, "cost", info->cost,
                                  "choose", info->choose, "params", params)
                  : NULL;
}

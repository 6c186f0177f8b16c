/* The columns of a pipeline: what is derived from them, and more of them later. */
#include "core.h"

/* ---- Derived columns ---- */

/* The number of a column given by name or number; -1 with an exception set. */
static Py_ssize_t find_column(PyObject *column, PyObject *names)
{
    Py_ssize_t found = names ? PySequence_Index(names, column) : -1;
    if (found >= 0)
        return found;
    PyErr_Clear();
    if (PyLong_Check(column)) {
        Py_ssize_t number = PyLong_AsSsize_t(column);
        if (number >= 0 || PyErr_Occurred())
            return number;
    }
    PyErr_Format(PyExc_ValueError, "there is no column %R to derive from", column);
    return -1;
}

/* Lists them for the library, which takes all at once: one by one would recreate all models each
 * time. */
static bool list_derived(PyObject *derive, PyObject *names, Py_ssize_t count,
                         oif_derive_column *list)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *column;
        int kind, keep;
        if (!PyArg_ParseTuple(PyTuple_GetItem(derive, i), "Oip", &column, &kind, &keep))
            return false;
        Py_ssize_t number = find_column(column, names);
        if (number < 0)
            return false;
        list[i] = (oif_derive_column){(size_t)number, (oif_derive)kind, keep != 0};
    }
    return true;
}

bool pipeline_derive(const pipeline_object *self, PyObject *names)
{
    Py_ssize_t count = self->derive ? PyTuple_Size(self->derive) : 0;
    oif_derive_column *list = count > 0 ? PyMem_Malloc((size_t)count * sizeof *list) : NULL;
    oif_error error;
    if (count > 0 && !list) {
        PyErr_NoMemory();
        return false;
    }
    bool is_good = count == 0 || list_derived(self->derive, names, count, list);
    if (count > 0 && is_good &&
        oif_pipeline_derive_all(self->base.made, list, (size_t)count, &error) != OIF_OK) {
        raise_error(&error);
        is_good = false;
    }
    PyMem_Free(list);
    return is_good;
}

/* ---- Learned columns ---- */

/* [(column, kind), ...]: the learned columns; None before the first row. */
PyObject *pipeline_learned(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, false))
        return NULL;
    const oif_pipeline *made = self->base.made;
    size_t count = made ? oif_pipeline_learned_columns(made) : 0;
    PyObject *list = made ? PyList_New(0) : Py_NewRef(Py_None);
    for (size_t i = 0; list && i < count; i++) {
        oif_derive kind;
        size_t column = oif_pipeline_learned_from(made, i, &kind);
        PyObject *pair = Py_BuildValue("ns", (Py_ssize_t)column, oif_derive_word(kind));
        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    learner_leave(&self->base);
    return list;
}

/* ---- More columns ---- */

/* The names of all columns, or NULL if they have none; a new reference. */
static PyObject *join_names(const learner *base, PyObject *more)
{
    return base->names && more != Py_None ? PySequence_Concat(base->names, more) : NULL;
}

/* The library has no names meanwhile: of those of Python some may be no text. */
static bool add_columns(pipeline_object *self, Py_ssize_t count, PyObject *names, PyObject *derive)
{
    const Py_ssize_t derived = PyTuple_Size(derive);
    oif_derive_column *list = PyMem_Malloc((size_t)(derived + 1) * sizeof *list);
    oif_error error;
    if (!list) {
        PyErr_NoMemory();
        return false;
    }
    bool is_good = list_derived(derive, names, derived, list);
    oif_status status = oif_pipeline_name_columns(self->base.made, NULL, &error);
    if (is_good && status == OIF_OK)
        status = oif_pipeline_add_columns(self->base.made, (size_t)count, NULL, list,
                                          (size_t)derived, &error);
    PyMem_Free(list);
    if (is_good && status != OIF_OK)
        raise_error(&error);
    return is_good && status == OIF_OK;
}

/* Gives names to the library again, as rules may need them. */
static bool name_again(pipeline_object *self)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_CLEAR(self->named);
    const bool is_good = pipeline_name_columns(self, self->base.names);
    if (type)
        PyErr_Restore(type, value, trace);
    return is_good;
}

/* _add_columns(count, names or None, derive) */
PyObject *pipeline_add_columns(PyObject *object, PyObject *arguments)
{
    pipeline_object *self = (pipeline_object *)object;
    learner *base = &self->base;
    PyObject *more, *derive, *names;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "nOO!:_add_columns", &count, &more, &PyTuple_Type, &derive) ||
        !learner_enter(base, true))
        return NULL;
    names = join_names(base, more);
    bool is_good = !PyErr_Occurred() && base->made && add_columns(self, count, names, derive);
    if (is_good && names) {
        PyObject *old = base->names;
        base->names = Py_NewRef(names);
        Py_XDECREF(old);
    }
    is_good = base->made && name_again(self) && is_good;
    Py_XDECREF(names);
    learner_leave(base);
    if (!base->made && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError,
                        "no row was processed yet: the first one has the columns");
    return is_good ? Py_NewRef(Py_None) : NULL;
}

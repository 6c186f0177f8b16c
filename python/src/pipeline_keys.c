/* The keys of a pipeline: reading keys, finding one, episodes, seasons and silence. */
#include "core.h"

/* ---- Reading ---- */

bool key_read(PyObject *object, row_key *k, Py_ssize_t row)
{
    *k = (row_key){NULL, 0};
    if (object == Py_None)
        return true;
    if (PyUnicode_Check(object)) {
        k->bytes = text_read(object, &k->count);
    } else if (PyBytes_Check(object)) {
        char *bytes;
        if (PyBytes_AsStringAndSize(object, &bytes, &k->count) == 0)
            k->bytes = bytes;
    } else {
        PyErr_Format(PyExc_TypeError, "a key is a str or bytes, not %R", object);
    }
    if (k->bytes && k->count > OIF_KEY_MAX_BYTES)
        raise_data_error(OIF_CAUSE_KEY_TOO_LONG, row, -1, "a key of %zd bytes is too long",
                         k->count);
    return k->bytes && k->count <= OIF_KEY_MAX_BYTES;
}

/* The keys of all rows, owned by the objects in the tuple. NULL with an exception set. */
row_key *key_read_all(PyObject *tuple, Py_ssize_t count)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "there must be a key for each of the %zd rows",
                         count);
        return NULL;
    }
    row_key *keys = PyMem_Malloc((size_t)(count + 1) * sizeof *keys);
    if (!keys)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; keys && i < count; i++)
        if (!key_read(PyTuple_GetItem(tuple, i), &keys[i], i)) {
            PyMem_Free(keys);
            return NULL;
        }
    return keys;
}

/* ---- Finding, removing, moving ---- */

/* (key or None, rows, last time, bytes, is ready, is in an episode, is silent, is evicted) */
static PyObject *key_tuple(const oif_key_info *info)
{
    return Py_BuildValue("y#KdnNNNN", info->key, (Py_ssize_t)info->key_bytes,
                         (unsigned long long)info->rows, info->last_seconds,
                         (Py_ssize_t)info->memory_bytes, PyBool_FromLong(info->is_ready),
                         PyBool_FromLong(info->is_in_episode), PyBool_FromLong(info->is_silent),
                         PyBool_FromLong(info->is_evicted));
}

PyObject *pipeline_key_infos(PyObject *object, PyObject *unused)
{
    (void)unused;
    learner *base = &((pipeline_object *)object)->base;
    PyObject *list = PyList_New(0);
    if (!list || !learner_enter(base, false)) {
        Py_XDECREF(list);
        return NULL;
    }
    size_t position = 0;
    oif_key_info info;
    while (list && base->made && oif_pipeline_next_key(base->made, &position, &info)) {
        PyObject *tuple = key_tuple(&info);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    learner_leave(base);
    return list;
}

PyObject *pipeline_key_info(PyObject *object, PyObject *argument)
{
    learner *base = &((pipeline_object *)object)->base;
    row_key its_key;
    oif_key_info info;
    if (!key_read(argument, &its_key, -1) || !learner_enter(base, false))
        return NULL;
    PyObject *tuple = NULL;
    if (base->made && oif_pipeline_key(base->made, its_key.bytes, (size_t)its_key.count, &info))
        tuple = key_tuple(&info);
    else
        tuple = Py_NewRef(Py_None);
    learner_leave(base);
    return tuple;
}

/* False with an exception set if there is no row yet, hence no key. */
static bool has_keys(const learner *base)
{
    if (!base->made)
        raise_data_error(OIF_CAUSE_UNKNOWN_KEY, -1, -1,
                         "there is no such key: no row was processed yet");
    return base->made != NULL;
}

PyObject *pipeline_remove_key(PyObject *object, PyObject *argument)
{
    learner *base = &((pipeline_object *)object)->base;
    row_key its_key;
    oif_error error;
    if (!key_read(argument, &its_key, -1) || !learner_enter(base, true))
        return NULL;
    bool good = has_keys(base);
    if (good && oif_pipeline_remove_key(base->made, its_key.bytes, (size_t)its_key.count, &error) !=
                    OIF_OK) {
        raise_error(&error);
        good = false;
    }
    learner_leave(base);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* The snapshot of a key as bytes; NULL with an exception set. */
static PyObject *key_as_bytes(const oif_pipeline *pipeline, const row_key *k)
{
    oif_error error;
    size_t count;
    if (oif_pipeline_key_snapshot_bytes(pipeline, k->bytes, (size_t)k->count, &count, &error) !=
        OIF_OK)
        return raise_error(&error);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
    if (bytes && oif_pipeline_save_key_memory(pipeline, k->bytes, (size_t)k->count,
                                              PyBytes_AsString(bytes), count, &error) != OIF_OK) {
        Py_CLEAR(bytes);
        raise_error(&error);
    }
    return bytes;
}

PyObject *pipeline_save_key(PyObject *object, PyObject *argument)
{
    learner *base = &((pipeline_object *)object)->base;
    row_key its_key;
    if (!key_read(argument, &its_key, -1) || !learner_enter(base, false))
        return NULL;
    PyObject *bytes = has_keys(base) ? key_as_bytes(base->made, &its_key) : NULL;
    learner_leave(base);
    return bytes;
}

/* _load_key(snapshot, as or None), into a pipeline that has processed rows */
PyObject *pipeline_load_key(PyObject *object, PyObject *arguments)
{
    learner *base = &((pipeline_object *)object)->base;
    PyObject *snapshot, *as, *bytes;
    row_key its_key;
    oif_error error;
    if (!PyArg_ParseTuple(arguments, "OO:_load_key", &snapshot, &as) ||
        !key_read(as, &its_key, -1) || !(bytes = bytes_of(snapshot)))
        return NULL;
    bool good = learner_enter(base, true);
    if (good) {
        if (!base->made) {
            raise_data_error(OIF_CAUSE_NONE, -1, -1,
                             "the number of columns is not known yet: process a row first");
            good = false;
        } else if (oif_pipeline_load_key_memory(base->made, PyBytes_AsString(bytes),
                                                (size_t)PyBytes_Size(bytes), its_key.bytes,
                                                (size_t)its_key.count, NULL, &error) != OIF_OK) {
            raise_error(&error);
            good = false;
        }
        learner_leave(base);
    }
    Py_DECREF(bytes);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- Detectors of keys ---- */

/* _detector_of(key, fresh): copies the key's detector into a fresh one; False if there is none */
PyObject *pipeline_detector_of(PyObject *object, PyObject *arguments)
{
    learner *base = &((pipeline_object *)object)->base;
    PyObject *its_name, *fresh;
    row_key its_key;
    oif_error error;
    if (!PyArg_ParseTuple(arguments, "OO!:_detector_of", &its_name, detector_type, &fresh) ||
        !key_read(its_name, &its_key, -1) || !learner_enter(base, false))
        return NULL;
    learner *to = (learner *)fresh;
    const oif_detector *from =
        base->made ? oif_pipeline_detector(base->made, its_key.bytes, (size_t)its_key.count) : NULL;
    oif_detector *copy = NULL;
    oif_status status = OIF_OK;
    if (from && !to->params.table)
        status = oif_detector_clone(from, &copy, &error);
    learner_leave(base);
    if (status != OIF_OK)
        return raise_error(&error);
    if (copy) {
        to->made = copy;
        to->params = *oif_detector_params(copy);
    }
    return PyBool_FromLong(copy != NULL);
}

/* Creates the pipeline for the columns of a detector, whose copy scores the rows without a key. */
static bool adopt(learner *base, oif_detector *copy, PyObject *names)
{
    pipeline_object *self = (pipeline_object *)base;
    oif_error error;
    if (!base->kind->make(base, oif_detector_columns(copy)))
        return false;
    if (oif_pipeline_exchange_detector(base->made, NULL, 0, &copy, &error) != OIF_OK) {
        raise_error(&error);
        base->kind->free(base);
        return false;
    }
    oif_detector_free(copy); /* the previous one */
    if (pipeline_name_columns(self, names) && pipeline_begin_rules(self))
        return true;
    base->kind->free(base);
    return false;
}

/* _adopt(detector): for a pipeline without rows */
PyObject *pipeline_adopt(PyObject *object, PyObject *detector)
{
    learner *base = &((pipeline_object *)object)->base, *from = (learner *)detector;
    oif_detector *copy = NULL;
    oif_error error;
    if (!PyObject_TypeCheck(detector, detector_type)) {
        PyErr_SetString(PyExc_TypeError, "a pipeline adopts a detector");
        return NULL;
    }
    if (!from->kind->enter(from, false))
        return NULL;
    oif_status status = from->made ? oif_detector_clone(from->made, &copy, &error) : OIF_OK;
    learner_leave(from);
    if (status != OIF_OK)
        return raise_error(&error);
    bool good = learner_enter(base, true);
    if (good) {
        good = !copy || base->made || adopt(base, copy, base->names ? base->names : from->names);
        learner_leave(base);
    } else {
        oif_detector_free(copy);
    }
    if (good && !base->names)
        base->names = Py_XNewRef(from->names);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- Episodes, seasons and silence ---- */

static PyObject *episode_tuple(const oif_episode_info *e)
{
    PyObject *column =
        e->column == OIF_UNKNOWN_COLUMN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(e->column);
    return Py_BuildValue("KKddKKNiKddNididd", e->number, e->first_row, e->first_seconds,
                         e->last_seconds, e->rows, e->anomalies, PyBool_FromLong(e->is_over),
                         (int)e->peak_grade, e->peak_row, e->peak_score, e->peak_severity, column,
                         (int)e->direction, e->value, (int)e->reason, e->size, e->usual);
}

/* _episode(key) -> a tuple as oif.EpisodeInfo, or None */
PyObject *pipeline_episode(PyObject *object, PyObject *argument)
{
    pipeline_object *self = (pipeline_object *)object;
    oif_episode_info episode;
    row_key its_key;
    if (!key_read(argument, &its_key, -1) || !learner_enter(&self->base, false))
        return NULL;
    bool found = self->base.made && oif_pipeline_episode(self->base.made, its_key.bytes,
                                                         (size_t)its_key.count, &episode);
    learner_leave(&self->base);
    return found ? episode_tuple(&episode) : Py_NewRef(Py_None);
}

static PyObject *season_tuple(const oif_season_info *season)
{
    PyObject *column =
        season->strength > 0 ? PyLong_FromSize_t(season->column) : Py_NewRef(Py_None);
    return Py_BuildValue("ddNdN", season->rows, season->seconds, PyBool_FromLong(season->was_found),
                         season->strength, column);
}

/* _season(key) -> a list of tuples as oif.Season */
PyObject *pipeline_season(PyObject *object, PyObject *argument)
{
    learner *base = &((pipeline_object *)object)->base;
    row_key its_key;
    if (!key_read(argument, &its_key, -1))
        return NULL;
    PyObject *list = PyList_New(0);
    if (!list || !learner_enter(base, false)) {
        Py_XDECREF(list);
        return NULL;
    }
    size_t next = 0;
    oif_season_info season;
    while (list && base->made &&
           oif_pipeline_season(base->made, its_key.bytes, (size_t)its_key.count, next++, &season)) {
        PyObject *tuple = season_tuple(&season);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    learner_leave(base);
    return list;
}

/* Appends (key, since, allowed) to the list; does nothing after a failure. */
static void add_silence(void *list, const oif_silence *silence)
{
    if (PyErr_Occurred())
        return;
    PyObject *triple = Py_BuildValue("y#dd", silence->key, (Py_ssize_t)silence->key_bytes,
                                     silence->since, silence->allowed);
    if (triple)
        (void)PyList_Append(list, triple);
    Py_XDECREF(triple);
}

/* _silent(seconds) -> a list of (key or None, since, allowed) */
PyObject *pipeline_silent(PyObject *object, PyObject *argument)
{
    pipeline_object *self = (pipeline_object *)object;
    double seconds = PyFloat_AsDouble(argument);
    if (seconds == -1 && PyErr_Occurred())
        return NULL;
    PyObject *list = PyList_New(0);
    if (!list || !learner_enter(&self->base, true)) {
        Py_XDECREF(list);
        return NULL;
    }
    if (self->base.made)
        oif_pipeline_silent(self->base.made, seconds, add_silence, list);
    learner_leave(&self->base);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

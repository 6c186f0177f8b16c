/* Past episodes of a pipeline, and the rules that follow from them.
 *
 * Before the first row there is no pipeline of the library, and so no episode: whether to keep them
 * waits in keeps_episodes. */
#include "core.h"

#include <string.h>

static bool keep(oif_pipeline *made, bool keeps)
{
    oif_error error;
    if (oif_pipeline_keep_episodes(made, keeps, &error) == OIF_OK)
        return true;
    raise_error(&error);
    return false;
}

bool pipeline_begin_episodes(pipeline_object *self)
{
    return !self->keeps_episodes || keep(self->base.made, true);
}

bool pipeline_keeps(const pipeline_object *self)
{
    return self->base.made ? oif_pipeline_keeps_episodes(self->base.made) : self->keeps_episodes;
}

PyObject *pipeline_get_keep_episodes(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(pipeline_keeps((pipeline_object *)object));
}

int pipeline_set_keep_episodes(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    int keeps = value ? PyObject_IsTrue(value) : 0;
    if (keeps < 0 || !learner_enter(&self->base, true))
        return -1;
    bool good = !self->base.made || keep(self->base.made, keeps);
    if (good)
        self->keeps_episodes = keeps;
    learner_leave(&self->base);
    return good ? 0 : -1;
}

/* ---- Episodes ---- */

/* Appends and gives up the item. False with an exception set. */
static bool append(PyObject *list, PyObject *item)
{
    bool is_done = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return is_done;
}

static PyObject *past_tuple(const oif_past_episode *past)
{
    PyObject *column = past->column == OIF_UNKNOWN_COLUMN ? Py_NewRef(Py_None)
                                                          : PyLong_FromUnsignedLong(past->column);
    return Py_BuildValue("y#KKddNiddiN", past->key ? past->key : "", (Py_ssize_t)past->key_bytes,
                         (unsigned long long)past->number, (unsigned long long)past->first_row,
                         past->first_seconds, past->severity, column, (int)past->direction,
                         past->change, past->change_share, (int)past->reason,
                         PyBool_FromLong(past->is_key_cut));
}

/* _past_episodes() -> tuples as oif.PastEpisode, with the key as bytes */
PyObject *pipeline_past_episodes(PyObject *object, PyObject *unused)
{
    (void)unused;
    learner *base = &((pipeline_object *)object)->base;
    oif_past_episode past;
    if (!learner_enter(base, false))
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && base->made && oif_pipeline_past_episode(base->made, i, &past); i++)
        if (!append(list, past_tuple(&past)))
            Py_CLEAR(list);
    learner_leave(base);
    return list;
}

static oif_status fail_without_rows(oif_error *error)
{
    *error = (oif_error){.status = OIF_EVALUE,
                         .cause = OIF_CAUSE_NO_EPISODES_KEPT,
                         .message = "no rows were processed yet, so there are no past episodes"};
    return error->status;
}

/* _propose(key, number) -> bytes */
PyObject *pipeline_propose(PyObject *object, PyObject *arguments)
{
    learner *base = &((pipeline_object *)object)->base;
    PyObject *key_object;
    unsigned long long number;
    row_key key;
    char rule[OIF_RULE_BYTES];
    oif_error error;
    if (!PyArg_ParseTuple(arguments, "OK", &key_object, &number) ||
        !key_read(key_object, &key, -1) || !learner_enter(base, false))
        return NULL;
    oif_status status = base->made ? oif_pipeline_propose(base->made, key.bytes, (size_t)key.count,
                                                          number, rule, &error)
                                   : fail_without_rows(&error);
    learner_leave(base);
    return status == OIF_OK ? PyBytes_FromString(rule) : raise_error(&error);
}

/* The rules of a pipeline, which hold back alerts, and the names by which they find columns.
 *
 * A pipeline of the library exists from the first row on. Until then the text of the rules waits;
 * their columns are checked once these have names. */
#include "core.h"

static bool has_rules(const pipeline_object *self)
{
    oif_rule_info rule;
    return self->rules || oif_pipeline_rule(self->base.made, 0, &rule);
}

/* Gives names to the library, unless it has them. */
static bool give_names(pipeline_object *self, PyObject *names)
{
    if (names == self->named)
        return true;
    if (!learner_give_names(&self->base, names))
        return false;
    PyObject *old = self->named;
    self->named = Py_XNewRef(names);
    Py_XDECREF(old);
    return true;
}

bool pipeline_name_columns(pipeline_object *self, PyObject *names)
{
    return !(has_rules(self) || pipeline_keeps(self)) || give_names(self, names);
}

static bool set_rules(oif_pipeline *pipeline, PyObject *text)
{
    oif_error error;
    if (oif_pipeline_set_rules(pipeline, PyBytes_AsString(text), (size_t)PyBytes_Size(text),
                               &error) == OIF_OK)
        return true;
    raise_error(&error);
    return false;
}

bool pipeline_begin_rules(pipeline_object *self)
{
    return !self->rules || set_rules(self->base.made, self->rules);
}

void pipeline_keep_rules(pipeline_object *self, PyObject *text)
{
    PyObject *old = self->rules;
    self->rules = text && PyBytes_Size(text) > 0 ? Py_NewRef(text) : NULL;
    Py_XDECREF(old);
}

oif_pipeline *pipeline_make_trial(const pipeline_object *self)
{
    oif_pipeline *trial = NULL;
    oif_error error;
    if (oif_pipeline_new(&self->base.params, 1, &self->options, &trial, &error) != OIF_OK)
        raise_error(&error);
    return trial;
}

/* Rules for a pipeline that does not exist yet: another one says whether they are rules. */
static bool keep_for_later(pipeline_object *self, PyObject *text)
{
    oif_pipeline *trial = pipeline_make_trial(self);
    bool good = trial && set_rules(trial, text);
    oif_pipeline_free(trial);
    if (good)
        pipeline_keep_rules(self, text);
    return good;
}

/* _set_rules(bytes) */
PyObject *pipeline_set_rules(PyObject *object, PyObject *text)
{
    pipeline_object *self = (pipeline_object *)object;
    if (!PyBytes_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "rules are bytes here");
        return NULL;
    }
    if (!learner_enter(&self->base, true))
        return NULL;
    bool good = self->base.made
                    ? give_names(self, self->base.names) && set_rules(self->base.made, text)
                    : keep_for_later(self, text);
    learner_leave(&self->base);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* [(text, held, first, last), ...] */
static PyObject *list_rules(const oif_pipeline *pipeline)
{
    PyObject *list = PyList_New(0);
    oif_rule_info rule;
    for (size_t i = 0; list && oif_pipeline_rule(pipeline, i, &rule); i++) {
        PyObject *tuple = Py_BuildValue("yKdd", rule.text, (unsigned long long)rule.held,
                                        rule.first_seconds, rule.last_seconds);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    return list;
}

static PyObject *list_waiting_rules(const pipeline_object *self)
{
    oif_pipeline *trial = self->rules ? pipeline_make_trial(self) : NULL;
    PyObject *list = !self->rules                             ? PyList_New(0)
                     : trial && set_rules(trial, self->rules) ? list_rules(trial)
                                                              : NULL;
    oif_pipeline_free(trial);
    return list;
}

/* _rules() -> a list of tuples as oif.Rule, with the text as bytes */
PyObject *pipeline_rules(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, false))
        return NULL;
    PyObject *list = self->base.made ? list_rules(self->base.made) : list_waiting_rules(self);
    learner_leave(&self->base);
    return list;
}

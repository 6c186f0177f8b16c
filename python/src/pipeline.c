/* The type Pipeline: like Detector, with alerts, shingles and one model per key. */
#include "core.h"

/* ---- Its learner_kind ---- */

static bool keeps_evicted(const pipeline_object *self)
{
    double keep;
    oif_error error;
    return oif_params_get(&self->options, "evicted", &keep, &error) == OIF_OK && keep > 0;
}

static bool make_pipeline(learner *base, size_t columns)
{
    const pipeline_object *self = (const pipeline_object *)base;
    oif_pipeline *pipeline;
    oif_error error;
    if (oif_pipeline_new(&base->params, columns, &self->options, &pipeline, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    if (self->file && keeps_evicted(self) &&
        oif_state_file_keep_evicted(self->file, pipeline, &error) != OIF_OK) {
        oif_pipeline_free(pipeline);
        raise_error(&error);
        return false;
    }
    base->made = pipeline;
    return pipeline_begin_episodes((pipeline_object *)base);
}

static void set_derive(pipeline_object *self, PyObject *derive)
{
    PyObject *old = self->derive;
    Py_XINCREF(derive);
    self->derive = derive;
    Py_XDECREF(old);
}

static void free_pipeline(learner *base)
{
    oif_pipeline_free(base->made);
    base->made = NULL;
    Py_CLEAR(((pipeline_object *)base)->named);
}

static void pipeline_dealloc(PyObject *object)
{
    pipeline_object *self = (pipeline_object *)object;
    oif_state_file *file = self->file;
    Py_CLEAR(self->derive);
    Py_CLEAR(self->rules);
    learner_dealloc(object);
    oif_state_file_close(file); /* after the pipeline, which may have models there */
}

static size_t pipeline_columns(const void *made)
{
    return oif_pipeline_columns(made);
}

static const char *pipeline_column_name(const void *made, size_t column)
{
    return oif_pipeline_column_name(made, column);
}

static oif_status name_pipeline_columns(void *made, const char *const *names, oif_error *error)
{
    return oif_pipeline_name_columns(made, names, error);
}

static oif_status check_pipeline(const void *made, oif_error *error)
{
    return oif_pipeline_check(made, error);
}

static oif_status save_pipeline(const void *made, oif_write_function write, void *context,
                                oif_error *error)
{
    return oif_pipeline_save(made, write, context, error);
}

static oif_status save_pipeline_file(const void *made, const char *path, oif_error *error)
{
    oif_state_file *file;
    oif_status status = oif_state_file_open(path, &file, error);
    if (status != OIF_OK)
        return status;
    status = oif_state_file_save_pipeline(file, made, error);
    oif_state_file_close(file);
    return status;
}

static oif_status load_pipeline(learner *base, const void *bytes, size_t count, size_t *used,
                                oif_error *error)
{
    oif_pipeline *pipeline;
    learner_bytes from = {bytes, count, 0};
    oif_status status = used ? oif_pipeline_load(learner_read_bytes, &from, &pipeline, error)
                             : oif_pipeline_load_memory(bytes, count, &pipeline, error);
    if (status == OIF_OK) {
        if (used)
            *used = from.used;
        base->made = pipeline;
        base->params = *oif_pipeline_detector_params(pipeline);
        ((pipeline_object *)base)->options = *oif_pipeline_options(pipeline);
        ((pipeline_object *)base)->keeps_episodes = oif_pipeline_keeps_episodes(pipeline);
    }
    return status;
}

static oif_status copy_pipeline(learner *base, const learner *from, oif_error *error)
{
    oif_pipeline *copy = NULL;
    oif_status status = from->made ? oif_pipeline_clone(from->made, &copy, error) : OIF_OK;
    if (status == OIF_OK) {
        base->made = copy;
        ((pipeline_object *)base)->options = ((const pipeline_object *)from)->options;
        set_derive((pipeline_object *)base, ((const pipeline_object *)from)->derive);
        pipeline_keep_rules((pipeline_object *)base, ((const pipeline_object *)from)->rules);
        ((pipeline_object *)base)->keeps_episodes = ((const pipeline_object *)from)->keeps_episodes;
    }
    return status;
}

static const learner_kind pipeline_kind = {
    .noun = "pipeline",
    .enter = learner_enter,
    .make = make_pipeline,
    .free = free_pipeline,
    .columns = pipeline_columns,
    .column_name = pipeline_column_name,
    .name_columns = name_pipeline_columns,
    .check = check_pipeline,
    .save = save_pipeline,
    .save_file = save_pipeline_file,
    .load = load_pipeline,
    .copy = copy_pipeline,
};

/* ---- Creation ---- */

static PyObject *pipeline_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    return learner_new(type, &pipeline_kind);
}

/* Conflicting options show only when a pipeline is created, so create a small one. */
static bool try_options(const oif_params *params, const oif_params *options, PyObject *rules)
{
    oif_error error;
    oif_pipeline *trial = NULL;
    oif_status status = oif_pipeline_new(params, 1, options, &trial, &error);
    if (status == OIF_OK && rules)
        status = oif_pipeline_set_rules(trial, PyBytes_AsString(rules), (size_t)PyBytes_Size(rules),
                                        &error);
    oif_pipeline_free(trial);
    if (status != OIF_OK)
        raise_error(&error);
    return status == OIF_OK;
}

static int pipeline_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    pipeline_object *self = (pipeline_object *)object;
    static char *words[] = {"kind", "params", "options", "derive", "rules", "keep_episodes", NULL};
    const char *kind;
    int keeps = 0;
    PyObject *values, *option_values, *derive = NULL, *rules = NULL;
    oif_params params, options;
    oif_pipeline_options_init(&options);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOO|O!Sp:Pipeline", words, &kind,
                                     &values, &option_values, &PyTuple_Type, &derive, &rules,
                                     &keeps) ||
        !learner_read_params(&self->base, kind, values, &params) ||
        !params_set(&options, option_values) || !try_options(&params, &options, rules))
        return -1;
    self->base.params = params;
    self->options = options;
    set_derive(self, derive);
    pipeline_keep_rules(self, rules);
    self->keeps_episodes = keeps;
    return 0;
}

/* ---- State files ---- */

/* Opens a file and loads its content. OIF_END: it does not exist yet. */
static oif_status open_and_load(pipeline_object *self, const char *path, oif_error *error)
{
    oif_pipeline *pipeline = NULL;
    oif_status status = oif_state_file_open(path, &self->file, error);
    if (status != OIF_OK)
        return status;
    status = oif_state_file_load_pipeline(self->file, &pipeline, error);
    if (status == OIF_OK) {
        self->base.made = pipeline;
        self->base.params = *oif_pipeline_detector_params(pipeline);
        self->options = *oif_pipeline_options(pipeline);
        self->keeps_episodes = oif_pipeline_keeps_episodes(pipeline);
    } else if (status != OIF_END) {
        oif_state_file_close(self->file);
        self->file = NULL;
    }
    return status;
}

/* _hold(path) -> whether the file had a pipeline; for an object whose __init__ was not called */
static PyObject *pipeline_hold(PyObject *object, PyObject *path)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *name = NULL;
    oif_error error;
    if (self->base.params.table || self->file) {
        PyErr_SetString(PyExc_RuntimeError, "a pipeline is made once");
        return NULL;
    }
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    oif_status status = open_and_load(self, PyBytes_AsString(name), &error);
    Py_DECREF(name);
    if (status != OIF_OK && status != OIF_END)
        return raise_error(&error);
    if (status == OIF_OK && !learner_take_names(&self->base))
        return NULL;
    return PyBool_FromLong(status == OIF_OK);
}

static PyObject *pipeline_save_held(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    oif_error error;
    oif_status status = OIF_OK;
    if (!learner_enter(&self->base, false))
        return NULL;
    bool named =
        self->file && (!self->base.made || learner_give_names(&self->base, self->base.names));
    if (named && self->base.made) {
        PyThreadState *state = PyEval_SaveThread();
        status = oif_state_file_save_pipeline(self->file, self->base.made, &error);
        PyEval_RestoreThread(state);
    }
    learner_leave(&self->base);
    if (status != OIF_OK)
        return raise_error(&error);
    if (!self->file)
        PyErr_SetString(PyExc_ValueError, "no state file is held; save to a path");
    return named ? Py_NewRef(Py_None) : NULL;
}

/* Without its file a pipeline cannot restore evicted models, so it is unusable afterwards. */
static PyObject *pipeline_release(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true))
        return NULL;
    if (self->file) {
        free_pipeline(&self->base);
        oif_state_file_close(self->file);
        self->file = NULL;
    }
    learner_leave(&self->base);
    return Py_NewRef(Py_None);
}

/* ---- Changes ---- */

static bool change_option(oif_pipeline *made, const oif_params *changed, size_t number)
{
    oif_error error;
    if (oif_pipeline_change_option(made, changed->table->params[number].name,
                                   changed->values[number], &error) == OIF_OK)
        return true;
    raise_error(&error);
    return false;
}

/* _change(options): changes those that differ */
static PyObject *pipeline_change(PyObject *object, PyObject *values)
{
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true))
        return NULL;
    oif_params before = self->options, changed = self->options;
    oif_pipeline *made = self->base.made;
    bool good = params_set(&changed, values) && (made || (made = pipeline_make_trial(self)));
    for (size_t i = 0; good && i < changed.table->param_count; i++)
        if (changed.values[i] != before.values[i])
            good = change_option(made, &changed, i);
    if (made && (good || made == self->base.made))
        self->options = *oif_pipeline_options(made);
    if (made != self->base.made)
        oif_pipeline_free(made);
    learner_leave(&self->base);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- Questions ---- */

static PyObject *get_options(PyObject *object, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    return params_as_proxy(&self->options);
}

static PyObject *columns_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_columns(made));
}

static PyObject *rows_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_rows(made));
}

static PyObject *keys_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_keys(made));
}

static PyObject *evictions_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_evictions(made));
}

static PyObject *kept_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_kept(made));
}

static PyObject *lost_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_lost(made, NULL));
}

static PyObject *unmodelled_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_unmodelled_rows(made));
}

static PyObject *restarts_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_restarts(made));
}

static PyObject *memory_bytes_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_memory_bytes(made));
}

static learner_question unmodelled = {unmodelled_as_python, answer_zero},
                        restarts = {restarts_as_python, answer_zero};
static learner_question columns = {columns_as_python, answer_none},
                        row_count = {rows_as_python, answer_zero},
                        key_count = {keys_as_python, answer_zero},
                        evictions = {evictions_as_python, answer_zero},
                        kept = {kept_as_python, answer_zero}, lost = {lost_as_python, answer_zero},
                        memory_bytes = {memory_bytes_as_python, answer_zero};

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"options", get_options, NULL, "Every option of the pipeline with its value.", NULL},
    {"columns", learner_ask, NULL, "The columns of a row; None before the first row.", &columns},
    {"rows", learner_ask, NULL, "The rows processed so far.", &row_count},
    {"keys", learner_ask, NULL, "The keys that have a model.", &key_count},
    {"evictions", learner_ask, NULL, "The keys that lost their model to others.", &evictions},
    {"kept", learner_ask, NULL,
     "The keys whose model is kept beside the state file of `oif score`.", &kept},
    {"lost", learner_ask, NULL,
     "The models that should have been kept there, or been there, and were not.", &lost},
    {"unmodelled_rows", learner_ask, NULL,
     "The rows whose key had no model, for lack of room; their score is NaN.", &unmodelled},
    {"restarts", learner_ask, NULL,
     "How many times a key that was evicted, and not kept, came back and got a new model.",
     &restarts},
    {"memory_bytes", learner_ask, NULL, "The bytes that all models take.", &memory_bytes},
    {"keep_episodes", pipeline_get_keep_episodes, pipeline_set_keep_episodes,
     "Whether the last episodes are kept, for past_episodes and what follows from it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_process", pipeline_process, METH_VARARGS,
     "_process($self, x, keys, times, room, with_shares, anomalies_only, detector, report, "
     "is_table=False, threads=1, /)\n--\n\n"},
    {"_process_one", (PyCFunction)(void (*)(void))pipeline_process_one, METH_FASTCALL,
     "_process_one($self, x, key=None, seconds=nan, detector=None, /)\n--\n\n"},
    {"_add_columns", pipeline_add_columns, METH_VARARGS,
     "_add_columns($self, count, names, derive, /)\n--\n\n"},
    {"_learned", pipeline_learned, METH_NOARGS, "_learned($self, /)\n--\n\n"},
    {"_episode", pipeline_episode, METH_O, "_episode($self, key, /)\n--\n\n"},
    {"_season", pipeline_season, METH_O, "_season($self, key, /)\n--\n\n"},
    {"_silent", pipeline_silent, METH_O, "_silent($self, seconds, /)\n--\n\n"},
    {"_change", pipeline_change, METH_O, "_change($self, options, /)\n--\n\n"},
    {"_explain", pipeline_explain, METH_NOARGS, "_explain($self, /)\n--\n\n"},
    {"_expected", pipeline_expected, METH_NOARGS, "_expected($self, /)\n--\n\n"},
    {"_rules", pipeline_rules, METH_NOARGS, "_rules($self, /)\n--\n\n"},
    {"_set_rules", pipeline_set_rules, METH_O, "_set_rules($self, text, /)\n--\n\n"},
    {"_past_episodes", pipeline_past_episodes, METH_NOARGS, "_past_episodes($self, /)\n--\n\n"},
    {"_propose", pipeline_propose, METH_VARARGS, "_propose($self, key, number, /)\n--\n\n"},
    {"_key_infos", pipeline_key_infos, METH_NOARGS, "_key_infos($self, /)\n--\n\n"},
    {"_key_info", pipeline_key_info, METH_O, "_key_info($self, key, /)\n--\n\n"},
    {"_remove_key", pipeline_remove_key, METH_O, "_remove_key($self, key, /)\n--\n\n"},
    {"_save_key", pipeline_save_key, METH_O, "_save_key($self, key, /)\n--\n\n"},
    {"_load_key", pipeline_load_key, METH_VARARGS, "_load_key($self, snapshot, key, /)\n--\n\n"},
    {"_detector_of", pipeline_detector_of, METH_VARARGS,
     "_detector_of($self, key, fresh, /)\n--\n\n"},
    {"_adopt", pipeline_adopt, METH_O, "_adopt($self, detector, /)\n--\n\n"},
    {"_hold", pipeline_hold, METH_O, "_hold($self, path, /)\n--\n\n"},
    {"_save_held", pipeline_save_held, METH_NOARGS, "_save_held($self, /)\n--\n\n"},
    {"_release", pipeline_release, METH_NOARGS, "_release($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Pipeline(kind, params, options, derive=(), rules=b'', keep_episodes=False)\n--\n\n"
                "A pipeline of the C library."},
    {Py_tp_new, pipeline_new},
    {Py_tp_init, pipeline_init},
    {Py_tp_dealloc, pipeline_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec pipeline_spec = {
    .name = "oif._core.Pipeline",
    .basicsize = sizeof(pipeline_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

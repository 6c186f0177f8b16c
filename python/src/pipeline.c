/* The type Pipeline: as Detector, with alerts, shingles and a model for each key. */
#include "core.h"

enum { CHUNK_ROWS = 1 << 13, MAX_KEY_BYTES = 1 << 16 };

typedef struct pipeline_object {
    learner base; /* made: an oif_pipeline */
    oif_params options;
} pipeline_object;

/* One result as python/oif/_pipeline.py's RESULT lays it out. */
typedef struct record {
    double score, p, threshold;
    uint8_t anomaly, ready, learned, episode;
    /* named, so that it is zero in every result and equal ones have equal bytes */
    uint8_t unused[4];
} record;

/* ---- Its kind of learner ---- */

static bool make_pipeline(learner *base, size_t width)
{
    const pipeline_object *self = (const pipeline_object *)base;
    oif_pipeline *pipeline;
    oif_error error;
    if (oif_pipeline_new(&base->params, width, &self->options, &pipeline, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    base->made = pipeline;
    return true;
}

static void free_pipeline(learner *base)
{
    oif_pipeline_free(base->made);
    base->made = NULL;
}

static size_t pipeline_width(const void *made)
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

static oif_status load_pipeline(learner *base, const void *bytes, size_t count, oif_error *error)
{
    oif_pipeline *pipeline;
    oif_status status = oif_pipeline_load_memory(bytes, count, &pipeline, error);
    if (status == OIF_OK) {
        base->made = pipeline;
        base->params = *oif_pipeline_detector_params(pipeline);
        ((pipeline_object *)base)->options = *oif_pipeline_options(pipeline);
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
    }
    return status;
}

static const learner_kind pipeline_kind = {
    .noun = "pipeline",
    .enter = learner_enter,
    .make = make_pipeline,
    .free = free_pipeline,
    .width = pipeline_width,
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

/* Options that do not fit together show only when a pipeline is made, so a small one is. */
static bool try_options(const oif_params *params, const oif_params *options)
{
    oif_error error;
    oif_pipeline *trial;
    if (oif_pipeline_new(params, 1, options, &trial, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    oif_pipeline_free(trial);
    return true;
}

static int pipeline_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    pipeline_object *self = (pipeline_object *)object;
    static char *words[] = {"kind", "params", "options", NULL};
    const char *method;
    PyObject *values, *option_values;
    oif_params params, options;
    oif_pipeline_options_init(&options);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOO:Pipeline", words, &method, &values,
                                     &option_values) ||
        !learner_read_params(&self->base, method, values, &params) ||
        !params_set(&options, option_values) || !try_options(&params, &options))
        return -1;
    self->base.params = params;
    self->options = options;
    return 0;
}

/* ---- Keys ---- */

typedef struct key {
    const char *bytes;
    Py_ssize_t count;
} key;

static bool read_key(PyObject *object, key *k, Py_ssize_t row)
{
    *k = (key){NULL, 0};
    if (object == Py_None)
        return true;
    if (PyUnicode_Check(object)) {
        k->bytes = PyUnicode_AsUTF8AndSize(object, &k->count);
    } else if (PyBytes_Check(object)) {
        char *bytes;
        if (PyBytes_AsStringAndSize(object, &bytes, &k->count) == 0)
            k->bytes = bytes;
    } else {
        PyErr_Format(PyExc_TypeError, "a key is a str or bytes, not %R", object);
    }
    if (k->bytes && k->count > MAX_KEY_BYTES)
        raise_data_error(row, -1, "a key of %zd bytes is too long", k->count);
    return k->bytes && k->count <= MAX_KEY_BYTES;
}

/* The keys of all rows; they belong to the objects in the tuple. NULL with an exception set. */
static key *read_keys(PyObject *tuple, Py_ssize_t count)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_ValueError, "there must be a key for each of the %zd rows", count);
        return NULL;
    }
    key *keys = PyMem_Malloc((size_t)(count + 1) * sizeof *keys);
    if (!keys)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; keys && i < count; i++)
        if (!read_key(PyTuple_GetItem(tuple, i), &keys[i], i)) {
            PyMem_Free(keys);
            return NULL;
        }
    return keys;
}

/* ---- Rows ---- */

/* What explains the rows, for those that ask. */
typedef struct explanations {
    double *shares;
    int8_t *directions;
    bool anomalies_only;
    oif_attribution *room;
} explanations;

static void explain_last(pipeline_object *self, const explanations *e, Py_ssize_t row, size_t width,
                         bool wanted)
{
    if (wanted)
        oif_pipeline_explain(self->base.made, e->room);
    for (size_t j = 0; j < width; j++) {
        e->shares[(size_t)row * width + j] = wanted ? e->room[j].share : 0;
        e->directions[(size_t)row * width + j] = wanted ? (int8_t)e->room[j].direction : 0;
    }
}

static oif_status process_rows(pipeline_object *self, const rows *r, const key *keys,
                               Py_ssize_t first, Py_ssize_t last, record *records,
                               const explanations *e, double *copy, oif_error *error)
{
    for (Py_ssize_t i = first; i < last; i++) {
        oif_result result;
        const key *k = keys ? &keys[i] : &(key){NULL, 0};
        oif_status status = oif_pipeline_process(self->base.made, k->bytes, (size_t)k->count,
                                                 rows_at(r, i, copy), &result, error);
        if (status != OIF_OK)
            return status;
        records[i] = (record){result.score, result.p,       result.threshold,        result.anomaly,
                              result.ready, result.learned, (uint8_t)result.episode, {0}};
        if (e->shares)
            explain_last(self, e, i, (size_t)r->width, result.anomaly || !e->anomalies_only);
    }
    return OIF_OK;
}

/* Processes chunk after chunk without the GIL, looking for signals in between. */
static bool process_chunks(pipeline_object *self, const rows *r, const key *keys, record *records,
                           const explanations *e, double *copy)
{
    bool good = true;
    PyThreadState *state = PyEval_SaveThread();
    for (Py_ssize_t first = 0; good && first < r->count; first += CHUNK_ROWS) {
        Py_ssize_t last = r->count - first < CHUNK_ROWS ? r->count : first + CHUNK_ROWS;
        oif_error error;
        oif_status status = process_rows(self, r, keys, first, last, records, e, copy, &error);
        if (status == OIF_OK && last == r->count)
            break;
        PyEval_RestoreThread(state);
        if (status != OIF_OK)
            raise_error(&error);
        good = status == OIF_OK && PyErr_CheckSignals() == 0;
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    return good;
}

/* All or nothing: an infinity is found before the first row is taken. */
static bool check_and_process(pipeline_object *self, const learner *owner, const rows *r,
                              const key *keys, record *records, explanations *e)
{
    Py_ssize_t row, column;
    if (rows_find_infinity(r, &row, &column)) {
        raise_infinity(row, column, r->single, owner->names ? owner->names : r->names);
        return false;
    }
    double *copy = PyMem_Malloc((size_t)r->width * sizeof *copy);
    bool good = copy && (e->room = PyMem_Malloc((size_t)r->width * sizeof *e->room));
    if (!good)
        PyErr_NoMemory();
    good = good && process_chunks(self, r, keys, records, e, copy);
    PyMem_Free(copy);
    PyMem_Free(e->room);
    return good;
}

/* Lends the detector of the rows' owner to the pipeline, and again: takes it back. */
static bool exchange(pipeline_object *self, learner *owner)
{
    oif_detector *detector = owner->made;
    oif_error error;
    if (owner == &self->base)
        return true;
    if (oif_pipeline_exchange_detector(self->base.made, NULL, 0, &detector, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    owner->made = detector;
    return true;
}

/* The owner of the rows is the pipeline itself, or a detector that it works for. */
static bool process_locked(pipeline_object *self, learner *owner, const rows *r, const key *keys,
                           record *records, explanations *e)
{
    bool fresh = !owner->made;
    uint64_t before = self->base.made ? oif_pipeline_rows(self->base.made) : 0;
    bool good =
        learner_prepare(owner, r) && learner_prepare(&self->base, r) && exchange(self, owner);
    if (good) {
        good = check_and_process(self, owner, r, keys, records, e);
        good = exchange(self, owner) && good;
    }
    if (self->base.made && oif_pipeline_rows(self->base.made) > before) {
        learner_adopt_names(owner, r);
    } else if (
        fresh) { /* a call that fails changes nothing: the next may have rows of another width */
        owner->kind->free(owner);
        self->base.kind->free(&self->base);
    }
    return good;
}

static bool process_owned(pipeline_object *self, learner *owner, const rows *r, const key *keys,
                          record *records, explanations *e)
{
    bool own = owner == &self->base;
    if (!own && !owner->kind->enter(owner, true))
        return false;
    bool good = learner_enter(&self->base, true);
    if (good) {
        good = process_locked(self, owner, r, keys, records, e);
        learner_leave(&self->base);
    }
    if (!own)
        learner_leave(owner);
    return good;
}

/* Arrays for the results. */
typedef struct results {
    /* (records, shares, directions), the last two None unless they are asked for */
    PyObject *arrays;
    Py_buffer views[3]; /* of those that are there */
    int view_count;
} results;

static bool view_array(results *to, size_t bytes)
{
    Py_buffer *view = &to->views[to->view_count];
    if (PyObject_GetBuffer(PyTuple_GetItem(to->arrays, to->view_count), view, PyBUF_WRITABLE) < 0)
        return false;
    to->view_count++;
    if ((size_t)view->len >= bytes)
        return true;
    PyErr_SetString(PyExc_ValueError, "the array for results is too small");
    return false;
}

/* `make` is called with the numbers of rows and of columns and gives the arrays. */
static bool make_results(results *to, PyObject *make, const rows *r, bool with_shares)
{
    size_t cells = (size_t)(r->count * r->width);
    to->arrays = PyObject_CallFunction(make, "nn", r->count, r->width);
    if (!to->arrays)
        return false;
    if (!PyTuple_Check(to->arrays) || PyTuple_Size(to->arrays) != 3) {
        PyErr_SetString(PyExc_SystemError, "the room for results is a triple");
        return false;
    }
    return view_array(to, (size_t)r->count * sizeof(record)) &&
           (!with_shares || (view_array(to, cells * sizeof(double)) && view_array(to, cells)));
}

static learner *owner_of_rows(pipeline_object *self, PyObject *detector)
{
    if (detector == Py_None)
        return &self->base;
    if (PyObject_TypeCheck(detector, detector_type))
        return (learner *)detector;
    PyErr_SetString(PyExc_TypeError, "a pipeline works for a detector");
    return NULL;
}

/* _process(x, keys, room, with_shares, anomalies_only, detector) -> (arrays, whether it was a
 * single row) */
static PyObject *pipeline_process(PyObject *object, PyObject *arguments)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *x, *key_tuple, *make_room, *detector;
    int with_shares, anomalies_only;
    rows r;
    key *keys = NULL;
    results to = {.arrays = NULL};
    if (!PyArg_ParseTuple(arguments, "OOOppO:_process", &x, &key_tuple, &make_room, &with_shares,
                          &anomalies_only, &detector))
        return NULL;
    learner *owner = owner_of_rows(self, detector);
    if (!owner)
        return NULL;
    expected_rows expected = learner_expects(owner);
    bool good = rows_read(&r, x, &expected, false) &&
                (key_tuple == Py_None || (keys = read_keys(key_tuple, r.count))) &&
                make_results(&to, make_room, &r, with_shares);
    if (good && r.count > 0) {
        explanations e = {.anomalies_only = anomalies_only};
        if (with_shares) {
            e.shares = to.views[1].buf;
            e.directions = to.views[2].buf;
        }
        good = process_owned(self, owner, &r, keys, to.views[0].buf, &e);
    }
    while (to.view_count > 0)
        PyBuffer_Release(&to.views[--to.view_count]);
    PyMem_Free(keys);
    bool single = good && r.single;
    rows_free(&r);
    if (good)
        return Py_BuildValue("NO", to.arrays, single ? Py_True : Py_False);
    Py_XDECREF(to.arrays);
    return NULL;
}

static PyObject *result_tuple(const record *r)
{
    return Py_BuildValue("dddNNNi", r->score, r->p, r->threshold, PyBool_FromLong(r->anomaly),
                         PyBool_FromLong(r->ready), PyBool_FromLong(r->learned), (int)r->episode);
}

static PyObject *pipeline_process_one(PyObject *object, PyObject *const *arguments,
                                      Py_ssize_t count)
{
    pipeline_object *self = (pipeline_object *)object;
    rows r;
    key k = {NULL, 0};
    record result;
    explanations none = {.shares = NULL};
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a row and a key are asked for");
        return NULL;
    }
    expected_rows expected = learner_expects(&self->base);
    bool good = rows_read(&r, arguments[0], &expected, true) && read_key(arguments[1], &k, 0) &&
                process_owned(self, &self->base, &r, &k, &result, &none);
    rows_free(&r);
    return good ? result_tuple(&result) : NULL;
}

static PyObject *pipeline_explain(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true))
        return NULL;
    size_t width = self->base.made ? oif_pipeline_columns(self->base.made) : 0;
    oif_attribution *room = PyMem_Malloc((width + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && self->base.made)
        oif_pipeline_explain(self->base.made, room);
    learner_leave(&self->base);
    for (size_t i = 0; list && i < width; i++) {
        PyObject *pair = Py_BuildValue("di", room[i].share, room[i].direction);
        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    PyMem_Free(room);
    return list;
}

/* ---- Questions ---- */

static PyObject *get_options(PyObject *object, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    return self->options.info ? params_as_dict(&self->options) : PyDict_New();
}

static PyObject *tell_columns(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_columns(made));
}

static PyObject *tell_rows(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_rows(made));
}

static PyObject *tell_keys(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_keys(made));
}

static PyObject *tell_evictions(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_evictions(made));
}

static PyObject *tell_shelved(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_shelved(made));
}

static PyObject *tell_lost(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_pipeline_lost(made, NULL));
}

static PyObject *tell_memory_bytes(const void *made)
{
    return PyLong_FromSize_t(oif_pipeline_memory_bytes(made));
}

static learner_question columns = {tell_columns, answer_none}, row_count = {tell_rows, answer_zero},
                        key_count = {tell_keys, answer_zero},
                        evictions = {tell_evictions, answer_zero},
                        shelved = {tell_shelved, answer_zero}, lost = {tell_lost, answer_zero},
                        memory_bytes = {tell_memory_bytes, answer_zero};

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"options", get_options, NULL, "Every option of the pipeline with its value.", NULL},
    {"columns", learner_ask, NULL, "The numbers in a row; None before the first.", &columns},
    {"rows", learner_ask, NULL, "The rows processed so far.", &row_count},
    {"keys", learner_ask, NULL, "The keys that have a model.", &key_count},
    {"evictions", learner_ask, NULL, "The keys that lost their model to others.", &evictions},
    {"shelved", learner_ask, NULL,
     "The keys whose model is on the shelf beside the state file of `oif score`.", &shelved},
    {"lost", learner_ask, NULL,
     "The models that should have been kept there, or been there, and were not.", &lost},
    {"memory_bytes", learner_ask, NULL, "The bytes that all models take.", &memory_bytes},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_process", pipeline_process, METH_VARARGS,
     "_process($self, x, keys, room, with_shares, anomalies_only, detector, /)\n--\n\n"},
    {"_process_one", (PyCFunction)(void (*)(void))pipeline_process_one, METH_FASTCALL,
     "_process_one($self, x, key, /)\n--\n\n"},
    {"_explain", pipeline_explain, METH_NOARGS, "_explain($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Pipeline(kind, params, options)\n--\n\nA pipeline of the C library."},
    {Py_tp_new, pipeline_new},
    {Py_tp_init, pipeline_init},
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

/* Processes rows through a pipeline, one or many, with results and explanations. */
#include "core.h"

#include <math.h>

enum { CHUNK_ROWS = 1 << 13 }; /* between two checks for signals */

/* One result, laid out like RESULT in python/oif/_results.py. */
typedef struct record {
    double score, p, threshold;
    uint8_t anomaly, ready, learned, episode, grade;
    /* named, so it is zero in every result, and equal results have equal bytes */
    uint8_t unused[3];
    double severity;
    int8_t reason;
    uint8_t has_no_model;
    uint8_t unused_too[2];
    uint32_t rule;
} record;

static record record_of(const oif_result *result)
{
    return (record){
        .score = result->score,
        .p = result->p,
        .threshold = result->threshold,
        .anomaly = result->anomaly,
        .ready = result->ready,
        .learned = result->learned,
        .episode = (uint8_t)result->episode,
        .grade = (uint8_t)result->grade,
        .severity = result->severity,
        .reason = (int8_t)result->reason,
        .has_no_model = result->has_no_model,
        .rule = result->rule,
    };
}

/* ---- Memory for results ---- */

/* Arrays for the results. */
typedef struct results {
    /* (records, shares, directions); the last two are None unless requested */
    PyObject *arrays;
    array_view views[3]; /* of those that exist */
    int view_count;
} results;

static size_t bytes_in(const array_view *view)
{
    size_t bytes = (size_t)view->item_bytes;
    for (int i = 0; i < view->dimensions; i++)
        bytes *= (size_t)view->shape[i];
    return bytes;
}

static bool view_array(results *to, size_t bytes)
{
    array_view *view = &to->views[to->view_count];
    if (!array_view_get(view, PyTuple_GetItem(to->arrays, to->view_count)))
        return false;
    to->view_count++;
    if (bytes_in(view) >= bytes)
        return true;
    PyErr_SetString(PyExc_ValueError, "the array for results is too small");
    return false;
}

/* Calls `make` with the numbers of rows and learned columns; it returns the arrays. */
static bool make_results(results *to, PyObject *make, const row_input *rows, Py_ssize_t columns,
                         bool with_shares)
{
    size_t cells = (size_t)(rows->count * columns);
    to->arrays = PyObject_CallFunction(make, "nn", rows->count, columns);
    if (!to->arrays)
        return false;
    if (!PyTuple_Check(to->arrays) || PyTuple_Size(to->arrays) != 3) {
        PyErr_SetString(PyExc_SystemError, "the arrays for results must be a triple");
        return false;
    }
    return view_array(to, (size_t)rows->count * sizeof(record)) &&
           (!with_shares || (view_array(to, cells * sizeof(double)) && view_array(to, cells)));
}

static void results_release(results *to)
{
    while (to->view_count > 0)
        array_view_release(&to->views[--to->view_count]);
}

/* Rows to process, and where their results go. */
typedef struct row_job {
    pipeline_object *self;
    learner *owner; /* of the rows: the pipeline, or a detector that it works for */
    const row_input *rows;
    const row_key *keys;   /* one per row; NULL without keys */
    const double *seconds; /* one per row; NULL without times */

    /* creates arrays for the results; NULL if `records` is set */
    PyObject *make_room;
    bool with_shares;
    results to;
    record *records; /* one per row */

    /* explanations, one number per row and column; NULL if not requested */
    double *shares;
    int8_t *directions;
    bool anomalies_only;

    PyObject *report;      /* called with the rows of each chunk; NULL: no progress reports */
    oif_table_info *table; /* the rows are a finished table; NULL: they are a stream */

    /* scratch space for one row */
    oif_attribution *attributions;
    double *copy;
} row_job;

static void explain_row(const row_job *job, Py_ssize_t row, bool wanted)
{
    size_t columns = oif_pipeline_learned_columns(job->self->base.made);
    if (wanted)
        oif_pipeline_explain(job->self->base.made, job->attributions);
    for (size_t i = 0; i < columns; i++) {
        const oif_attribution *why = &job->attributions[i];
        job->shares[(size_t)row * columns + i] = wanted ? why->share : 0;
        job->directions[(size_t)row * columns + i] = wanted ? (int8_t)why->direction : 0;
    }
}

static oif_status process_rows(const row_job *job, Py_ssize_t first, Py_ssize_t end,
                               oif_error *error)
{
    for (Py_ssize_t i = first; i < end; i++) {
        oif_result result;
        const row_key *k = job->keys ? &job->keys[i] : &(row_key){NULL, 0};
        const double *row = row_input_at(job->rows, i, job->copy);
        oif_status status =
            oif_pipeline_process_at(job->self->base.made, k->bytes, (size_t)k->count,
                                    job->seconds ? job->seconds[i] : NAN, row, &result, error);
        if (status != OIF_OK)
            return status;
        job->records[i] = record_of(&result);
        if (job->shares)
            explain_row(job, i, result.anomaly || !job->anomalies_only);
    }
    return OIF_OK;
}

static bool report(const row_job *job, Py_ssize_t count)
{
    PyObject *answer = job->report ? PyObject_CallFunction(job->report, "n", count) : NULL;
    Py_XDECREF(answer);
    return answer || !job->report;
}

/* Processes chunks without the GIL, and checks for signals in between. */
static bool process_chunks(const row_job *job)
{
    Py_ssize_t count = job->rows->count;
    bool good = true;
    PyThreadState *state = PyEval_SaveThread();
    for (Py_ssize_t first = 0; good && first < count; first += CHUNK_ROWS) {
        Py_ssize_t end = count - first < CHUNK_ROWS ? count : first + CHUNK_ROWS;
        oif_error error;
        oif_status status = process_rows(job, first, end, &error);
        if (status == OIF_OK && end == count)
            break;
        PyEval_RestoreThread(state);
        if (status != OIF_OK)
            raise_error(&error);
        good = status == OIF_OK && PyErr_CheckSignals() == 0 && report(job, end - first);
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    return good && report(job, (count - 1) % CHUNK_ROWS + 1);
}

/* ---- Tables ---- */

static void take_row(void *context, oif_pipeline *pipeline, size_t row, const oif_result *result)
{
    const row_job *job = context;
    (void)pipeline; /* that of the job */
    job->records[row] = record_of(result);
    if (job->shares)
        explain_row(job, (Py_ssize_t)row, result->anomaly || !job->anomalies_only);
}

/* Processes the rows as a table, without the GIL. */
static bool process_table(row_job *job)
{
    const size_t count = (size_t)job->rows->count, columns = (size_t)job->rows->columns;
    double *rows = PyMem_Malloc(count * columns * sizeof *rows);
    oif_result *results = PyMem_Malloc(count * sizeof *results);
    oif_status status = OIF_EMEMORY;
    oif_error error = {.status = OIF_EMEMORY};
    if (rows && results) {
        row_input_copy(job->rows, 0, job->rows->count, rows);
        PyThreadState *state = PyEval_SaveThread();
        status =
            oif_pipeline_process_table(job->self->base.made, rows, count, columns, job->seconds,
                                       take_row, job, results, job->table, &error);
        PyEval_RestoreThread(state);
    }
    PyMem_Free(rows);
    PyMem_Free(results);
    if (!rows || !results)
        PyErr_NoMemory();
    else if (status != OIF_OK)
        raise_error(&error);
    return status == OIF_OK && report(job, job->rows->count);
}

/* ---- Rows ---- */

/* Short single rows keep the GIL, as in detectors, because they are fast. With models in a file, a
 * row may have to wait for it. */
static bool is_short(const row_job *job)
{
    return job->rows->count == 1 && job->rows->columns <= ROW_NUMBERS && !job->make_room &&
           !job->self->file && !job->table;
}

static bool process_short_row(row_job *job)
{
    double copy[ROW_NUMBERS];
    oif_error error;
    job->copy = copy;
    oif_status status = process_rows(job, 0, 1, &error);
    if (status != OIF_OK)
        raise_error(&error);
    return status == OIF_OK;
}

static bool check_times(const row_job *job)
{
    for (Py_ssize_t i = 0; job->seconds && i < job->rows->count; i++)
        if (isinf(job->seconds[i])) {
            raise_data_error(OIF_CAUSE_INFINITE_VALUE, i, -1, "the time of a row is infinite");
            return false;
        }
    return true;
}

/* All or nothing: finds an infinity before processing the first row. */
static bool check_and_process(row_job *job)
{
    const row_input *rows = job->rows;
    Py_ssize_t row, column;
    if (!check_times(job))
        return false;
    if (row_input_find_infinity(rows, &row, &column)) {
        raise_infinity(row, column, rows->single,
                       job->owner->names ? job->owner->names : rows->names);
        return false;
    }
    if (is_short(job))
        return process_short_row(job);
    job->copy = PyMem_Malloc((size_t)rows->columns * sizeof *job->copy);
    job->attributions = PyMem_Malloc(oif_pipeline_learned_columns(job->self->base.made) *
                                     sizeof *job->attributions);
    bool good = job->copy && job->attributions;
    if (!good)
        PyErr_NoMemory();
    good = good && (job->table ? process_table(job) : process_chunks(job));
    PyMem_Free(job->copy);
    PyMem_Free(job->attributions);
    return good;
}

/* Lends the owner's detector to the pipeline. A second call returns it. */
static bool exchange(const row_job *job)
{
    oif_detector *detector = job->owner->made;
    oif_error error;
    if (job->owner == &job->self->base)
        return true;
    if (oif_pipeline_exchange_detector(job->self->base.made, NULL, 0, &detector, &error) !=
        OIF_OK) {
        raise_error(&error);
        return false;
    }
    job->owner->made = detector;
    return true;
}

/* Creates the pipeline for the first rows. Names that come with rows must be known to its rules
 * before the first of these is judged. */
static bool prepare(const row_job *job)
{
    learner *base = &job->self->base, *owner = job->owner;
    PyObject *names = owner->names ? owner->names : job->rows->names;
    bool is_new = !base->made;
    return learner_prepare(owner, job->rows) && learner_prepare(base, job->rows) &&
           pipeline_name_columns(job->self, names) &&
           (!is_new || (pipeline_derive(job->self, names) && pipeline_begin_rules(job->self)));
}

static bool take_room(row_job *job)
{
    const oif_pipeline *made = job->self->base.made;
    Py_ssize_t columns = made ? (Py_ssize_t)oif_pipeline_learned_columns(made) : job->rows->columns;
    if (!job->make_room)
        return true;
    if (!make_results(&job->to, job->make_room, job->rows, columns, job->with_shares))
        return false;
    job->records = job->to.views[0].data;
    if (job->with_shares) {
        job->shares = job->to.views[1].data;
        job->directions = job->to.views[2].data;
    }
    return true;
}

static bool process_locked(row_job *job)
{
    learner *base = &job->self->base, *owner = job->owner;
    bool fresh = !owner->made;
    uint64_t before = base->made ? oif_pipeline_rows(base->made) : 0;
    bool good = prepare(job) && take_room(job) && exchange(job);
    if (good) {
        good = check_and_process(job);
        good = exchange(job) && good;
    }
    if (base->made && oif_pipeline_rows(base->made) > before) {
        learner_adopt_names(owner, job->rows);
    } else if (fresh) {
        /* a failed call changes nothing: the next one may have other columns */
        owner->kind->free(owner);
        base->kind->free(base);
    }
    return good;
}

static bool process(row_job *job)
{
    learner *base = &job->self->base, *owner = job->owner;
    if (owner != base && !owner->kind->enter(owner, true))
        return false;
    bool good = learner_enter(base, true);
    if (good) {
        good = process_locked(job);
        learner_leave(base);
    }
    if (owner != base)
        learner_leave(owner);
    return good;
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

/* The times of rows: an array of doubles, one per row, made by seconds_of in python/oif/_arrays.py.
 * NULL with an exception set, or for None. */
static const double *read_times(PyObject *object, array_view *view, Py_ssize_t count)
{
    if (object == Py_None)
        return NULL;
    if (!array_view_get(view, object))
        return NULL;
    if (view->kind == 'f' && view->item_bytes == sizeof(double) && view->dimensions == 1 &&
        view->shape[0] == count && (count < 2 || view->strides[0] == sizeof(double)))
        return view->data;
    raise_data_error(OIF_CAUSE_NONE, -1, -1, "there must be a time for each of the %zd rows",
                     count);
    return NULL;
}

/* (arrays, whether it was a single row, (anomalies, chance) of a table or None); NULL with an
 * exception set. */
static PyObject *job_as_python(const row_job *job, bool is_good)
{
    PyObject *table = NULL;
    if (is_good)
        table = job->table ? Py_BuildValue("Kd", (unsigned long long)job->table->anomalies,
                                           job->table->chance)
                           : Py_NewRef(Py_None);
    if (table)
        return Py_BuildValue("NON", job->to.arrays, job->rows->single ? Py_True : Py_False, table);
    Py_XDECREF(job->to.arrays);
    return NULL;
}

/* _process(x, keys, times, room, with_shares, anomalies_only, detector, report, is_table): as
 * job_as_python */
PyObject *pipeline_process(PyObject *object, PyObject *arguments)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *x, *key_tuple, *times, *make_room, *detector, *report;
    int with_shares, anomalies_only, is_table = 0;
    if (!PyArg_ParseTuple(arguments, "OOOOppOO|p:_process", &x, &key_tuple, &times, &make_room,
                          &with_shares, &anomalies_only, &detector, &report, &is_table))
        return NULL;
    learner *owner = owner_of_rows(self, detector);
    if (!owner)
        return NULL;
    row_input rows;
    row_key *keys = NULL;
    array_view view = {.capsule = NULL};
    expected_rows expected = learner_expects(owner);
    oif_table_info table = {.rows = 0};
    row_job job = {.self = self,
                   .owner = owner,
                   .rows = &rows,
                   .make_room = make_room,
                   .table = is_table ? &table : NULL};
    bool good = row_input_read(&rows, x, &expected, SERIES) &&
                (key_tuple == Py_None || (keys = key_read_all(key_tuple, rows.count))) &&
                (times == Py_None || (job.seconds = read_times(times, &view, rows.count)));
    job.keys = keys;
    job.report = report == Py_None ? NULL : report;
    job.with_shares = with_shares;
    job.anomalies_only = anomalies_only;
    good = good && (rows.count == 0 ? take_room(&job) : process(&job));
    results_release(&job.to);
    array_view_release(&view);
    PyMem_Free(keys);
    PyObject *made = job_as_python(&job, good);
    row_input_free(&rows);
    return made;
}

/* oif.Result, and the enumerations of its members as tuples. */
static PyObject *result_type, *episodes, *grades, *reasons;
static allocfunc allocate_result;

static void replace(PyObject **old, PyObject *value)
{
    PyObject *before = *old;
    *old = Py_XNewRef(value);
    Py_XDECREF(before);
}

/* Static variables belong to one interpreter. From 3.12 on, Python itself refuses to load the
 * module into a second one. */
static bool is_in_its_interpreter(void)
{
    static int64_t first = -1;
    int64_t here = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (first == -1)
        first = here;
    if (here != first)
        PyErr_SetString(PyExc_ImportError, "oif is loaded in another interpreter of this process");
    return here == first;
}

PyObject *set_result_type(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *type, *given[3];
    if (!is_in_its_interpreter())
        return NULL;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:_set_result_type", &type, &PyTuple_Type, &given[0],
                          &PyTuple_Type, &given[1], &PyTuple_Type, &given[2]))
        return NULL;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a result is a named tuple");
        return NULL;
    }
    allocate_result = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    replace(&result_type, type);
    replace(&episodes, given[0]);
    replace(&grades, given[1]);
    replace(&reasons, given[2]);
    return Py_NewRef(Py_None);
}

/* A new reference to a member of an enumeration. */
static PyObject *member(PyObject *members, Py_ssize_t i)
{
    return Py_XNewRef(PyTuple_GetItem(members, i));
}

/* An oif.Result: a named tuple. It is filled in place, because its constructor takes as long as a
 * row, and that of tuple would copy another tuple. */
static PyObject *result_as_python(const record *r)
{
    enum { FIELDS = 12 };
    if (!result_type) {
        PyErr_SetString(PyExc_SystemError, "the type of results is not set");
        return NULL;
    }
    PyObject *result = allocate_result((PyTypeObject *)result_type, FIELDS);
    if (!result)
        return NULL;
    PyObject *values[FIELDS] = {PyFloat_FromDouble(r->score),     PyFloat_FromDouble(r->p),
                                PyFloat_FromDouble(r->threshold), PyBool_FromLong(r->anomaly),
                                PyBool_FromLong(r->ready),        PyBool_FromLong(r->learned),
                                member(episodes, r->episode),     member(grades, r->grade),
                                PyFloat_FromDouble(r->severity),  member(reasons, r->reason),
                                PyBool_FromLong(r->has_no_model), PyLong_FromUnsignedLong(r->rule)};
    bool good = true;
    for (int i = 0; i < FIELDS; i++) {
        good = good && values[i];
        PyTuple_SetItem(result, i, values[i]);
    }
    PyObject_GC_UnTrack(result); /* it cannot be part of a cycle, and programs keep many */
    if (!good)
        Py_CLEAR(result);
    return result;
}

/* _process_one(row), or _process_one(row, key, seconds, detector) */
PyObject *pipeline_process_one(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    pipeline_object *self = (pipeline_object *)object;
    row_input rows;
    row_key its_key = {NULL, 0};
    record result;
    if (count != 1 && count != 4) {
        PyErr_SetString(PyExc_TypeError, "_process_one takes a row, a key, a time and a detector");
        return NULL;
    }
    learner *owner = count == 1 ? &self->base : owner_of_rows(self, arguments[3]);
    if (!owner)
        return NULL;
    double seconds = count == 1 ? (double)NAN : PyFloat_AsDouble(arguments[2]);
    if (seconds == -1 && PyErr_Occurred())
        return NULL;
    row_job job = {.self = self,
                   .owner = owner,
                   .rows = &rows,
                   .keys = &its_key,
                   .seconds = &seconds,
                   .records = &result};
    expected_rows expected = learner_expects(owner);
    bool good = row_input_read(&rows, arguments[0], &expected, ONE_ROW) &&
                (count == 1 || key_read(arguments[1], &its_key, 0)) && process(&job);
    row_input_free(&rows);
    return good ? result_as_python(&result) : NULL;
}

/* (share, direction, reason, partner or None) */
static PyObject *attribution_tuple(const oif_attribution *why)
{
    PyObject *partner = why->reason == OIF_REASON_PARTNER ? PyLong_FromUnsignedLong(why->partner)
                                                          : Py_NewRef(Py_None);
    return Py_BuildValue("diiN", why->share, why->direction, (int)why->reason, partner);
}

PyObject *pipeline_explain(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true))
        return NULL;
    size_t columns = self->base.made ? oif_pipeline_learned_columns(self->base.made) : 0;
    oif_attribution *room = PyMem_Malloc((columns + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && self->base.made)
        oif_pipeline_explain(self->base.made, room);
    learner_leave(&self->base);
    for (size_t i = 0; list && i < columns; i++) {
        PyObject *why = attribution_tuple(&room[i]);
        if (!why || PyList_Append(list, why) < 0)
            Py_CLEAR(list);
        Py_XDECREF(why);
    }
    PyMem_Free(room);
    return list;
}

/* (value, low, high, basis) */
static PyObject *expected_tuple(double value, const oif_expected *expected)
{
    return Py_BuildValue("dddi", value, expected->low, expected->high, (int)expected->basis);
}

PyObject *pipeline_expected(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true)) /* it may unpack a model */
        return NULL;
    const oif_pipeline *made = self->base.made;
    size_t columns = made ? oif_pipeline_learned_columns(made) : 0;
    oif_expected *room = PyMem_Malloc((columns + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && made)
        oif_pipeline_expected(made, room);
    const double *row = list && made ? oif_pipeline_learned_row(made) : NULL;
    for (size_t i = 0; list && i < columns; i++) {
        PyObject *tuple = expected_tuple(row ? row[i] : (double)NAN, &room[i]);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    learner_leave(&self->base);
    PyMem_Free(room);
    return list;
}

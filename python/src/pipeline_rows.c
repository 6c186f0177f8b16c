/* Processes rows through a pipeline, one or many, with results and explanations. */
#include "core.h"

#include <math.h>

enum { CHUNK_ROWS = 1 << 13 }; /* between two checks for signals */

/* Fewer rows are not worth the start of threads, or a copy of the rows. */
enum { FEWEST_BLOCK_ROWS = 256 };

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

    unsigned threads;           /* that share the keys of a chunk */
    PyThread_type_lock scratch; /* of `attributions`; NULL unless threads may share them */
} row_job;

static void explain_row(const row_job *job, oif_pipeline *pipeline, Py_ssize_t row, bool wanted)
{
    size_t columns = oif_pipeline_learned_columns(pipeline);
    if (wanted)
        oif_pipeline_explain(pipeline, job->attributions);
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
        job->records[i] = result_record(&result);
        if (job->shares)
            explain_row(job, job->self->base.made, i, result.anomaly || !job->anomalies_only);
    }
    return OIF_OK;
}

/* ---- Blocks ---- */

/* Chunks of rows as the library takes them. */
typedef struct chunk {
    double *rows;
    const char **keys;
    size_t *key_bytes;
    oif_result *results;
} chunk;

static bool chunk_new(chunk *made, const row_job *job)
{
    const size_t count = job->rows->count < CHUNK_ROWS ? (size_t)job->rows->count : CHUNK_ROWS;
    *made = (chunk){.rows = PyMem_Malloc(count * (size_t)job->rows->columns * sizeof *made->rows),
                    .keys = PyMem_Malloc(count * sizeof *made->keys),
                    .key_bytes = PyMem_Malloc(count * sizeof *made->key_bytes),
                    .results = PyMem_Malloc(count * sizeof *made->results)};
    return made->rows && made->keys && made->key_bytes && made->results;
}

static void chunk_free(chunk *made)
{
    PyMem_Free(made->rows);
    PyMem_Free(made->keys);
    PyMem_Free(made->key_bytes);
    PyMem_Free(made->results);
}

/* The rows of a chunk, for take_chunk_row. */
typedef struct chunk_context {
    const row_job *job;
    Py_ssize_t first;
} chunk_context;

/* With shares; on the thread that processed the row. */
static void take_chunk_row(void *context, oif_pipeline *pipeline, size_t row,
                           const oif_result *result)
{
    const chunk_context *of = context;
    const row_job *job = of->job;
    const Py_ssize_t i = of->first + (Py_ssize_t)row;
    PyThread_acquire_lock(job->scratch, WAIT_LOCK);
    explain_row(job, pipeline, i, result->anomaly || !job->anomalies_only);
    PyThread_release_lock(job->scratch);
}

/* The same as process_rows, bit for bit. Without a function after each row the library processes
 * the rows of each key together. */
static oif_status process_block(const row_job *job, chunk *to, Py_ssize_t first, Py_ssize_t end,
                                oif_error *error)
{
    const size_t count = (size_t)(end - first), columns = (size_t)job->rows->columns;
    chunk_context context = {job, first};
    size_t done;
    row_input_copy(job->rows, first, end - first, to->rows);
    for (size_t i = 0; job->keys && i < count; i++) {
        to->keys[i] = job->keys[first + (Py_ssize_t)i].bytes;
        to->key_bytes[i] = (size_t)job->keys[first + (Py_ssize_t)i].count;
    }
    oif_status status = oif_pipeline_process_rows_with(
        job->self->base.made, to->rows, count, columns, job->keys ? to->keys : NULL,
        job->keys ? to->key_bytes : NULL, job->seconds ? job->seconds + first : NULL,
        job->shares ? take_chunk_row : NULL, &context, to->results, &done, error);
    if (status != OIF_OK)
        error->line = 0; /* it is that of the chunk */
    for (size_t i = 0; i < done; i++)
        job->records[first + (Py_ssize_t)i] = result_record(&to->results[i]);
    return status;
}

/* ---- Chunks ---- */

static bool report(const row_job *job, Py_ssize_t count)
{
    PyObject *answer = job->report ? PyObject_CallFunction(job->report, "n", count) : NULL;
    Py_XDECREF(answer);
    return answer || !job->report;
}

/* Processes chunks without the GIL, and checks for signals in between. `block`: for chunks as a
 * whole; NULL: row by row. */
static bool process_chunks(const row_job *job, chunk *block)
{
    Py_ssize_t count = job->rows->count;
    bool good = true;
    PyThreadState *state = PyEval_SaveThread();
    for (Py_ssize_t first = 0; good && first < count; first += CHUNK_ROWS) {
        Py_ssize_t end = count - first < CHUNK_ROWS ? count : first + CHUNK_ROWS;
        oif_error error;
        oif_status status = block ? process_block(job, block, first, end, &error)
                                  : process_rows(job, first, end, &error);
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

/* The threads exist only during the call, so a fork never loses them. */
static bool process_blocks(row_job *job)
{
    oif_pipeline *made = job->self->base.made;
    oif_error error;
    chunk block;
    bool has_room = chunk_new(&block, job) && (job->scratch = PyThread_allocate_lock()) != NULL;
    bool has_threads = has_room && oif_pipeline_set_threads(made, job->threads, &error) == OIF_OK;
    bool good = has_threads && process_chunks(job, &block);
    if (!has_room)
        PyErr_NoMemory();
    else if (!has_threads)
        raise_error(&error);
    if (has_threads) /* one is always possible */
        has_threads = oif_pipeline_set_threads(made, 1, NULL) == OIF_OK;
    if (job->scratch)
        PyThread_free_lock(job->scratch);
    chunk_free(&block);
    return good;
}

static bool process_stream(row_job *job)
{
    const bool is_grouped = job->keys && !job->shares;
    const bool is_block = (job->threads > 1 || is_grouped) && job->rows->count >= FEWEST_BLOCK_ROWS;
    return is_block ? process_blocks(job) : process_chunks(job, NULL);
}

/* ---- Tables ---- */

static void take_row(void *context, oif_pipeline *pipeline, size_t row, const oif_result *result)
{
    const row_job *job = context;
    job->records[row] = result_record(result);
    if (job->shares)
        explain_row(job, pipeline, (Py_ssize_t)row, result->anomaly || !job->anomalies_only);
}

/* Processes the rows as a table, without the GIL. */
static bool process_table(row_job *job)
{
    const size_t count = (size_t)job->rows->count, columns = (size_t)job->rows->columns;
    double *rows = PyMem_Malloc(count * columns * sizeof *rows);
    oif_result *found = PyMem_Malloc(count * sizeof *found);
    oif_status status = OIF_EMEMORY;
    oif_error error = {.status = OIF_EMEMORY};
    if (rows && found) {
        row_input_copy(job->rows, 0, job->rows->count, rows);
        PyThreadState *state = PyEval_SaveThread();
        status = oif_pipeline_process_table(job->self->base.made, rows, count, columns,
                                            job->seconds, take_row, job, found, job->table, &error);
        PyEval_RestoreThread(state);
    }
    PyMem_Free(rows);
    PyMem_Free(found);
    if (!rows || !found)
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
    good = good && (job->table ? process_table(job) : process_stream(job));
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

/* _process(x, keys, times, room, with_shares, anomalies_only, detector, report, is_table, threads):
 * as job_as_python */
PyObject *pipeline_process(PyObject *object, PyObject *arguments)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *x, *key_tuple, *times, *make_room, *detector, *report;
    int with_shares, anomalies_only, is_table = 0;
    unsigned threads = 1;
    if (!PyArg_ParseTuple(arguments, "OOOOppOO|pI:_process", &x, &key_tuple, &times, &make_room,
                          &with_shares, &anomalies_only, &detector, &report, &is_table, &threads))
        return NULL;
    learner *owner = owner_of_rows(self, detector);
    if (!owner)
        return NULL;
    row_input rows;
    row_key *keys = NULL;
    array_view view = {.owner = NULL};
    expected_rows expected = learner_expects(owner);
    oif_table_info table = {.rows = 0};
    row_job job = {.self = self,
                   .owner = owner,
                   .rows = &rows,
                   .make_room = make_room,
                   .table = is_table ? &table : NULL,
                   .threads = threads};
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

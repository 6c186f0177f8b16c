/* The type Detector: a kind with parameters. The first row determines the number of columns; from
 * then on there is an oif_detector.
 *
 * Single rows are processed with the GIL held: they take about a microsecond, and releasing it
 * would cost a good part of that. Blocks release it for some thousand rows at a time, so other
 * threads run and Ctrl-C works. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* numbers of a block between two checks for signals: some 10 milliseconds */
enum { CHUNK_NUMBERS = 1 << 17 };

typedef struct detector_object {
    learner base; /* made: an oif_detector */
    unsigned threads;
} detector_object;

PyTypeObject *detector_type;

typedef enum action { LEARN, SCORE, LEARN_SCORE, SCORE_LEARN } action;

static bool set_threads(detector_object *self, unsigned threads)
{
    oif_error error;
    if (!self->base.made || oif_detector_set_threads(self->base.made, threads, &error) == OIF_OK)
        return true;
    raise_error(&error);
    return false;
}

/* ---- Its learner_kind ---- */

static bool make_detector(learner *base, size_t columns)
{
    detector_object *self = (detector_object *)base;
    oif_detector *detector = NULL;
    oif_error error;
    oif_status status = oif_detector_new(&base->params, columns, &detector, &error);
    if (status == OIF_OK && self->threads > 1)
        status = oif_detector_set_threads(detector, self->threads, &error);
    if (status != OIF_OK) {
        oif_detector_free(detector);
        raise_error(&error);
        return false;
    }
    base->made = detector;
    return true;
}

/* In a forked child the threads are gone, so their pool cannot be freed. */
static void free_detector(learner *base)
{
    if (((detector_object *)base)->threads == 1 || !guard_is_forked(&base->guard))
        oif_detector_free(base->made);
    base->made = NULL;
}

/* In a forked child, copies a detector with threads, which leaves the parent's threads behind. */
static bool leave_threads_behind(detector_object *self)
{
    oif_detector *copy;
    oif_error error;
    if (oif_detector_clone(self->base.made, &copy, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    self->base.made = copy;
    return set_threads(self, self->threads);
}

static bool enter(learner *base, bool writing)
{
    detector_object *self = (detector_object *)base;
    bool forked = guard_is_forked(&base->guard);
    if (!learner_enter(base, writing))
        return false;
    if (!forked || self->threads == 1 || !base->made || leave_threads_behind(self))
        return true;
    learner_leave(base);
    return false;
}

static size_t detector_columns(const void *made)
{
    return oif_detector_columns(made);
}

static const char *detector_column_name(const void *made, size_t column)
{
    return oif_detector_column_name(made, column);
}

static oif_status name_detector_columns(void *made, const char *const *names, oif_error *error)
{
    return oif_detector_name_columns(made, names, error);
}

static oif_status check_detector(const void *made, oif_error *error)
{
    return oif_detector_check(made, error);
}

static oif_status save_detector(const void *made, oif_write_function write, void *context,
                                oif_error *error)
{
    return oif_detector_save(made, write, context, error);
}

static oif_status save_detector_file(const void *made, const char *path, oif_error *error)
{
    return oif_detector_save_file(made, path, error);
}

static oif_status load_detector(learner *base, const void *bytes, size_t count, size_t *used,
                                oif_error *error)
{
    oif_detector *detector;
    learner_bytes from = {bytes, count, 0};
    oif_status status = used ? oif_detector_load(learner_read_bytes, &from, &detector, error)
                             : oif_detector_load_memory(bytes, count, &detector, error);
    if (status == OIF_OK) {
        if (used)
            *used = from.used;
        base->made = detector;
        base->params = *oif_detector_params(detector);
    }
    return status;
}

static oif_status copy_detector(learner *base, const learner *from, oif_error *error)
{
    oif_detector *copy = NULL;
    oif_status status = from->made ? oif_detector_clone(from->made, &copy, error) : OIF_OK;
    if (status == OIF_OK)
        base->made = copy;
    return status;
}

static const learner_kind detector_kind = {
    .noun = "detector",
    .enter = enter,
    .make = make_detector,
    .free = free_detector,
    .columns = detector_columns,
    .column_name = detector_column_name,
    .name_columns = name_detector_columns,
    .check = check_detector,
    .save = save_detector,
    .save_file = save_detector_file,
    .load = load_detector,
    .copy = copy_detector,
};

/* ---- Creation ---- */

static PyObject *detector_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    PyObject *self = learner_new(type, &detector_kind);
    if (self)
        ((detector_object *)self)->threads = 1;
    return self;
}

static int detector_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    learner *self = (learner *)object;
    static char *words[] = {"kind", "params", NULL};
    const char *kind;
    PyObject *values = NULL;
    oif_params params;
    oif_error error;
    size_t bytes;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sO:Detector", words, &kind, &values) ||
        !learner_read_params(self, kind, values, &params))
        return -1;
    /* do they fit together? */
    if (oif_detector_estimate_bytes(&params, 1, &bytes, &error) != OIF_OK) {
        raise_error(&error);
        return -1;
    }
    self->params = params;
    return 0;
}

/* ---- Rows ---- */

static oif_status act_on_row(detector_object *self, action what, const double *row, double *score,
                             oif_error *error)
{
    switch (what) {
    case LEARN: return oif_detector_learn(self->base.made, row, error);
    case SCORE: return oif_detector_score(self->base.made, row, score, error);
    case SCORE_LEARN: return oif_detector_score_learn(self->base.made, row, score, error);
    case LEARN_SCORE: break;
    }
    return oif_detector_learn_score(self->base.made, row, score, error);
}

static oif_status act_on_block(detector_object *self, action what, const double *block,
                               size_t count, size_t stride, double *scores, oif_error *error)
{
    switch (what) {
    case LEARN: return oif_detector_learn_rows(self->base.made, block, count, stride, error);
    case SCORE:
        return oif_detector_score_rows(self->base.made, block, count, stride, scores, error);
    case SCORE_LEARN:
        return oif_detector_score_learn_rows(self->base.made, block, count, stride, scores, error);
    case LEARN_SCORE: break;
    }
    return oif_detector_learn_score_rows(self->base.made, block, count, stride, scores, error);
}

/* What a call does with its rows. */
typedef struct row_action {
    action what;
    double *scores;   /* space for one per row; NULL: none wanted */
    PyObject *report; /* called with the rows of each chunk; NULL: no progress reports */
} row_action;

static bool report(const row_action *does, Py_ssize_t count)
{
    PyObject *answer = does->report ? PyObject_CallFunction(does->report, "n", count) : NULL;
    Py_XDECREF(answer);
    return answer || !does->report;
}

/* Learns or scores rows in chunks, without the GIL, and checks for signals in between. `copy` has
 * space for a chunk, or is NULL if the library can read the rows in place. */
static bool act_on_chunks(detector_object *self, const row_action *does, const row_input *rows,
                          Py_ssize_t chunk, double *copy)
{
    size_t stride = (size_t)rows->columns;
    if (!copy)
        row_input_in_place(rows, &stride);
    bool good = true;
    PyThreadState *state = PyEval_SaveThread();
    for (Py_ssize_t first = 0; good && first < rows->count; first += chunk) {
        Py_ssize_t count = rows->count - first < chunk ? rows->count - first : chunk;
        const double *block = (const double *)(const void *)(rows->data + first * rows->row_stride);
        oif_error error;
        if (copy) {
            row_input_copy(rows, first, count, copy);
            block = copy;
        }
        oif_status status = act_on_block(self, does->what, block, (size_t)count, stride,
                                         does->scores ? does->scores + first : NULL, &error);
        if (status == OIF_OK && first + count == rows->count && !does->report)
            break;
        PyEval_RestoreThread(state);
        if (status != OIF_OK)
            learner_raise(&self->base, &error, first, rows);
        good = status == OIF_OK && report(does, count) && PyErr_CheckSignals() == 0;
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    return good;
}

/* All or nothing: rows of several chunks are checked before the first chunk. */
static bool has_infinity(detector_object *self, const row_input *rows)
{
    Py_ssize_t row = 0, column = 0;
    PyThreadState *state = PyEval_SaveThread();
    bool found = row_input_find_infinity(rows, &row, &column);
    PyEval_RestoreThread(state);
    if (found)
        raise_infinity(row, column, false, self->base.names ? self->base.names : rows->names);
    return found;
}

static bool act_on_rows(detector_object *self, const row_action *does, const row_input *rows)
{
    size_t stride;
    Py_ssize_t chunk = CHUNK_NUMBERS / rows->columns + 1;
    double *copy = NULL;
    if (chunk > rows->count)
        chunk = rows->count;
    if (chunk < rows->count && has_infinity(self, rows))
        return false;
    if (!row_input_in_place(rows, &stride)) {
        copy = PyMem_Malloc((size_t)(chunk * rows->columns) * sizeof *copy);
        if (!copy) {
            PyErr_NoMemory();
            return false;
        }
    }
    bool good = act_on_chunks(self, does, rows, chunk, copy);
    PyMem_Free(copy);
    return good;
}

static bool act_locked(detector_object *self, const row_action *does, const row_input *rows)
{
    oif_error error;
    double copy[ROW_NUMBERS];
    bool first = !self->base.made, good;
    if (!learner_prepare(&self->base, rows))
        return false;
    if (rows->single && rows->columns <= ROW_NUMBERS) {
        good = act_on_row(self, does->what, row_input_at(rows, 0, copy), does->scores, &error) ==
               OIF_OK;
        if (!good)
            learner_raise(&self->base, &error, 0, rows);
    } else {
        good = act_on_rows(self, does, rows);
    }
    /* a failed call changes nothing */
    if (!good && first && oif_detector_rows_learned(self->base.made) == 0)
        free_detector(&self->base); /* the next rows may have other columns */
    if (good && rows->names)
        learner_adopt_names(&self->base, rows);
    return good;
}

/* Acts on the rows of x. With `open`, a function: it is called with the number of rows, and what it
 * returns is called with the rows of each chunk. */
static PyObject *act(detector_object *self, action what, PyObject *x, rows_wanted wanted,
                     PyObject *open)
{
    row_input rows;
    double score = 0;
    row_action does = {.what = what, .scores = what == LEARN ? NULL : &score};
    PyObject *array = NULL;
    array_view view;
    expected_rows expected = learner_expects(&self->base);
    bool good = row_input_read(&rows, x, &expected, wanted);
    if (good && !rows.single && what != LEARN) {
        array = new_array(rows.count, -1, &view);
        good = array != NULL;
        does.scores = good ? view.data : NULL;
    }
    if (good && open && !rows.single)
        good = (does.report = PyObject_CallFunction(open, "n", rows.count)) != NULL;
    if (good && rows.count > 0 && (good = enter(&self->base, what != SCORE))) {
        good = act_locked(self, &does, &rows);
        learner_leave(&self->base);
    }
    Py_XDECREF(does.report);
    if (array)
        array_view_release(&view);
    bool single = good && rows.single;
    row_input_free(&rows);
    if (!good || what == LEARN) {
        Py_XDECREF(array);
        return good ? Py_NewRef(Py_None) : NULL;
    }
    return single ? PyFloat_FromDouble(score) : array;
}

/* _act(what, x, open): called by methods with progress, through python/oif/_progress.py */
static PyObject *detector_act(PyObject *self, PyObject *arguments)
{
    int what;
    PyObject *x, *open;
    if (!PyArg_ParseTuple(arguments, "iOO:_act", &what, &x, &open))
        return NULL;
    if (what < LEARN || what > SCORE_LEARN) {
        PyErr_SetString(PyExc_ValueError, "there is no such action");
        return NULL;
    }
    return act((detector_object *)self, (action)what, x, SOME_ROWS, open);
}

/* Python opens the progress bar, and closes it in any case. */
static PyObject *act_with_progress(PyObject *self, action what, PyObject *x, PyObject *progress)
{
    PyObject *module = PyImport_ImportModule("oif._progress");
    PyObject *answer = module ? PyObject_CallMethod(module, "act_with_progress", "OiOO", self,
                                                    (int)what, x, progress)
                              : NULL;
    Py_XDECREF(module);
    return answer;
}

/* The value of `progress`, the only keyword. NULL with an exception set. */
static PyObject *read_progress(action what, PyObject *const *arguments, Py_ssize_t count,
                               PyObject *words)
{
    static const char *const names[] = {"learn", "score", "learn_score", "score_learn"};
    if (count == 1 && PyTuple_Size(words) == 1 &&
        PyUnicode_CompareWithASCIIString(PyTuple_GetItem(words, 0), "progress") == 0)
        return arguments[1];
    PyErr_Format(PyExc_TypeError, "%s() takes one argument, the rows, and the keyword progress",
                 names[what]);
    return NULL;
}

static PyObject *act_on_arguments(PyObject *self, action what, PyObject *const *arguments,
                                  Py_ssize_t count, PyObject *words)
{
    bool has_words = words && PyTuple_Size(words) > 0;
    PyObject *progress = Py_False;
    if (count != 1 || has_words)
        progress = read_progress(what, arguments, count, words);
    int wanted = progress == Py_False ? 0 : progress ? PyObject_IsTrue(progress) : -1;
    if (wanted == 0)
        return act((detector_object *)self, what, arguments[0], SOME_ROWS, NULL);
    return wanted > 0 ? act_with_progress(self, what, arguments[0], progress) : NULL;
}

#define ROWS_METHOD(name, what)                                                                    \
    static PyObject *name(PyObject *self, PyObject *const *arguments, Py_ssize_t count,            \
                          PyObject *words)                                                         \
    {                                                                                              \
        return act_on_arguments(self, what, arguments, count, words);                              \
    }
ROWS_METHOD(detector_learn, LEARN)
ROWS_METHOD(detector_score, SCORE)
ROWS_METHOD(detector_learn_score, LEARN_SCORE)
ROWS_METHOD(detector_score_learn, SCORE_LEARN)

#define ROW_METHOD(name, what)                                                                     \
    static PyObject *name(PyObject *self, PyObject *x)                                             \
    {                                                                                              \
        return act((detector_object *)self, what, x, ONE_ROW, NULL);                               \
    }
ROW_METHOD(detector_learn_one, LEARN)
ROW_METHOD(detector_score_one, SCORE)
ROW_METHOD(detector_learn_score_one, LEARN_SCORE)
ROW_METHOD(detector_score_learn_one, SCORE_LEARN)

static PyObject *detector_reset(PyObject *object, PyObject *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    if (!enter(&self->base, true))
        return NULL;
    if (self->base.made)
        oif_detector_reset(self->base.made);
    learner_leave(&self->base);
    return Py_NewRef(Py_None);
}

/* ---- Explanations ---- */

static bool explain_rows(detector_object *self, const row_input *rows, Py_ssize_t step_columns,
                         double *shares)
{
    oif_error error = {.status = OIF_OK};
    Py_ssize_t done = 0;
    double *scratch = PyMem_Malloc(2 * (size_t)rows->columns * sizeof *scratch);
    if (!scratch) {
        PyErr_NoMemory();
        return false;
    }
    PyThreadState *state = PyEval_SaveThread();
    for (; done < rows->count; done++)
        if (oif_detector_explain(self->base.made, row_input_at(rows, done, scratch),
                                 (size_t)step_columns, shares + done * step_columns,
                                 scratch + rows->columns, &error) != OIF_OK)
            break;
    PyEval_RestoreThread(state);
    PyMem_Free(scratch);
    if (done < rows->count)
        learner_raise(&self->base, &error, done, rows);
    return done == rows->count;
}

/* The columns of one step as given, or None: all. -1 with an exception set. */
static Py_ssize_t read_step_columns(PyObject *given, const row_input *rows)
{
    Py_ssize_t step_columns = given == Py_None ? rows->columns : PyLong_AsSsize_t(given);
    if (step_columns == -1 && PyErr_Occurred())
        return -1;
    if (step_columns >= 1 && rows->columns % step_columns == 0)
        return step_columns;
    PyErr_Format(PyExc_ValueError, "columns must divide the row length of %zd, %zd does not",
                 rows->columns, step_columns);
    return -1;
}

/* The shares of the rows: an array, or NULL with an exception set. */
static PyObject *explain(detector_object *self, const row_input *rows, Py_ssize_t step_columns)
{
    array_view view;
    PyObject *array = rows->single ? new_array(step_columns, -1, &view)
                                   : new_array(rows->count, step_columns, &view);
    if (!array)
        return NULL;
    bool good = enter(&self->base, false);
    if (good) {
        good =
            learner_prepare(&self->base, rows) && explain_rows(self, rows, step_columns, view.data);
        learner_leave(&self->base);
    }
    array_view_release(&view);
    if (!good)
        Py_CLEAR(array);
    return array;
}

static PyObject *detector_explain(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    detector_object *self = (detector_object *)object;
    static char *words[] = {"x", "columns", NULL};
    PyObject *x, *array = NULL, *given = Py_None;
    row_input rows;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:explain", words, &x, &given))
        return NULL;
    expected_rows expected = learner_expects(&self->base);
    bool good = row_input_read(&rows, x, &expected, SOME_ROWS);
    if (good && !self->base.made) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "nothing was learned that could explain a row");
    } else if (good) {
        Py_ssize_t step_columns = read_step_columns(given, &rows);
        array = step_columns > 0 ? explain(self, &rows, step_columns) : NULL;
    }
    row_input_free(&rows);
    return array;
}

/* ---- Questions ---- */

static void add_figure(void *context, const char *name, double value)
{
    PyObject **dict = context;
    PyObject *number = *dict ? PyFloat_FromDouble(value) : NULL;
    if (!number || PyDict_SetItemString(*dict, name, number) < 0)
        Py_CLEAR(*dict);
    Py_XDECREF(number);
}

static PyObject *detector_describe(PyObject *object, PyObject *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    PyObject *dict = PyDict_New();
    if (!dict || !enter(&self->base, false)) {
        Py_XDECREF(dict);
        return NULL;
    }
    if (self->base.made)
        oif_detector_describe(self->base.made, add_figure, &dict);
    learner_leave(&self->base);
    return dict;
}

static PyObject *detector_estimate_bytes(PyObject *object, PyObject *argument)
{
    detector_object *self = (detector_object *)object;
    Py_ssize_t columns = PyLong_AsSsize_t(argument);
    size_t bytes;
    oif_error error;
    if (columns == -1 && PyErr_Occurred())
        return NULL;
    if (!enter(&self->base, false))
        return NULL;
    learner_leave(&self->base);
    if (oif_detector_estimate_bytes(&self->base.params, columns < 0 ? 0 : (size_t)columns, &bytes,
                                    &error) != OIF_OK)
        return raise_error(&error);
    return PyLong_FromSize_t(bytes);
}

static PyObject *columns_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_detector_columns(made));
}

static PyObject *rows_learned_as_python(const void *made)
{
    return PyLong_FromUnsignedLongLong(oif_detector_rows_learned(made));
}

static PyObject *memory_bytes_as_python(const void *made)
{
    return PyLong_FromSize_t(oif_detector_memory_bytes(made));
}

static PyObject *ready_as_python(const void *made)
{
    return PyBool_FromLong(oif_detector_ready(made));
}

static learner_question columns = {columns_as_python, answer_none},
                        rows_learned = {rows_learned_as_python, answer_zero},
                        memory_bytes = {memory_bytes_as_python, answer_zero},
                        ready = {ready_as_python, answer_false};

static PyObject *get_threads(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((detector_object *)object)->threads);
}

static int set_threads_attribute(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    long threads = value ? PyLong_AsLong(value) : 0;
    if (threads == -1 && PyErr_Occurred())
        return -1;
    if (threads < 1 || threads > OIF_THREADS_MAX) {
        oif_error error = {.status = OIF_EPARAM, .cause = OIF_CAUSE_PARAMETER_RANGE};
        snprintf(error.message, sizeof error.message, "threads must be 1 to %d, not %ld",
                 OIF_THREADS_MAX, threads);
        raise_error(&error);
        return -1;
    }
    if (!enter(&self->base, true))
        return -1;
    bool good = set_threads(self, (unsigned)threads);
    if (good)
        self->threads = (unsigned)threads;
    learner_leave(&self->base);
    return good ? 0 : -1;
}

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"columns", learner_ask, NULL, "The columns of a row; None before the first row.", &columns},
    {"rows_learned", learner_ask, NULL, "The rows learned so far.", &rows_learned},
    {"memory_bytes", learner_ask, NULL,
     "The bytes that the detector takes; 0 before the first row.", &memory_bytes},
    {"ready", learner_ask, NULL, "Whether enough was learned for scores to mean something.",
     &ready},
    {"threads", get_threads, set_threads_attribute,
     "The threads, 1 to 16, that share the work on arrays. Scores do not depend on it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define ROWS_FUNCTION(name) (PyCFunction)(void (*)(void)) name, METH_FASTCALL | METH_KEYWORDS
#define PROGRESS_DOC                                                                               \
    "\n\nWith progress, a bar shows how far it is (tqdm's, if that is there), or a function is "   \
    "called with the rows that are done and all of them."

static PyMethodDef methods[] = {
    {"learn", ROWS_FUNCTION(detector_learn),
     "learn($self, x, /, *, progress=False)\n--\n\nLearn one row, or the rows of an array or "
     "DataFrame one after another." PROGRESS_DOC},
    {"score", ROWS_FUNCTION(detector_score),
     "score($self, x, /, *, progress=False)\n--\n\nScore without learning: a number for one row, "
     "an array for rows. Higher is more anomalous." PROGRESS_DOC},
    {"learn_score", ROWS_FUNCTION(detector_learn_score),
     "learn_score($self, x, /, *, progress=False)\n--\n\nLearn and then score row after row: a "
     "number for one row, an array for rows." PROGRESS_DOC},
    {"score_learn", ROWS_FUNCTION(detector_score_learn),
     "score_learn($self, x, /, *, progress=False)\n--\n\nScore and then learn row after row, as "
     "River does: a row does not lower its own score. A number for one row, an array "
     "for rows." PROGRESS_DOC},
    {"_act", detector_act, METH_VARARGS, NULL},
    {"score_learn_one", detector_score_learn_one, METH_O,
     "score_learn_one($self, x, /)\n--\n\nScore one row, then learn it."},
    {"reset", detector_reset, METH_NOARGS,
     "reset($self, /)\n--\n\nForget all rows; the columns and their names stay."},
    {"learn_one", detector_learn_one, METH_O,
     "learn_one($self, x, /)\n--\n\nLearn one row: a dict, a sequence or an array of one "
     "dimension."},
    {"score_one", detector_score_one, METH_O,
     "score_one($self, x, /)\n--\n\nScore one row without learning it."},
    {"learn_score_one", detector_learn_score_one, METH_O,
     "learn_score_one($self, x, /)\n--\n\nLearn one row, then score it."},
    {"explain", (PyCFunction)(void (*)(void))detector_explain, METH_VARARGS | METH_KEYWORDS,
     "explain($self, /, x, columns=None)\n--\n\nHow much of each row's score is due to each "
     "column: shares that add up to 1, or all 0.\n\nFor rows made of several time steps, give the "
     "columns of one step."},
    {"describe", detector_describe, METH_NOARGS,
     "describe($self, /)\n--\n\nFigures about what was learned, such as leaves and depths, by "
     "name."},
    {"estimate_bytes", detector_estimate_bytes, METH_O,
     "estimate_bytes($self, columns, /)\n--\n\nTotal memory the detector would use for rows of "
     "that many columns, in bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Detector(kind, params)\n--\n\nA detector of the C library."},
    {Py_tp_new, detector_new},
    {Py_tp_init, detector_init},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec detector_spec = {
    .name = "oif._core.Detector",
    .basicsize = sizeof(detector_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

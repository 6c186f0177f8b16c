/* The Java binding: what oif.Native declares.
 *
 * Arrays are copied, never pinned: a pinned array would stop the garbage collector for as long as
 * a call takes, and copying a row costs nothing that could be measured. Handles are addresses; the
 * Java side makes sure that they are valid. Lengths are checked here where memory depends on them.
 */
#include "oif.h"

#include <jni.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESULT_NUMBERS = 12, ATTRIBUTION_NUMBERS = 4 };

/* ---- Failures ---- */

static void throw_named(JNIEnv *env, const char *class_name, const char *message)
{
    jclass type = (*env)->FindClass(env, class_name);
    if (type)
        (*env)->ThrowNew(env, type, message);
}

static void throw_out_of_memory(JNIEnv *env)
{
    throw_named(env, "java/lang/OutOfMemoryError", "no native memory for oif");
}

static jbyteArray bytes_of(JNIEnv *env, const void *bytes, size_t count)
{
    if (count > INT32_MAX) {
        throw_named(env, "java/lang/IllegalStateException", "more than 2 GB do not fit an array");
        return NULL;
    }
    jbyteArray array = (*env)->NewByteArray(env, (jsize)count);
    if (array)
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)count, bytes);
    return array;
}

/* The message may hold bytes that are not UTF-8, so Java decodes it. */
static void throw_error(JNIEnv *env, const oif_error *error)
{
    jclass type = (*env)->FindClass(env, "oif/OifException");
    jmethodID make = type ? (*env)->GetMethodID(env, type, "<init>", "(I[BJJ)V") : NULL;
    jbyteArray message = make ? bytes_of(env, error->message, strlen(error->message)) : NULL;
    jobject thrown = message ? (*env)->NewObject(env, type, make, (jint)error->status, message,
                                                 (jlong)error->line, (jlong)error->column)
                             : NULL;
    if (thrown)
        (*env)->Throw(env, thrown);
}

/* Whether a call went well; otherwise its error is thrown. */
static bool went_well(JNIEnv *env, oif_status status, const oif_error *error)
{
    if (status != OIF_OK)
        throw_error(env, error);
    return status == OIF_OK;
}

/* ---- Arrays ---- */

/* Room on the stack for rows and keys of the usual size. */
enum { USUAL_BYTES = 512 };

typedef struct copied {
    void *bytes; /* NULL: there was no array, or no memory, and then an error is thrown */
    size_t count;
    double usual[USUAL_BYTES / sizeof(double)];
} copied;

static void *make_room(JNIEnv *env, copied *copy, size_t bytes)
{
    copy->bytes = bytes <= sizeof copy->usual ? copy->usual : malloc(bytes);
    if (!copy->bytes)
        throw_out_of_memory(env);
    return copy->bytes;
}

static void free_copy(copied *copy)
{
    if (copy->bytes != copy->usual)
        free(copy->bytes);
}

static bool copy_bytes(JNIEnv *env, jbyteArray array, copied *copy)
{
    jsize count = (*env)->GetArrayLength(env, array);
    copy->count = (size_t)count;
    if (!make_room(env, copy, copy->count))
        return false;
    (*env)->GetByteArrayRegion(env, array, 0, count, copy->bytes);
    return true;
}

/* With a NUL behind it. */
static bool copy_text(JNIEnv *env, jbyteArray array, copied *copy)
{
    jsize count = (*env)->GetArrayLength(env, array);
    copy->count = (size_t)count;
    if (!make_room(env, copy, copy->count + 1))
        return false;
    (*env)->GetByteArrayRegion(env, array, 0, count, copy->bytes);
    ((char *)copy->bytes)[count] = '\0';
    return true;
}

static bool copy_numbers(JNIEnv *env, jdoubleArray array, copied *copy)
{
    jsize count = (*env)->GetArrayLength(env, array);
    copy->count = (size_t)count;
    if (!make_room(env, copy, copy->count * sizeof(double)))
        return false;
    (*env)->GetDoubleArrayRegion(env, array, 0, count, copy->bytes);
    return true;
}

/* ---- Parameters ---- */

static bool set_param(JNIEnv *env, oif_params *params, jbyteArray name, jbyteArray value)
{
    copied name_text = {.bytes = NULL}, value_text = {.bytes = NULL};
    oif_error error;
    bool is_set =
        copy_text(env, name, &name_text) && copy_text(env, value, &value_text) &&
        went_well(env, oif_params_set_text(params, name_text.bytes, value_text.bytes, &error),
                  &error);
    free_copy(&name_text);
    free_copy(&value_text);
    return is_set;
}

static bool set_params(JNIEnv *env, oif_params *params, jobjectArray names, jobjectArray values)
{
    jsize count = (*env)->GetArrayLength(env, names);
    for (jsize i = 0; i < count; i++) {
        jbyteArray name = (*env)->GetObjectArrayElement(env, names, i);
        jbyteArray value = (*env)->GetObjectArrayElement(env, values, i);
        if (!set_param(env, params, name, value))
            return false;
        (*env)->DeleteLocalRef(env, name);
        (*env)->DeleteLocalRef(env, value);
    }
    return true;
}

/* The parameters of a detector, or the options of a pipeline where the name is null. */
static bool read_params(JNIEnv *env, jbyteArray detector, jobjectArray names, jobjectArray values,
                        oif_params *params)
{
    oif_error error;
    if (!detector) {
        oif_pipeline_options_init(params);
        return set_params(env, params, names, values);
    }
    copied name = {.bytes = NULL};
    bool is_known = copy_text(env, detector, &name) &&
                    went_well(env, oif_params_init(params, name.bytes, &error), &error);
    free_copy(&name);
    return is_known && set_params(env, params, names, values);
}

static void check_params(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                         jobjectArray values)
{
    (void)type;
    oif_params params;
    (void)read_params(env, detector, names, values, &params);
}

static jbyteArray version(JNIEnv *env, jclass type)
{
    (void)type;
    return bytes_of(env, oif_version(), strlen(oif_version()));
}

static jint behavior(JNIEnv *env, jclass type)
{
    (void)env, (void)type;
    return oif_behavior_number();
}

static void trim_heap(JNIEnv *env, jclass type)
{
    (void)env, (void)type;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* ---- Detectors ---- */

static oif_detector *detector_at(jlong handle)
{
    return (oif_detector *)(intptr_t)handle; /* NOLINT(performance-no-int-to-ptr) */
}

static jlong detector_new(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                          jobjectArray values, jint columns)
{
    (void)type;
    oif_params params;
    oif_detector *made = NULL;
    oif_error error;
    if (!read_params(env, detector, names, values, &params))
        return 0;
    size_t count = columns < 0 ? 0 : (size_t)columns;
    (void)went_well(env, oif_detector_new(&params, count, &made, &error), &error);
    return (jlong)(intptr_t)made;
}

static void detector_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_detector_free(detector_at(handle));
}

static void detector_learn(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_error error;
    if (copy_numbers(env, row, &copy))
        (void)went_well(env, oif_detector_learn(detector_at(handle), copy.bytes, &error), &error);
    free_copy(&copy);
}

static jdouble detector_score(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (copy_numbers(env, row, &copy))
        (void)went_well(env, oif_detector_score(detector_at(handle), copy.bytes, &score, &error),
                        &error);
    free_copy(&copy);
    return score;
}

static jdouble detector_learn_score(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (copy_numbers(env, row, &copy))
        (void)went_well(
            env, oif_detector_learn_score(detector_at(handle), copy.bytes, &score, &error), &error);
    free_copy(&copy);
    return score;
}

static jdouble detector_score_learn(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (copy_numbers(env, row, &copy))
        (void)went_well(
            env, oif_detector_score_learn(detector_at(handle), copy.bytes, &score, &error), &error);
    free_copy(&copy);
    return score;
}

static void detector_learn_score_rows(JNIEnv *env, jclass type, jlong handle, jdoubleArray rows,
                                      jdoubleArray scores)
{
    (void)type;
    oif_detector *detector = detector_at(handle);
    size_t columns = oif_detector_columns(detector);
    jsize count = (*env)->GetArrayLength(env, scores);
    copied copy = {.bytes = NULL}, made = {.bytes = NULL};
    oif_error error;
    if (copy_numbers(env, rows, &copy) && make_room(env, &made, (size_t)count * sizeof(double)) &&
        went_well(env,
                  oif_detector_learn_score_rows(detector, copy.bytes, copy.count / columns, columns,
                                                made.bytes, &error),
                  &error))
        (*env)->SetDoubleArrayRegion(env, scores, 0, count, made.bytes);
    free_copy(&copy);
    free_copy(&made);
}

static jint detector_columns(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jint)oif_detector_columns(detector_at(handle));
}

static jlong detector_rows(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_detector_rows_learned(detector_at(handle));
}

static jlong detector_memory(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_detector_memory_bytes(detector_at(handle));
}

static jboolean detector_ready(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return oif_detector_ready(detector_at(handle));
}

static jbyteArray detector_save(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t bytes = oif_detector_snapshot_bytes(detector_at(handle));
    copied snapshot = {.bytes = NULL};
    oif_error error;
    jbyteArray saved = NULL;
    if (make_room(env, &snapshot, bytes) &&
        went_well(env, oif_detector_save_memory(detector_at(handle), snapshot.bytes, bytes, &error),
                  &error))
        saved = bytes_of(env, snapshot.bytes, bytes);
    free_copy(&snapshot);
    return saved;
}

static jlong detector_load(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    copied snapshot = {.bytes = NULL};
    oif_detector *loaded = NULL;
    oif_error error;
    if (copy_bytes(env, bytes, &snapshot))
        (void)went_well(
            env, oif_detector_load_memory(snapshot.bytes, snapshot.count, &loaded, &error), &error);
    free_copy(&snapshot);
    return (jlong)(intptr_t)loaded;
}

/* ---- Pipelines ---- */

static oif_pipeline *pipeline_at(jlong handle)
{
    return (oif_pipeline *)(intptr_t)handle; /* NOLINT(performance-no-int-to-ptr) */
}

static jlong pipeline_new(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                          jobjectArray values, jint columns, jobjectArray option_names,
                          jobjectArray option_values)
{
    (void)type;
    oif_params params, options;
    oif_pipeline *made = NULL;
    oif_error error;
    if (!read_params(env, detector, names, values, &params) ||
        !read_params(env, NULL, option_names, option_values, &options))
        return 0;
    size_t count = columns < 0 ? 0 : (size_t)columns;
    (void)went_well(env, oif_pipeline_new(&params, count, &options, &made, &error), &error);
    return (jlong)(intptr_t)made;
}

static void pipeline_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_pipeline_free(pipeline_at(handle));
}

/* In the order of oif.Result. */
static void write_result(const oif_result *result, double numbers[RESULT_NUMBERS])
{
    numbers[0] = result->score;
    numbers[1] = result->p;
    numbers[2] = result->threshold;
    numbers[3] = result->anomaly;
    numbers[4] = result->ready;
    numbers[5] = result->learned;
    numbers[6] = result->has_no_model;
    numbers[7] = (double)result->episode;
    numbers[8] = (double)result->grade;
    numbers[9] = result->severity;
    numbers[10] = (double)result->reason;
    numbers[11] = result->pause;
}

static void pipeline_process(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                             jdouble seconds, jdoubleArray row, jdoubleArray numbers)
{
    (void)type;
    copied key_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    oif_result result;
    oif_error error;
    if (copy_bytes(env, key, &key_copy) && copy_numbers(env, row, &row_copy) &&
        went_well(env,
                  oif_pipeline_process_at(pipeline_at(handle), key_copy.bytes, key_copy.count,
                                          seconds, row_copy.bytes, &result, &error),
                  &error)) {
        double written[RESULT_NUMBERS];
        write_result(&result, written);
        (*env)->SetDoubleArrayRegion(env, numbers, 0, RESULT_NUMBERS, written);
    }
    free_copy(&key_copy);
    free_copy(&row_copy);
}

/* One row of a block; its result goes to `numbers` unless that is null. */
static bool process_one(JNIEnv *env, oif_pipeline *pipeline, const copied *key, double seconds,
                        const double *row, size_t index, jdoubleArray numbers)
{
    oif_result result;
    oif_error error;
    if (oif_pipeline_process_at(pipeline, key->bytes, key->count, seconds, row, &result, &error) !=
        OIF_OK) {
        error.line = index + 1;
        throw_error(env, &error);
        return false;
    }
    if (numbers) {
        double written[RESULT_NUMBERS];
        write_result(&result, written);
        (*env)->SetDoubleArrayRegion(env, numbers, (jsize)(index * RESULT_NUMBERS), RESULT_NUMBERS,
                                     written);
    }
    return true;
}

static void process_block(JNIEnv *env, oif_pipeline *pipeline, const copied *key,
                          const double *seconds, const copied *rows, jdoubleArray numbers)
{
    size_t columns = oif_pipeline_columns(pipeline), count = rows->count / columns;
    const double *row = rows->bytes;
    for (size_t i = 0; i < count; i++, row += columns)
        if (!process_one(env, pipeline, key, seconds ? seconds[i] : (double)NAN, row, i, numbers))
            return;
}

static void pipeline_process_rows(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                                  jdoubleArray seconds, jdoubleArray rows, jdoubleArray numbers)
{
    (void)type;
    copied key_copy = {.bytes = NULL}, time_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    if (copy_bytes(env, key, &key_copy) && (!seconds || copy_numbers(env, seconds, &time_copy)) &&
        copy_numbers(env, rows, &row_copy))
        process_block(env, pipeline_at(handle), &key_copy, time_copy.bytes, &row_copy, numbers);
    free_copy(&key_copy);
    free_copy(&time_copy);
    free_copy(&row_copy);
}

static jdoubleArray pipeline_explain(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    oif_pipeline *pipeline = pipeline_at(handle);
    size_t count = oif_pipeline_learned_columns(pipeline);
    jdoubleArray array = (*env)->NewDoubleArray(env, (jsize)(count * ATTRIBUTION_NUMBERS));
    if (!array)
        return NULL;
    oif_attribution *attributions = calloc(count, sizeof *attributions);
    if (!attributions) {
        throw_out_of_memory(env);
        return NULL;
    }
    oif_pipeline_explain(pipeline, attributions);
    for (size_t i = 0; i < count; i++) {
        double numbers[ATTRIBUTION_NUMBERS] = {
            attributions[i].share, (double)attributions[i].direction,
            (double)attributions[i].reason, (double)attributions[i].partner};
        (*env)->SetDoubleArrayRegion(env, array, (jsize)(i * ATTRIBUTION_NUMBERS),
                                     ATTRIBUTION_NUMBERS, numbers);
    }
    free(attributions);
    return array;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

static char *name_at(JNIEnv *env, jobjectArray names, size_t index)
{
    jbyteArray array = (*env)->GetObjectArrayElement(env, names, (jsize)index);
    jsize count = (*env)->GetArrayLength(env, array);
    char *name = malloc((size_t)count + 1);
    if (name) {
        (*env)->GetByteArrayRegion(env, array, 0, count, (jbyte *)name);
        name[count] = '\0';
    } else {
        throw_out_of_memory(env);
    }
    (*env)->DeleteLocalRef(env, array);
    return name;
}

static void pipeline_name_columns(JNIEnv *env, jclass type, jlong handle, jobjectArray names)
{
    (void)type;
    size_t count = (size_t)(*env)->GetArrayLength(env, names);
    char **texts = calloc(count, sizeof *texts);
    oif_error error;
    if (!texts) {
        throw_out_of_memory(env);
        return;
    }
    bool are_copied = true;
    for (size_t i = 0; i < count && are_copied; i++)
        are_copied = (texts[i] = name_at(env, names, i)) != NULL;
    if (are_copied)
        (void)went_well(
            env, oif_pipeline_name_columns(pipeline_at(handle), (const char *const *)texts, &error),
            &error);
    free_names(texts, count);
}

static jbyteArray pipeline_column_name(JNIEnv *env, jclass type, jlong handle, jint column)
{
    (void)type;
    const char *name = oif_pipeline_column_name(pipeline_at(handle), (size_t)column);
    return name ? bytes_of(env, name, strlen(name)) : NULL;
}

static jint pipeline_columns(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jint)oif_pipeline_columns(pipeline_at(handle));
}

static jlong pipeline_rows(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_rows(pipeline_at(handle));
}

static jlong pipeline_keys(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_keys(pipeline_at(handle));
}

static jlong pipeline_memory(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_memory_bytes(pipeline_at(handle));
}

static jlong pipeline_key_memory(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_key_info info;
    jlong bytes = -1;
    if (copy_bytes(env, key, &copy) &&
        oif_pipeline_key(pipeline_at(handle), copy.bytes, copy.count, &info))
        bytes = (jlong)info.memory_bytes;
    free_copy(&copy);
    return bytes;
}

static void pipeline_remove_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    copied copy = {.bytes = NULL};
    oif_error error;
    if (copy_bytes(env, key, &copy))
        (void)went_well(
            env, oif_pipeline_remove_key(pipeline_at(handle), copy.bytes, copy.count, &error),
            &error);
    free_copy(&copy);
}

static jbyteArray save_copied_key(JNIEnv *env, const oif_pipeline *pipeline, const copied *key)
{
    copied snapshot = {.bytes = NULL};
    oif_error error;
    size_t bytes;
    jbyteArray saved = NULL;
    if (went_well(env,
                  oif_pipeline_key_snapshot_bytes(pipeline, key->bytes, key->count, &bytes, &error),
                  &error) &&
        make_room(env, &snapshot, bytes) &&
        went_well(env,
                  oif_pipeline_save_key_memory(pipeline, key->bytes, key->count, snapshot.bytes,
                                               bytes, &error),
                  &error))
        saved = bytes_of(env, snapshot.bytes, bytes);
    free_copy(&snapshot);
    return saved;
}

static jbyteArray pipeline_save_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    copied copy = {.bytes = NULL};
    jbyteArray saved =
        copy_bytes(env, key, &copy) ? save_copied_key(env, pipeline_at(handle), &copy) : NULL;
    free_copy(&copy);
    return saved;
}

static void pipeline_load_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                              jbyteArray bytes)
{
    (void)type;
    copied copy = {.bytes = NULL}, snapshot = {.bytes = NULL};
    oif_error error;
    if (copy_bytes(env, key, &copy) && copy_bytes(env, bytes, &snapshot))
        (void)went_well(env,
                        oif_pipeline_load_key_memory(pipeline_at(handle), snapshot.bytes,
                                                     snapshot.count, copy.bytes, copy.count, NULL,
                                                     &error),
                        &error);
    free_copy(&copy);
    free_copy(&snapshot);
}

static jbyteArray pipeline_save(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t bytes = oif_pipeline_snapshot_bytes(pipeline_at(handle));
    copied snapshot = {.bytes = NULL};
    oif_error error;
    jbyteArray saved = NULL;
    if (make_room(env, &snapshot, bytes) &&
        went_well(env, oif_pipeline_save_memory(pipeline_at(handle), snapshot.bytes, bytes, &error),
                  &error))
        saved = bytes_of(env, snapshot.bytes, bytes);
    free_copy(&snapshot);
    return saved;
}

static jlong pipeline_load(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    copied snapshot = {.bytes = NULL};
    oif_pipeline *loaded = NULL;
    oif_error error;
    if (copy_bytes(env, bytes, &snapshot))
        (void)went_well(
            env, oif_pipeline_load_memory(snapshot.bytes, snapshot.count, &loaded, &error), &error);
    free_copy(&snapshot);
    return (jlong)(intptr_t)loaded;
}

/* ---- What oif.Native declares ---- */

/* The JVM's own type for a native function is void *. */
#define NATIVE(name, signature, function)                                                          \
    {                                                                                              \
        (char *)(name), (char *)(signature), (void *)(uintptr_t)(function)                         \
    }

static const JNINativeMethod methods[] = {
    NATIVE("version", "()[B", version),
    NATIVE("behavior", "()I", behavior),
    NATIVE("checkParams", "([B[[B[[B)V", check_params),
    NATIVE("trimHeap", "()V", trim_heap),
    NATIVE("detectorNew", "([B[[B[[BI)J", detector_new),
    NATIVE("detectorFree", "(J)V", detector_free),
    NATIVE("detectorLearn", "(J[D)V", detector_learn),
    NATIVE("detectorScore", "(J[D)D", detector_score),
    NATIVE("detectorLearnScore", "(J[D)D", detector_learn_score),
    NATIVE("detectorScoreLearn", "(J[D)D", detector_score_learn),
    NATIVE("detectorLearnScoreRows", "(J[D[D)V", detector_learn_score_rows),
    NATIVE("detectorColumns", "(J)I", detector_columns),
    NATIVE("detectorRows", "(J)J", detector_rows),
    NATIVE("detectorMemory", "(J)J", detector_memory),
    NATIVE("detectorReady", "(J)Z", detector_ready),
    NATIVE("detectorSave", "(J)[B", detector_save),
    NATIVE("detectorLoad", "([B)J", detector_load),
    NATIVE("pipelineNew", "([B[[B[[BI[[B[[B)J", pipeline_new),
    NATIVE("pipelineFree", "(J)V", pipeline_free),
    NATIVE("pipelineProcess", "(J[BD[D[D)V", pipeline_process),
    NATIVE("pipelineProcessRows", "(J[B[D[D[D)V", pipeline_process_rows),
    NATIVE("pipelineExplain", "(J)[D", pipeline_explain),
    NATIVE("pipelineNameColumns", "(J[[B)V", pipeline_name_columns),
    NATIVE("pipelineColumnName", "(JI)[B", pipeline_column_name),
    NATIVE("pipelineColumns", "(J)I", pipeline_columns),
    NATIVE("pipelineRows", "(J)J", pipeline_rows),
    NATIVE("pipelineKeys", "(J)J", pipeline_keys),
    NATIVE("pipelineMemory", "(J)J", pipeline_memory),
    NATIVE("pipelineKeyMemory", "(J[B)J", pipeline_key_memory),
    NATIVE("pipelineRemoveKey", "(J[B)V", pipeline_remove_key),
    NATIVE("pipelineSaveKey", "(J[B)[B", pipeline_save_key),
    NATIVE("pipelineLoadKey", "(J[B[B)V", pipeline_load_key),
    NATIVE("pipelineSave", "(J)[B", pipeline_save),
    NATIVE("pipelineLoad", "([B)J", pipeline_load),
};

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved)
{
    (void)reserved;
    JNIEnv *env = NULL;
    if ((*machine)->GetEnv(machine, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    jclass type = (*env)->FindClass(env, "oif/Native");
    if (!type ||
        (*env)->RegisterNatives(env, type, methods, sizeof methods / sizeof *methods) != JNI_OK)
        return JNI_ERR;
    return JNI_VERSION_1_8;
}

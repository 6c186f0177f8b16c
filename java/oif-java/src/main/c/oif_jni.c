/* The native methods of oif.Native.
 *
 * A handle is the address of a detector or a pipeline. The Java side makes sure that it is valid.
 * Lengths are checked here where memory depends on them.
 */
#include "jni_values.h"
#include "oif.h"

#include <jni.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTION_NUMBERS = 6 };

/* ---- The library ---- */

static void check_params(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                         jobjectArray values)
{
    (void)type;
    oif_params params;
    (void)jni_read_params(env, detector, names, values, &params);
}

static jbyteArray version(JNIEnv *env, jclass type)
{
    (void)type;
    return jni_bytes_of(env, oif_version(), strlen(oif_version()));
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

oif_detector *jni_detector_at(jlong handle)
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
    if (!jni_read_params(env, detector, names, values, &params))
        return 0;
    size_t count = columns < 0 ? 0 : (size_t)columns;
    (void)jni_ok(env, oif_detector_new(&params, count, &made, &error), &error);
    return (jlong)(intptr_t)made;
}

static void detector_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_detector_free(jni_detector_at(handle));
}

static void detector_learn(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_numbers(env, row, &copy))
        (void)jni_ok(env, oif_detector_learn(jni_detector_at(handle), copy.bytes, &error), &error);
    jni_free_copy(&copy);
}

static jdouble detector_score(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (jni_copy_numbers(env, row, &copy))
        (void)jni_ok(env, oif_detector_score(jni_detector_at(handle), copy.bytes, &score, &error),
                     &error);
    jni_free_copy(&copy);
    return score;
}

static jdouble detector_learn_score(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (jni_copy_numbers(env, row, &copy))
        (void)jni_ok(env,
                     oif_detector_learn_score(jni_detector_at(handle), copy.bytes, &score, &error),
                     &error);
    jni_free_copy(&copy);
    return score;
}

static jdouble detector_score_learn(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    double score = 0;
    if (jni_copy_numbers(env, row, &copy))
        (void)jni_ok(env,
                     oif_detector_score_learn(jni_detector_at(handle), copy.bytes, &score, &error),
                     &error);
    jni_free_copy(&copy);
    return score;
}

static jint detector_columns(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jint)oif_detector_columns(jni_detector_at(handle));
}

static jlong detector_rows(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_detector_rows_learned(jni_detector_at(handle));
}

static jlong detector_memory(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_detector_memory_bytes(jni_detector_at(handle));
}

static jboolean detector_ready(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return oif_detector_ready(jni_detector_at(handle));
}

static jbyteArray detector_save(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t bytes = oif_detector_snapshot_bytes(jni_detector_at(handle));
    jni_copy snapshot = {.bytes = NULL};
    oif_error error;
    jbyteArray saved = NULL;
    if (jni_make_room(env, &snapshot, bytes) &&
        jni_ok(env,
               oif_detector_save_memory(jni_detector_at(handle), snapshot.bytes, bytes, &error),
               &error))
        saved = jni_bytes_of(env, snapshot.bytes, bytes);
    jni_free_copy(&snapshot);
    return saved;
}

static jlong detector_load(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    jni_copy snapshot = {.bytes = NULL};
    oif_detector *loaded = NULL;
    oif_error error;
    if (jni_copy_bytes(env, bytes, &snapshot))
        (void)jni_ok(env, oif_detector_load_memory(snapshot.bytes, snapshot.count, &loaded, &error),
                     &error);
    jni_free_copy(&snapshot);
    return (jlong)(intptr_t)loaded;
}

/* ---- Pipelines ---- */

oif_pipeline *jni_pipeline_at(jlong handle)
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
    if (!jni_read_params(env, detector, names, values, &params) ||
        !jni_read_params(env, NULL, option_names, option_values, &options))
        return 0;
    size_t count = columns < 0 ? 0 : (size_t)columns;
    (void)jni_ok(env, oif_pipeline_new(&params, count, &options, &made, &error), &error);
    return (jlong)(intptr_t)made;
}

static void pipeline_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_pipeline_free(jni_pipeline_at(handle));
}

/* Writes the fields in the order of oif.Result. */
void jni_write_result(const oif_result *result, double numbers[JNI_RESULT_NUMBERS])
{
    numbers[0] = result->score;
    numbers[1] = result->threshold;
    numbers[2] = result->anomaly;
    numbers[3] = result->ready;
    numbers[4] = result->learned;
    numbers[5] = result->has_no_model;
    numbers[6] = (double)result->episode;
    numbers[7] = (double)result->grade;
    numbers[8] = result->severity;
    numbers[9] = (double)result->reason;
    numbers[10] = result->pause;
    numbers[11] = (double)result->rule;
}

static void pipeline_process(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                             jdouble seconds, jdoubleArray row, jdoubleArray numbers)
{
    (void)type;
    jni_copy key_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    oif_result result;
    oif_error error;
    if (jni_copy_bytes(env, key, &key_copy) && jni_copy_numbers(env, row, &row_copy) &&
        jni_ok(env,
               oif_pipeline_process_at(jni_pipeline_at(handle), key_copy.bytes, key_copy.count,
                                       seconds, row_copy.bytes, &result, &error),
               &error)) {
        double written[JNI_RESULT_NUMBERS];
        jni_write_result(&result, written);
        (*env)->SetDoubleArrayRegion(env, numbers, 0, JNI_RESULT_NUMBERS, written);
    }
    jni_free_copy(&key_copy);
    jni_free_copy(&row_copy);
}

/* Processes one row of a block. Writes its result to `numbers` unless that is null. */
static bool process_one(JNIEnv *env, oif_pipeline *pipeline, const jni_copy *key, double seconds,
                        const double *row, size_t index, jdoubleArray numbers)
{
    oif_result result;
    oif_error error;
    if (oif_pipeline_process_at(pipeline, key->bytes, key->count, seconds, row, &result, &error) !=
        OIF_OK) {
        error.line = index + 1;
        jni_throw_error(env, &error);
        return false;
    }
    if (numbers) {
        double written[JNI_RESULT_NUMBERS];
        jni_write_result(&result, written);
        (*env)->SetDoubleArrayRegion(env, numbers, (jsize)(index * JNI_RESULT_NUMBERS),
                                     JNI_RESULT_NUMBERS, written);
    }
    return true;
}

static void process_block(JNIEnv *env, oif_pipeline *pipeline, const jni_copy *key,
                          const double *seconds, const jni_copy *rows, jdoubleArray numbers)
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
    jni_copy key_copy = {.bytes = NULL}, time_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    if (jni_copy_bytes(env, key, &key_copy) &&
        (!seconds || jni_copy_numbers(env, seconds, &time_copy)) &&
        jni_copy_numbers(env, rows, &row_copy))
        process_block(env, jni_pipeline_at(handle), &key_copy, time_copy.bytes, &row_copy, numbers);
    jni_free_copy(&key_copy);
    jni_free_copy(&time_copy);
    jni_free_copy(&row_copy);
}

static jdoubleArray pipeline_explain(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    oif_pipeline *pipeline = jni_pipeline_at(handle);
    size_t count = oif_pipeline_learned_columns(pipeline);
    jdoubleArray array = (*env)->NewDoubleArray(env, (jsize)(count * ATTRIBUTION_NUMBERS));
    if (!array)
        return NULL;
    oif_attribution *attributions = calloc(count, sizeof *attributions);
    if (!attributions) {
        jni_throw_out_of_memory(env);
        return NULL;
    }
    oif_pipeline_explain(pipeline, attributions);
    for (size_t i = 0; i < count; i++) {
        double numbers[ATTRIBUTION_NUMBERS] = {
            attributions[i].share,          (double)attributions[i].direction,
            (double)attributions[i].reason, (double)attributions[i].partner,
            attributions[i].size,           attributions[i].usual};
        (*env)->SetDoubleArrayRegion(env, array, (jsize)(i * ATTRIBUTION_NUMBERS),
                                     ATTRIBUTION_NUMBERS, numbers);
    }
    free(attributions);
    return array;
}

static void pipeline_name_columns(JNIEnv *env, jclass type, jlong handle, jobjectArray names)
{
    (void)type;
    jni_names copies = {0};
    oif_error error;
    if (jni_copy_names(env, names, &copies))
        (void)jni_ok(env, oif_pipeline_name_columns(jni_pipeline_at(handle), copies.names, &error),
                     &error);
    jni_free_names(&copies);
}

static jbyteArray pipeline_column_name(JNIEnv *env, jclass type, jlong handle, jint column)
{
    (void)type;
    const char *name = oif_pipeline_column_name(jni_pipeline_at(handle), (size_t)column);
    return name ? jni_bytes_of(env, name, strlen(name)) : NULL;
}

static jint pipeline_columns(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jint)oif_pipeline_columns(jni_pipeline_at(handle));
}

static jlong pipeline_rows(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_rows(jni_pipeline_at(handle));
}

static jlong pipeline_keys(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_keys(jni_pipeline_at(handle));
}

static jlong pipeline_memory(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return (jlong)oif_pipeline_memory_bytes(jni_pipeline_at(handle));
}

static jlong pipeline_key_memory(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_key_info info;
    jlong bytes = -1;
    if (jni_copy_bytes(env, key, &copy) &&
        oif_pipeline_key(jni_pipeline_at(handle), copy.bytes, copy.count, &info))
        bytes = (jlong)info.memory_bytes;
    jni_free_copy(&copy);
    return bytes;
}

static void pipeline_remove_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_bytes(env, key, &copy))
        (void)jni_ok(
            env, oif_pipeline_remove_key(jni_pipeline_at(handle), copy.bytes, copy.count, &error),
            &error);
    jni_free_copy(&copy);
}

static jbyteArray save_copied_key(JNIEnv *env, const oif_pipeline *pipeline, const jni_copy *key)
{
    jni_copy snapshot = {.bytes = NULL};
    oif_error error;
    size_t bytes;
    jbyteArray saved = NULL;
    if (jni_ok(env,
               oif_pipeline_key_snapshot_bytes(pipeline, key->bytes, key->count, &bytes, &error),
               &error) &&
        jni_make_room(env, &snapshot, bytes) &&
        jni_ok(env,
               oif_pipeline_save_key_memory(pipeline, key->bytes, key->count, snapshot.bytes, bytes,
                                            &error),
               &error))
        saved = jni_bytes_of(env, snapshot.bytes, bytes);
    jni_free_copy(&snapshot);
    return saved;
}

static jbyteArray pipeline_save_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    jbyteArray saved = jni_copy_bytes(env, key, &copy)
                           ? save_copied_key(env, jni_pipeline_at(handle), &copy)
                           : NULL;
    jni_free_copy(&copy);
    return saved;
}

static void pipeline_load_key(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                              jbyteArray bytes)
{
    (void)type;
    jni_copy copy = {.bytes = NULL}, snapshot = {.bytes = NULL};
    oif_error error;
    if (jni_copy_bytes(env, key, &copy) && jni_copy_bytes(env, bytes, &snapshot))
        (void)jni_ok(env,
                     oif_pipeline_load_key_memory(jni_pipeline_at(handle), snapshot.bytes,
                                                  snapshot.count, copy.bytes, copy.count, NULL,
                                                  &error),
                     &error);
    jni_free_copy(&copy);
    jni_free_copy(&snapshot);
}

static jbyteArray pipeline_save(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t bytes = oif_pipeline_snapshot_bytes(jni_pipeline_at(handle));
    jni_copy snapshot = {.bytes = NULL};
    oif_error error;
    jbyteArray saved = NULL;
    if (jni_make_room(env, &snapshot, bytes) &&
        jni_ok(env,
               oif_pipeline_save_memory(jni_pipeline_at(handle), snapshot.bytes, bytes, &error),
               &error))
        saved = jni_bytes_of(env, snapshot.bytes, bytes);
    jni_free_copy(&snapshot);
    return saved;
}

static jlong pipeline_load(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    jni_copy snapshot = {.bytes = NULL};
    oif_pipeline *loaded = NULL;
    oif_error error;
    if (jni_copy_bytes(env, bytes, &snapshot))
        (void)jni_ok(env, oif_pipeline_load_memory(snapshot.bytes, snapshot.count, &loaded, &error),
                     &error);
    jni_free_copy(&snapshot);
    return (jlong)(intptr_t)loaded;
}

/* ---- What oif.Native declares ---- */

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
        (*env)->RegisterNatives(env, type, methods, sizeof methods / sizeof *methods) != JNI_OK ||
        !jni_register_rows(env, type) || !jni_register_alerts(env, type) ||
        !jni_register_incidents(env, type) || !jni_register_copies(env, type) ||
        !jni_register_questions(env, type))
        return JNI_ERR;
    return JNI_VERSION_1_8;
}

/* The native methods of oif.Native for blocks of rows: of a detector, of many keys, of a finished
 * table; and for threads that share them. */
#include "jni_values.h"
#include "oif.h"

#include <jni.h>
#include <stdlib.h>

/* ---- Threads ---- */

static unsigned count_of(jint threads)
{
    return threads < 0 ? 0 : (unsigned)threads; /* the library refuses 0 */
}

static void detector_set_threads(JNIEnv *env, jclass type, jlong handle, jint threads)
{
    (void)type;
    oif_detector *detector = jni_detector_at(handle);
    oif_error error;
    (void)jni_ok(env, oif_detector_set_threads(detector, count_of(threads), &error), &error);
}

static void pipeline_set_threads(JNIEnv *env, jclass type, jlong handle, jint threads)
{
    (void)type;
    oif_pipeline *pipeline = jni_pipeline_at(handle);
    oif_error error;
    (void)jni_ok(env, oif_pipeline_set_threads(pipeline, count_of(threads), &error), &error);
}

/* ---- Blocks of a detector ---- */

static void detector_learn_rows(JNIEnv *env, jclass type, jlong handle, jdoubleArray rows)
{
    (void)type;
    oif_detector *detector = jni_detector_at(handle);
    const size_t columns = oif_detector_columns(detector);
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_numbers(env, rows, &copy))
        (void)jni_ok(
            env,
            oif_detector_learn_rows(detector, copy.bytes, copy.count / columns, columns, &error),
            &error);
    jni_free_copy(&copy);
}

typedef oif_status (*score_function)(oif_detector *detector, const double *rows, size_t count,
                                     size_t stride, double *scores, oif_error *error);

/* Scores a block with one of the functions of the library. `scores` has one place per row. */
static void score_block(JNIEnv *env, oif_detector *detector, score_function score,
                        jdoubleArray rows, jdoubleArray scores)
{
    const size_t columns = oif_detector_columns(detector);
    jsize count = jni_length_of(env, scores);
    jni_copy copy = {.bytes = NULL}, made = {.bytes = NULL};
    oif_error error;
    if (count >= 0 && jni_copy_numbers(env, rows, &copy) &&
        jni_make_room(env, &made, (size_t)count * sizeof(double)) &&
        jni_ok(env, score(detector, copy.bytes, (size_t)count, columns, made.bytes, &error),
               &error))
        (*env)->SetDoubleArrayRegion(env, scores, 0, count, made.bytes);
    jni_free_copy(&copy);
    jni_free_copy(&made);
}

static oif_status score_only(oif_detector *detector, const double *rows, size_t count,
                             size_t stride, double *scores, oif_error *error)
{
    return oif_detector_score_rows(detector, rows, count, stride, scores, error);
}

static void detector_score_rows(JNIEnv *env, jclass type, jlong handle, jdoubleArray rows,
                                jdoubleArray scores)
{
    (void)type;
    score_block(env, jni_detector_at(handle), score_only, rows, scores);
}

static void detector_learn_score_rows(JNIEnv *env, jclass type, jlong handle, jdoubleArray rows,
                                      jdoubleArray scores)
{
    (void)type;
    score_block(env, jni_detector_at(handle), oif_detector_learn_score_rows, rows, scores);
}

static void detector_score_learn_rows(JNIEnv *env, jclass type, jlong handle, jdoubleArray rows,
                                      jdoubleArray scores)
{
    (void)type;
    score_block(env, jni_detector_at(handle), oif_detector_score_learn_rows, rows, scores);
}

/* ---- Blocks of many keys ---- */

/* What the library takes and returns for a block. */
typedef struct block {
    size_t count;
    const char **keys;
    size_t *key_bytes;
    oif_result *results;
} block;

static void free_block(block *b)
{
    free(b->keys);
    free(b->key_bytes);
    free(b->results);
}

/* Finds the keys in their joined text. The Java side has made the lengths, so they add up. */
static bool make_block(JNIEnv *env, const jni_copy *text, jintArray lengths, block *b)
{
    const jsize count = jni_length_of(env, lengths);
    if (count < 0)
        return false;
    b->count = (size_t)count;
    b->keys = calloc(b->count + 1, sizeof *b->keys);
    b->key_bytes = calloc(b->count + 1, sizeof *b->key_bytes);
    b->results = calloc(b->count + 1, sizeof *b->results);
    jint *copy = (*env)->GetIntArrayElements(env, lengths, NULL);
    const bool is_made = b->keys && b->key_bytes && b->results && copy;
    const char *next = text->bytes;
    for (size_t i = 0; is_made && i < b->count; i++) {
        b->keys[i] = next;
        b->key_bytes[i] = (size_t)copy[i];
        next += copy[i];
    }
    if (copy)
        (*env)->ReleaseIntArrayElements(env, lengths, copy, JNI_ABORT);
    if (!is_made && !(*env)->ExceptionCheck(env))
        jni_throw_out_of_memory(env);
    return is_made;
}

static void return_results(JNIEnv *env, const block *b, jdoubleArray numbers)
{
    for (size_t i = 0; i < b->count; i++) {
        double written[JNI_RESULT_NUMBERS];
        jni_write_result(&b->results[i], written);
        (*env)->SetDoubleArrayRegion(env, numbers, (jsize)(i * JNI_RESULT_NUMBERS),
                                     JNI_RESULT_NUMBERS, written);
    }
}

static void process_block(JNIEnv *env, oif_pipeline *pipeline, const block *b,
                          const double *seconds, const double *rows, jdoubleArray numbers)
{
    size_t done = 0;
    oif_error error;
    if (jni_ok(env,
               oif_pipeline_process_rows(pipeline, rows, b->count, oif_pipeline_columns(pipeline),
                                         b->keys, b->key_bytes, seconds, b->results, &done, &error),
               &error))
        return_results(env, b, numbers);
}

static void pipeline_process_keys(JNIEnv *env, jclass type, jlong handle, jbyteArray text,
                                  jintArray lengths, jdoubleArray seconds, jdoubleArray rows,
                                  jdoubleArray numbers)
{
    (void)type;
    jni_copy text_copy = {.bytes = NULL}, time_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    block b = {0};
    if (jni_copy_bytes(env, text, &text_copy) &&
        (!seconds || jni_copy_numbers(env, seconds, &time_copy)) &&
        jni_copy_numbers(env, rows, &row_copy) && make_block(env, &text_copy, lengths, &b))
        process_block(env, jni_pipeline_at(handle), &b, time_copy.bytes, row_copy.bytes, numbers);
    free_block(&b);
    jni_free_copy(&text_copy);
    jni_free_copy(&time_copy);
    jni_free_copy(&row_copy);
}

/* ---- Tables ---- */

/* Judges the rows of a table and returns the chance of oif_table_info. */
static double process_table(JNIEnv *env, oif_pipeline *pipeline, const jni_copy *rows,
                            const double *seconds, jdoubleArray numbers)
{
    const size_t columns = oif_pipeline_columns(pipeline);
    block b = {.count = rows->count / columns};
    oif_table_info info = {0};
    oif_error error;
    b.results = calloc(b.count + 1, sizeof *b.results);
    if (!b.results)
        jni_throw_out_of_memory(env);
    else if (jni_ok(env,
                    oif_pipeline_process_table(pipeline, rows->bytes, b.count, columns, seconds,
                                               NULL, NULL, b.results, &info, &error),
                    &error))
        return_results(env, &b, numbers);
    free_block(&b);
    return info.chance;
}

static jdouble pipeline_process_table(JNIEnv *env, jclass type, jlong handle, jdoubleArray seconds,
                                      jdoubleArray rows, jdoubleArray numbers)
{
    (void)type;
    jni_copy time_copy = {.bytes = NULL}, row_copy = {.bytes = NULL};
    double chance = 0;
    if ((!seconds || jni_copy_numbers(env, seconds, &time_copy)) &&
        jni_copy_numbers(env, rows, &row_copy))
        chance = process_table(env, jni_pipeline_at(handle), &row_copy, time_copy.bytes, numbers);
    jni_free_copy(&time_copy);
    jni_free_copy(&row_copy);
    return chance;
}

/* ---- Reasons of a detector ---- */

static jdoubleArray detector_explain(JNIEnv *env, jclass type, jlong handle, jdoubleArray row)
{
    (void)type;
    oif_detector *detector = jni_detector_at(handle);
    const size_t columns = oif_detector_columns(detector);
    jni_copy copy = {.bytes = NULL}, scratch = {.bytes = NULL}, shares = {.bytes = NULL};
    jdoubleArray made = NULL;
    oif_error error;
    if (jni_copy_numbers(env, row, &copy) &&
        jni_make_room(env, &scratch, columns * sizeof(double)) &&
        jni_make_room(env, &shares, columns * sizeof(double)) &&
        jni_ok(env,
               oif_detector_explain(detector, copy.bytes, columns, shares.bytes, scratch.bytes,
                                    &error),
               &error))
        made = jni_numbers_of(env, shares.bytes, columns);
    jni_free_copy(&copy);
    jni_free_copy(&scratch);
    jni_free_copy(&shares);
    return made;
}

/* ---- What oif.Native declares ---- */

static const JNINativeMethod methods[] = {
    NATIVE("detectorSetThreads", "(JI)V", detector_set_threads),
    NATIVE("detectorExplain", "(J[D)[D", detector_explain),
    NATIVE("detectorLearnRows", "(J[D)V", detector_learn_rows),
    NATIVE("detectorScoreRows", "(J[D[D)V", detector_score_rows),
    NATIVE("detectorLearnScoreRows", "(J[D[D)V", detector_learn_score_rows),
    NATIVE("detectorScoreLearnRows", "(J[D[D)V", detector_score_learn_rows),
    NATIVE("pipelineProcessTable", "(J[D[D[D)D", pipeline_process_table),
    NATIVE("pipelineSetThreads", "(JI)V", pipeline_set_threads),
    NATIVE("pipelineProcessKeys", "(J[B[I[D[D[D)V", pipeline_process_keys),
};

bool jni_register_rows(JNIEnv *env, jclass type)
{
    return (*env)->RegisterNatives(env, type, methods, sizeof methods / sizeof *methods) == JNI_OK;
}

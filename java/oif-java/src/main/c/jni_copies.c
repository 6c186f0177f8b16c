/* The native methods of oif.Native that make an object from another one, or from a file: clones,
 * pipelines around detectors, files, wider pipelines. */
#include "jni_values.h"
#include "oif.h"

#include <jni.h>
#include <stdlib.h>

/* ---- Clones ---- */

static jlong detector_copy(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    oif_detector *copy = NULL;
    oif_error error;
    (void)jni_ok(env, oif_detector_clone(jni_detector_at(handle), &copy, &error), &error);
    return (jlong)(intptr_t)copy;
}

static jlong pipeline_copy(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    oif_pipeline *copy = NULL;
    oif_error error;
    (void)jni_ok(env, oif_pipeline_clone(jni_pipeline_at(handle), &copy, &error), &error);
    return (jlong)(intptr_t)copy;
}

/* The pipeline gets a clone of the detector, so the Java object keeps its own. */
static jlong pipeline_around(JNIEnv *env, jclass type, jlong detector, jobjectArray option_names,
                             jobjectArray option_values, jbyteArray key)
{
    (void)type;
    oif_params options;
    oif_detector *clone = NULL;
    oif_pipeline *made = NULL;
    oif_error error;
    jni_copy key_copy = {.bytes = NULL};
    if (jni_read_params(env, NULL, option_names, option_values, &options) &&
        jni_copy_bytes(env, key, &key_copy) &&
        jni_ok(env, oif_detector_clone(jni_detector_at(detector), &clone, &error), &error))
        (void)jni_ok(env,
                     oif_pipeline_new_around(&clone, &options, key_copy.bytes, key_copy.count,
                                             &made, &error),
                     &error);
    oif_detector_free(clone);
    jni_free_copy(&key_copy);
    return (jlong)(intptr_t)made;
}

/* ---- Files ---- */

static void detector_save_file(JNIEnv *env, jclass type, jlong handle, jbyteArray path)
{
    (void)type;
    jni_copy text = {.bytes = NULL};
    oif_error error;
    if (jni_copy_text(env, path, &text))
        (void)jni_ok(env, oif_detector_save_file(jni_detector_at(handle), text.bytes, &error),
                     &error);
    jni_free_copy(&text);
}

static jlong detector_load_file(JNIEnv *env, jclass type, jbyteArray path)
{
    (void)type;
    jni_copy text = {.bytes = NULL};
    oif_detector *loaded = NULL;
    oif_error error;
    if (jni_copy_text(env, path, &text))
        (void)jni_ok(env, oif_detector_load_file(text.bytes, &loaded, &error), &error);
    jni_free_copy(&text);
    return (jlong)(intptr_t)loaded;
}

static void pipeline_save_file(JNIEnv *env, jclass type, jlong handle, jbyteArray path)
{
    (void)type;
    jni_copy text = {.bytes = NULL};
    oif_error error;
    if (jni_copy_text(env, path, &text))
        (void)jni_ok(env, oif_pipeline_save_file(jni_pipeline_at(handle), text.bytes, &error),
                     &error);
    jni_free_copy(&text);
}

static jlong pipeline_load_file(JNIEnv *env, jclass type, jbyteArray path)
{
    (void)type;
    jni_copy text = {.bytes = NULL};
    oif_pipeline *loaded = NULL;
    oif_error error;
    if (jni_copy_text(env, path, &text))
        (void)jni_ok(env, oif_pipeline_load_file(text.bytes, &loaded, &error), &error);
    jni_free_copy(&text);
    return (jlong)(intptr_t)loaded;
}

/* ---- More columns ---- */

/* Derivations of new columns, of which the first has the number `first`. Returns how many. */
static size_t read_derived(JNIEnv *env, jintArray kinds, size_t first, oif_derive_column *derived)
{
    const jsize count = (*env)->GetArrayLength(env, kinds);
    size_t found = 0;
    for (jsize i = 0; i < count; i++) {
        jint kind;
        (*env)->GetIntArrayRegion(env, kinds, i, 1, &kind);
        if (kind != OIF_DERIVE_NONE)
            derived[found++] = (oif_derive_column){first + (size_t)i, (oif_derive)kind, false};
    }
    return found;
}

/* `names` is null if the columns have none. `kinds` has one per new column. */
static void pipeline_add_columns(JNIEnv *env, jclass type, jlong handle, jobjectArray names,
                                 jintArray kinds)
{
    (void)type;
    oif_pipeline *pipeline = jni_pipeline_at(handle);
    jni_names copies = {0};
    oif_error error;
    const jsize count = jni_length_of(env, kinds);
    oif_derive_column *derived = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *derived);
    if (!derived) {
        if (count >= 0)
            jni_throw_out_of_memory(env);
        return;
    }
    const size_t derivations = read_derived(env, kinds, oif_pipeline_columns(pipeline), derived);
    if (!names || jni_copy_names(env, names, &copies))
        (void)jni_ok(env,
                     oif_pipeline_add_columns(pipeline, (size_t)count, copies.names, derived,
                                              derivations, &error),
                     &error);
    jni_free_names(&copies);
    free(derived);
}

/* ---- What oif.Native declares ---- */

static const JNINativeMethod methods[] = {
    NATIVE("detectorCopy", "(J)J", detector_copy),
    NATIVE("detectorSaveFile", "(J[B)V", detector_save_file),
    NATIVE("detectorLoadFile", "([B)J", detector_load_file),
    NATIVE("pipelineCopy", "(J)J", pipeline_copy),
    NATIVE("pipelineAround", "(J[[B[[B[B)J", pipeline_around),
    NATIVE("pipelineSaveFile", "(J[B)V", pipeline_save_file),
    NATIVE("pipelineLoadFile", "([B)J", pipeline_load_file),
    NATIVE("pipelineAddColumns", "(J[[B[I)V", pipeline_add_columns),
};

bool jni_register_copies(JNIEnv *env, jclass type)
{
    return (*env)->RegisterNatives(env, type, methods, sizeof methods / sizeof *methods) == JNI_OK;
}

/* Values that pass between Java and the library: exceptions, arrays, parameters.
 *
 * Arrays are copied, not pinned. A pinned array would stop the garbage collector for as long as a
 * call takes; copying a row costs nothing that could be measured.
 */
#ifndef JNI_VALUES_H
#define JNI_VALUES_H

#include "oif.h"

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Exceptions ---- */

void jni_throw_out_of_memory(JNIEnv *env);
void jni_throw_error(JNIEnv *env, const oif_error *error);

/* Returns whether a call succeeded. Throws its error if it failed. */
bool jni_ok(JNIEnv *env, oif_status status, const oif_error *error);

/* ---- Arrays ---- */

/* Most rows and keys fit these bytes, which are on the stack. */
enum { JNI_USUAL_BYTES = 512 };

/* A copy of an array, or memory for a result. Initialize it with {.bytes = NULL}. */
typedef struct jni_copy {
    void *bytes; /* NULL after a failure: an exception is pending */
    size_t count;
    double usual[JNI_USUAL_BYTES / sizeof(double)];
} jni_copy;

/* The functions that return false or NULL have thrown an exception. */
void *jni_make_room(JNIEnv *env, jni_copy *copy, size_t bytes);
bool jni_copy_bytes(JNIEnv *env, jbyteArray array, jni_copy *copy);
bool jni_copy_text(JNIEnv *env, jbyteArray array, jni_copy *copy); /* adds a NUL */
bool jni_copy_numbers(JNIEnv *env, jdoubleArray array, jni_copy *copy);
void jni_free_copy(jni_copy *copy);

/* The length of an array. Throws NullPointerException and returns -1 if it is null. */
jsize jni_length_of(JNIEnv *env, jarray array);

jbyteArray jni_bytes_of(JNIEnv *env, const void *bytes, size_t count);
jdoubleArray jni_numbers_of(JNIEnv *env, const double *numbers, size_t count);

/* Copies of texts, each with a NUL. Initialize it with {0}. */
typedef struct jni_names {
    const char *const *names; /* for the library */
    char **copies;
    size_t count;
} jni_names;

bool jni_copy_names(JNIEnv *env, jobjectArray array, jni_names *names);
void jni_free_names(jni_names *names);

/* ---- Lists ---- */

/* The oif.Entries that gets the entries of a list, each with a few texts and numbers. */
typedef struct jni_entries {
    JNIEnv *env;
    jobject sink;
    jmethodID add;
} jni_entries;

/* NULL becomes null. */
typedef struct jni_text {
    const char *bytes;
    size_t count;
} jni_text;

/* Both return false after an exception. */
bool jni_entries_begin(JNIEnv *env, jobject sink, jni_entries *entries);
bool jni_entries_add(const jni_entries *entries, const jni_text *texts, size_t text_count,
                     const double *numbers, size_t number_count);

/* ---- Parameters ---- */

/* Reads the parameters of a detector, or the options of a pipeline if `detector` is null.
 * Returns false after throwing an exception. */
bool jni_read_params(JNIEnv *env, jbyteArray detector, jobjectArray names, jobjectArray values,
                     oif_params *params);

/* Sets values of a table that was chosen already. */
bool jni_set_params(JNIEnv *env, oif_params *params, jobjectArray names, jobjectArray values);

/* ---- Native methods ---- */

/* A line in a table of methods. The JVM passes native functions as void *. */
#define NATIVE(name, signature, function)                                                          \
    {                                                                                              \
        (char *)(name), (char *)(signature), (void *)(uintptr_t)(function)                         \
    }

oif_detector *jni_detector_at(jlong handle);
oif_pipeline *jni_pipeline_at(jlong handle);

/* The numbers of a result, in the order of oif.Result. */
enum { JNI_RESULT_NUMBERS = 12 };
void jni_write_result(const oif_result *result, double numbers[JNI_RESULT_NUMBERS]);

/* Register the methods of jni_rows.c, jni_alerts.c and so on. */
bool jni_register_rows(JNIEnv *env, jclass type);
bool jni_register_alerts(JNIEnv *env, jclass type);
bool jni_register_incidents(JNIEnv *env, jclass type);
bool jni_register_copies(JNIEnv *env, jclass type);
bool jni_register_questions(JNIEnv *env, jclass type);

#endif

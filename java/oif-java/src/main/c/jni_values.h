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

/* ---- Parameters ---- */

/* Reads the parameters of a detector, or the options of a pipeline if `detector` is null.
 * Returns false after throwing an exception. */
bool jni_read_params(JNIEnv *env, jbyteArray detector, jobjectArray names, jobjectArray values,
                     oif_params *params);

#endif

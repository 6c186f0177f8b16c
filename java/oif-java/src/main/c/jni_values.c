#include "jni_values.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Exceptions ---- */

static void throw_named(JNIEnv *env, const char *class_name, const char *message)
{
    jclass type = (*env)->FindClass(env, class_name);
    if (type)
        (*env)->ThrowNew(env, type, message);
}

void jni_throw_out_of_memory(JNIEnv *env)
{
    throw_named(env, "java/lang/OutOfMemoryError", "no native memory for oif");
}

/* The message may contain bytes that are not UTF-8, so Java decodes it. */
void jni_throw_error(JNIEnv *env, const oif_error *error)
{
    jclass type = (*env)->FindClass(env, "oif/OifException");
    jmethodID make =
        type ? (*env)->GetMethodID(env, type, "<init>", "(I[BJJLjava/lang/String;)V") : NULL;
    jbyteArray message = make ? jni_bytes_of(env, error->message, strlen(error->message)) : NULL;
    jstring cause = message ? (*env)->NewStringUTF(env, oif_cause_name(error->cause)) : NULL;
    jobject thrown = cause ? (*env)->NewObject(env, type, make, (jint)error->status, message,
                                               (jlong)error->line, (jlong)error->column, cause)
                           : NULL;
    if (thrown)
        (*env)->Throw(env, thrown);
}

bool jni_ok(JNIEnv *env, oif_status status, const oif_error *error)
{
    if (status != OIF_OK)
        jni_throw_error(env, error);
    return status == OIF_OK;
}

/* ---- Arrays ---- */

void *jni_make_room(JNIEnv *env, jni_copy *copy, size_t bytes)
{
    copy->bytes = bytes <= sizeof copy->usual ? copy->usual : malloc(bytes);
    if (!copy->bytes)
        jni_throw_out_of_memory(env);
    return copy->bytes;
}

void jni_free_copy(jni_copy *copy)
{
    if (copy->bytes != copy->usual)
        free(copy->bytes);
}

jsize jni_length_of(JNIEnv *env, jarray array)
{
    if (array)
        return (*env)->GetArrayLength(env, array);
    throw_named(env, "java/lang/NullPointerException", "an array is null");
    return -1;
}

/* Makes room for the items of an array and `more` bytes after them. */
static bool make_room_for(JNIEnv *env, jarray array, size_t item_bytes, size_t more, jni_copy *copy)
{
    jsize count = jni_length_of(env, array);
    if (count < 0)
        return false;
    copy->count = (size_t)count;
    return jni_make_room(env, copy, copy->count * item_bytes + more) != NULL;
}

bool jni_copy_bytes(JNIEnv *env, jbyteArray array, jni_copy *copy)
{
    if (!make_room_for(env, array, 1, 0, copy))
        return false;
    (*env)->GetByteArrayRegion(env, array, 0, (jsize)copy->count, copy->bytes);
    return true;
}

bool jni_copy_text(JNIEnv *env, jbyteArray array, jni_copy *copy)
{
    if (!make_room_for(env, array, 1, 1, copy))
        return false;
    (*env)->GetByteArrayRegion(env, array, 0, (jsize)copy->count, copy->bytes);
    ((char *)copy->bytes)[copy->count] = '\0';
    return true;
}

bool jni_copy_numbers(JNIEnv *env, jdoubleArray array, jni_copy *copy)
{
    if (!make_room_for(env, array, sizeof(double), 0, copy))
        return false;
    (*env)->GetDoubleArrayRegion(env, array, 0, (jsize)copy->count, copy->bytes);
    return true;
}

jbyteArray jni_bytes_of(JNIEnv *env, const void *bytes, size_t count)
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

jdoubleArray jni_numbers_of(JNIEnv *env, const double *numbers, size_t count)
{
    jdoubleArray array = (*env)->NewDoubleArray(env, (jsize)count);
    if (array)
        (*env)->SetDoubleArrayRegion(env, array, 0, (jsize)count, numbers);
    return array;
}

static char *name_at(JNIEnv *env, jobjectArray names, size_t index)
{
    jbyteArray array = (*env)->GetObjectArrayElement(env, names, (jsize)index);
    jsize count = jni_length_of(env, array);
    if (count < 0)
        return NULL;
    char *name = malloc((size_t)count + 1);
    if (name) {
        (*env)->GetByteArrayRegion(env, array, 0, count, (jbyte *)name);
        name[count] = '\0';
    } else {
        jni_throw_out_of_memory(env);
    }
    (*env)->DeleteLocalRef(env, array);
    return name;
}

bool jni_copy_names(JNIEnv *env, jobjectArray array, jni_names *names)
{
    jsize count = jni_length_of(env, array);
    if (count < 0)
        return false;
    names->copies = calloc((size_t)count + 1, sizeof *names->copies);
    if (!names->copies) {
        jni_throw_out_of_memory(env);
        return false;
    }
    names->names = (const char *const *)names->copies;
    for (; names->count < (size_t)count; names->count++)
        if ((names->copies[names->count] = name_at(env, array, names->count)) == NULL)
            return false;
    return true;
}

void jni_free_names(jni_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->copies[i]);
    free(names->copies);
}

/* ---- Lists ---- */

bool jni_entries_begin(JNIEnv *env, jobject sink, jni_entries *entries)
{
    jclass type = (*env)->GetObjectClass(env, sink);
    *entries = (jni_entries){env, sink, (*env)->GetMethodID(env, type, "add", "([[B[D)V")};
    return entries->add != NULL;
}

static jobjectArray texts_of(JNIEnv *env, const jni_text *texts, size_t count)
{
    jclass type = (*env)->FindClass(env, "[B");
    jobjectArray array = type ? (*env)->NewObjectArray(env, (jsize)count, type, NULL) : NULL;
    for (size_t i = 0; array && i < count; i++) {
        if (!texts[i].bytes)
            continue;
        jbyteArray bytes = jni_bytes_of(env, texts[i].bytes, texts[i].count);
        if (!bytes)
            return NULL;
        (*env)->SetObjectArrayElement(env, array, (jsize)i, bytes);
        (*env)->DeleteLocalRef(env, bytes);
    }
    return array;
}

bool jni_entries_add(const jni_entries *entries, const jni_text *texts, size_t text_count,
                     const double *numbers, size_t number_count)
{
    JNIEnv *env = entries->env;
    if ((*env)->ExceptionCheck(env) || (*env)->PushLocalFrame(env, 8) != 0)
        return false; /* the frame: a list may be longer than the JVM has room for references */
    jobjectArray given = texts_of(env, texts, text_count);
    jdoubleArray figures = given ? jni_numbers_of(env, numbers, number_count) : NULL;
    if (figures)
        (*env)->CallVoidMethod(env, entries->sink, entries->add, given, figures);
    (*env)->PopLocalFrame(env, NULL);
    return !(*env)->ExceptionCheck(env);
}

/* ---- Parameters ---- */

static bool set_param(JNIEnv *env, oif_params *params, jbyteArray name, jbyteArray value)
{
    jni_copy name_text = {.bytes = NULL}, value_text = {.bytes = NULL};
    oif_error error;
    bool is_set =
        jni_copy_text(env, name, &name_text) && jni_copy_text(env, value, &value_text) &&
        jni_ok(env, oif_params_set_text(params, name_text.bytes, value_text.bytes, &error), &error);
    jni_free_copy(&name_text);
    jni_free_copy(&value_text);
    return is_set;
}

bool jni_set_params(JNIEnv *env, oif_params *params, jobjectArray names, jobjectArray values)
{
    jsize count = jni_length_of(env, names);
    if (count < 0 || jni_length_of(env, values) < 0)
        return false;
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

bool jni_read_params(JNIEnv *env, jbyteArray detector, jobjectArray names, jobjectArray values,
                     oif_params *params)
{
    oif_error error;
    if (!detector) {
        oif_pipeline_options_init(params);
        return jni_set_params(env, params, names, values);
    }
    jni_copy name = {.bytes = NULL};
    bool is_known = jni_copy_text(env, detector, &name) &&
                    jni_ok(env, oif_params_init(params, name.bytes, &error), &error);
    jni_free_copy(&name);
    return is_known && jni_set_params(env, params, names, values);
}

/* The native methods of oif.Native for incidents. A handle is the address of an oif_incidents. */
#include "jni_values.h"
#include "oif.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static oif_incidents *incidents_at(jlong handle)
{
    return (oif_incidents *)(intptr_t)handle; /* NOLINT(performance-no-int-to-ptr) */
}

/* ---- Create and free ---- */

static void check_incident_options(JNIEnv *env, jclass type, jobjectArray names,
                                   jobjectArray values)
{
    (void)type;
    oif_params options;
    oif_incidents_options_init(&options);
    (void)jni_set_params(env, &options, names, values);
}

static jlong incidents_new(JNIEnv *env, jclass type, jobjectArray names, jobjectArray values)
{
    (void)type;
    oif_params options;
    oif_incidents *made = NULL;
    oif_error error;
    oif_incidents_options_init(&options);
    if (jni_set_params(env, &options, names, values))
        (void)jni_ok(env, oif_incidents_new(&options, &made, &error), &error);
    return (jlong)(intptr_t)made;
}

static void incidents_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_incidents_free(incidents_at(handle));
}

/* ---- Events ---- */

typedef struct event_texts {
    jni_copy stream, key, column, reason;
} event_texts;

static jdoubleArray report(JNIEnv *env, oif_incidents *incidents, bool begins,
                           const oif_incident_event *event)
{
    oif_incident_place place = {.incident = 0};
    oif_error error;
    oif_status status = begins ? oif_incidents_begin(incidents, event, &place, &error)
                               : oif_incidents_end(incidents, event, &place, &error);
    if (!jni_ok(env, status, &error))
        return NULL;
    const double numbers[] = {(double)place.incident, (double)place.is_new, (double)place.joins,
                              (double)place.is_over, place.peak_before};
    return jni_numbers_of(env, numbers, COUNT_OF(numbers));
}

/* {incident, is new, joins, is over, peak before} */
static jdoubleArray incidents_report(JNIEnv *env, jclass type, jlong handle, jboolean begins,
                                     jbyteArray stream, jbyteArray key, jbyteArray column,
                                     jbyteArray reason, jdouble seconds, jdouble severity,
                                     jlong episode)
{
    (void)type;
    event_texts texts = {{.bytes = NULL}, {.bytes = NULL}, {.bytes = NULL}, {.bytes = NULL}};
    jdoubleArray place = NULL;
    if (jni_copy_text(env, stream, &texts.stream) && jni_copy_bytes(env, key, &texts.key) &&
        jni_copy_text(env, column, &texts.column) && jni_copy_text(env, reason, &texts.reason)) {
        const oif_incident_event event = {.stream = texts.stream.bytes,
                                          .key = texts.key.bytes,
                                          .key_bytes = texts.key.count,
                                          .column = texts.column.bytes,
                                          .reason = texts.reason.bytes,
                                          .seconds = seconds,
                                          .severity = severity,
                                          .episode = (uint64_t)episode};
        place = report(env, incidents_at(handle), begins != JNI_FALSE, &event);
    }
    jni_free_copy(&texts.stream);
    jni_free_copy(&texts.key);
    jni_free_copy(&texts.column);
    jni_free_copy(&texts.reason);
    return place;
}

/* ---- Questions ---- */

/* The number of the open incident at an index; 0 past the last. */
static jlong incidents_number(JNIEnv *env, jclass type, jlong handle, jint index)
{
    (void)env, (void)type;
    return (jlong)oif_incidents_number(incidents_at(handle), (size_t)index);
}

/* Null if there is no such incident; else its numbers in the order of oif.Incident. */
static jdoubleArray incidents_info(JNIEnv *env, jclass type, jlong handle, jlong number)
{
    (void)type;
    oif_incident_info info;
    if (!oif_incidents_info(incidents_at(handle), (uint64_t)number, &info))
        return NULL;
    const double numbers[] = {(double)info.members, (double)info.open,  info.first_seconds,
                              info.last_seconds,    info.peak_severity, (double)info.is_over,
                              (double)info.worst};
    return jni_numbers_of(env, numbers, COUNT_OF(numbers));
}

/* {stream, key, column, reason} and {seconds, end seconds, severity, episode} */
static void incidents_members(JNIEnv *env, jclass type, jlong handle, jlong number, jobject sink)
{
    (void)type;
    oif_incident_member m;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0;
         is_good && oif_incidents_member(incidents_at(handle), (uint64_t)number, i, &m); i++) {
        const jni_text texts[] = {{m.stream, m.stream_bytes},
                                  {m.key, m.key_bytes},
                                  {m.column, m.column_bytes},
                                  {m.reason, m.reason_bytes}};
        const double numbers[] = {m.seconds, m.end_seconds, m.severity, (double)m.episode};
        is_good = jni_entries_add(&entries, texts, COUNT_OF(texts), numbers, COUNT_OF(numbers));
    }
}

/* The text and {is column} */
static void incidents_shared(JNIEnv *env, jclass type, jlong handle, jlong number, jobject sink)
{
    (void)type;
    oif_incident_shared shared;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0;
         is_good && oif_incidents_shared(incidents_at(handle), (uint64_t)number, i, &shared); i++) {
        const jni_text text = {shared.text, shared.bytes};
        const double numbers[] = {(double)shared.is_column};
        is_good = jni_entries_add(&entries, &text, 1, numbers, COUNT_OF(numbers));
    }
}

/* ---- Snapshots ---- */

static jbyteArray incidents_save(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t bytes = oif_incidents_snapshot_bytes(incidents_at(handle));
    jni_copy snapshot = {.bytes = NULL};
    oif_error error;
    jbyteArray saved = NULL;
    if (jni_make_room(env, &snapshot, bytes) &&
        jni_ok(env, oif_incidents_save_memory(incidents_at(handle), snapshot.bytes, bytes, &error),
               &error))
        saved = jni_bytes_of(env, snapshot.bytes, bytes);
    jni_free_copy(&snapshot);
    return saved;
}

static jlong incidents_load(JNIEnv *env, jclass type, jbyteArray bytes)
{
    (void)type;
    jni_copy snapshot = {.bytes = NULL};
    oif_incidents *loaded = NULL;
    oif_error error;
    if (jni_copy_bytes(env, bytes, &snapshot))
        (void)jni_ok(env,
                     oif_incidents_load_memory(snapshot.bytes, snapshot.count, &loaded, &error),
                     &error);
    jni_free_copy(&snapshot);
    return (jlong)(intptr_t)loaded;
}

/* ---- What oif.Native declares ---- */

bool jni_register_incidents(JNIEnv *env, jclass type)
{
    static const JNINativeMethod methods[] = {
        NATIVE("checkIncidentOptions", "([[B[[B)V", check_incident_options),
        NATIVE("incidentsNew", "([[B[[B)J", incidents_new),
        NATIVE("incidentsFree", "(J)V", incidents_free),
        NATIVE("incidentsReport", "(JZ[B[B[B[BDDJ)[D", incidents_report),
        NATIVE("incidentsNumber", "(JI)J", incidents_number),
        NATIVE("incidentsInfo", "(JJ)[D", incidents_info),
        NATIVE("incidentsMembers", "(JJLoif/Entries;)V", incidents_members),
        NATIVE("incidentsShared", "(JJLoif/Entries;)V", incidents_shared),
        NATIVE("incidentsSave", "(J)[B", incidents_save),
        NATIVE("incidentsLoad", "([B)J", incidents_load),
    };
    return (*env)->RegisterNatives(env, type, methods, COUNT_OF(methods)) == JNI_OK;
}

/* The native methods of oif.Native that ask about detectors and pipelines: parameters, figures,
 * counts, seasons; and what a program attaches to a pipeline. */
#include "jni_values.h"
#include "oif.h"

#include <jni.h>
#include <math.h>
#include <string.h>

static jni_text text_of(const char *text)
{
    return (jni_text){text, text ? strlen(text) : 0};
}

/* ---- Detectors ---- */

/* {name, summary, paper, cost, choose} of each detector of the library. */
static void detector_infos(JNIEnv *env, jclass type, jobject sink)
{
    (void)type;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    const oif_detector_info *info;
    for (size_t i = 0; is_good && (info = oif_detector_info_at(i)) != NULL; i++) {
        const jni_text texts[] = {text_of(info->table.name), text_of(info->table.summary),
                                  text_of(info->paper), text_of(info->cost), text_of(info->choose)};
        is_good = jni_entries_add(&entries, texts, sizeof texts / sizeof *texts, NULL, 0);
    }
}

static jboolean adds_columns(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                             jobjectArray values)
{
    (void)type;
    oif_params params;
    return jni_read_params(env, detector, names, values, &params) &&
           oif_detector_adds_columns(&params);
}

static jlong estimate_bytes(JNIEnv *env, jclass type, jbyteArray detector, jobjectArray names,
                            jobjectArray values, jint columns)
{
    (void)type;
    oif_params params;
    oif_error error;
    size_t bytes = 0, count = columns < 0 ? 0 : (size_t)columns;
    if (jni_read_params(env, detector, names, values, &params))
        (void)jni_ok(env, oif_detector_estimate_bytes(&params, count, &bytes, &error), &error);
    return (jlong)bytes;
}

/* The name of the table, then the name and the value of each parameter: a word or a number. */
static void report_params(JNIEnv *env, const oif_params *params, jobject sink)
{
    jni_entries entries;
    const oif_param_table *table = params->table;
    const jni_text name = text_of(table->name);
    bool is_good =
        jni_entries_begin(env, sink, &entries) && jni_entries_add(&entries, &name, 1, NULL, 0);
    for (size_t i = 0; is_good && i < table->param_count; i++) {
        const oif_param *param = &table->params[i];
        const char *word =
            param->type == OIF_PARAM_CHOICE ? param->choices[(size_t)params->values[i]] : NULL;
        const jni_text texts[] = {text_of(param->name), text_of(word)};
        is_good = jni_entries_add(&entries, texts, 2, &params->values[i], 1);
    }
}

static void detector_params(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    report_params(env, oif_detector_params(jni_detector_at(handle)), sink);
}

static void add_figure(void *context, const char *name, double value)
{
    const jni_text text = text_of(name);
    (void)jni_entries_add(context, &text, 1, &value, 1);
}

static void detector_describe(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    jni_entries entries;
    if (jni_entries_begin(env, sink, &entries))
        oif_detector_describe(jni_detector_at(handle), add_figure, &entries);
}

static void detector_reset(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    oif_detector_reset(jni_detector_at(handle));
}

static void detector_name_columns(JNIEnv *env, jclass type, jlong handle, jobjectArray names)
{
    (void)type;
    jni_names copies = {0};
    oif_error error;
    if (jni_copy_names(env, names, &copies))
        (void)jni_ok(env, oif_detector_name_columns(jni_detector_at(handle), copies.names, &error),
                     &error);
    jni_free_names(&copies);
}

static jbyteArray detector_column_name(JNIEnv *env, jclass type, jlong handle, jint column)
{
    (void)type;
    const char *name = oif_detector_column_name(jni_detector_at(handle), (size_t)column);
    return name ? jni_bytes_of(env, name, strlen(name)) : NULL;
}

/* ---- Pipelines ---- */

static void pipeline_params(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    report_params(env, oif_pipeline_detector_params(jni_pipeline_at(handle)), sink);
}

static void pipeline_options(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    report_params(env, oif_pipeline_options(jni_pipeline_at(handle)), sink);
}

static jboolean is_changeable(JNIEnv *env, jclass type, jbyteArray option)
{
    (void)type;
    jni_copy name = {.bytes = NULL};
    bool answer =
        jni_copy_text(env, option, &name) && oif_pipeline_option_is_changeable(name.bytes);
    jni_free_copy(&name);
    return answer;
}

/* In the order of oif.Pipeline.counts: evictions, rows without a model, restarts, kept, lost. */
static jdoubleArray pipeline_counts(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    const oif_pipeline *pipeline = jni_pipeline_at(handle);
    const double counts[] = {
        (double)oif_pipeline_evictions(pipeline), (double)oif_pipeline_unmodelled_rows(pipeline),
        (double)oif_pipeline_restarts(pipeline), (double)oif_pipeline_kept(pipeline),
        (double)oif_pipeline_lost(pipeline, NULL)};
    return jni_numbers_of(env, counts, sizeof counts / sizeof *counts);
}

static void pipeline_limit_memory(JNIEnv *env, jclass type, jlong handle, jlong bytes)
{
    (void)env, (void)type;
    oif_pipeline_limit_memory(jni_pipeline_at(handle), (size_t)bytes);
}

static jdouble pipeline_next_silence(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return oif_pipeline_next_silence(jni_pipeline_at(handle));
}

static jdouble pipeline_silence_after(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                                      jdouble seconds)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    double until = NAN;
    if (jni_copy_bytes(env, key, &copy))
        until =
            oif_pipeline_silence_after(jni_pipeline_at(handle), copy.bytes, copy.count, seconds);
    jni_free_copy(&copy);
    return until;
}

/* Null if no row was processed. */
static jbyteArray pipeline_recent_key(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    const oif_pipeline *pipeline = jni_pipeline_at(handle);
    size_t bytes = 0;
    const char *key = oif_pipeline_recent_key(pipeline, &bytes);
    return oif_pipeline_rows(pipeline) > 0 ? jni_bytes_of(env, key, bytes) : NULL;
}

/* {rows, seconds, was found, strength, column} of each season of a key. */
static void pipeline_seasons(JNIEnv *env, jclass type, jlong handle, jbyteArray key, jobject sink)
{
    (void)type;
    const oif_pipeline *pipeline = jni_pipeline_at(handle);
    jni_copy copy = {.bytes = NULL};
    jni_entries entries;
    oif_season_info info;
    bool is_good = jni_entries_begin(env, sink, &entries) && jni_copy_bytes(env, key, &copy);
    for (size_t i = 0; is_good && oif_pipeline_season(pipeline, copy.bytes, copy.count, i, &info);
         i++) {
        const double numbers[] = {info.rows, info.seconds, (double)info.was_found, info.strength,
                                  (double)info.column};
        is_good = jni_entries_add(&entries, NULL, 0, numbers, sizeof numbers / sizeof *numbers);
    }
    jni_free_copy(&copy);
}

/* ---- What a program attaches ---- */

/* Either may be null. */
static void pipeline_name_roles(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                                jbyteArray time)
{
    (void)type;
    jni_copy key_copy = {.bytes = NULL}, time_copy = {.bytes = NULL};
    oif_error error;
    if ((!key || jni_copy_text(env, key, &key_copy)) &&
        (!time || jni_copy_text(env, time, &time_copy)))
        (void)jni_ok(env,
                     oif_pipeline_name_roles(jni_pipeline_at(handle), key_copy.bytes,
                                             time_copy.bytes, &error),
                     &error);
    jni_free_copy(&key_copy);
    jni_free_copy(&time_copy);
}

/* {key, time}, if they were ever set. */
static void pipeline_roles(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    jni_entries entries;
    const char *key, *time;
    if (!jni_entries_begin(env, sink, &entries) ||
        !oif_pipeline_roles(jni_pipeline_at(handle), &key, &time))
        return;
    const jni_text texts[] = {text_of(key), text_of(time)};
    (void)jni_entries_add(&entries, texts, 2, NULL, 0);
}

static void pipeline_attach(JNIEnv *env, jclass type, jlong handle, jbyteArray bytes)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_bytes(env, bytes, &copy))
        (void)jni_ok(env,
                     oif_pipeline_attach(jni_pipeline_at(handle), copy.bytes, copy.count, &error),
                     &error);
    jni_free_copy(&copy);
}

static jbyteArray pipeline_attachment(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    size_t count = 0;
    const void *bytes = oif_pipeline_attachment(jni_pipeline_at(handle), &count);
    return jni_bytes_of(env, bytes, count);
}

static jbyteArray pipeline_why_lost(JNIEnv *env, jclass type, jlong handle)
{
    (void)type;
    const char *why = "";
    (void)oif_pipeline_lost(jni_pipeline_at(handle), &why);
    return jni_bytes_of(env, why, strlen(why));
}

static void check_rules(JNIEnv *env, jclass type, jbyteArray text)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_bytes(env, text, &copy))
        (void)jni_ok(env, oif_rules_check(copy.bytes, copy.count, &error), &error);
    jni_free_copy(&copy);
}

/* ---- What oif.Native declares ---- */

static const JNINativeMethod methods[] = {
    NATIVE("detectorInfos", "(Loif/Entries;)V", detector_infos),
    NATIVE("addsColumns", "([B[[B[[B)Z", adds_columns),
    NATIVE("estimateBytes", "([B[[B[[BI)J", estimate_bytes),
    NATIVE("detectorParams", "(JLoif/Entries;)V", detector_params),
    NATIVE("detectorDescribe", "(JLoif/Entries;)V", detector_describe),
    NATIVE("detectorReset", "(J)V", detector_reset),
    NATIVE("detectorNameColumns", "(J[[B)V", detector_name_columns),
    NATIVE("detectorColumnName", "(JI)[B", detector_column_name),
    NATIVE("pipelineParams", "(JLoif/Entries;)V", pipeline_params),
    NATIVE("pipelineOptions", "(JLoif/Entries;)V", pipeline_options),
    NATIVE("isChangeable", "([B)Z", is_changeable),
    NATIVE("pipelineCounts", "(J)[D", pipeline_counts),
    NATIVE("pipelineLimitMemory", "(JJ)V", pipeline_limit_memory),
    NATIVE("pipelineNextSilence", "(J)D", pipeline_next_silence),
    NATIVE("pipelineSilenceAfter", "(J[BD)D", pipeline_silence_after),
    NATIVE("pipelineRecentKey", "(J)[B", pipeline_recent_key),
    NATIVE("pipelineSeasons", "(J[BLoif/Entries;)V", pipeline_seasons),
    NATIVE("pipelineNameRoles", "(J[B[B)V", pipeline_name_roles),
    NATIVE("pipelineRoles", "(JLoif/Entries;)V", pipeline_roles),
    NATIVE("pipelineAttach", "(J[B)V", pipeline_attach),
    NATIVE("pipelineAttachment", "(J)[B", pipeline_attachment),
    NATIVE("pipelineWhyLost", "(J)[B", pipeline_why_lost),
    NATIVE("checkRules", "([B)V", check_rules),
};

bool jni_register_questions(JNIEnv *env, jclass type)
{
    return (*env)->RegisterNatives(env, type, methods, sizeof methods / sizeof *methods) == JNI_OK;
}

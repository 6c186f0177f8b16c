/* The native methods of oif.Native that are about alerts: derived columns, what was expected,
 * episodes, silence, rules, and feedback. Lists are passed to an oif.Entries, entry by entry. */
#include "jni_values.h"
#include "oif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Columns ---- */

static void pipeline_derive(JNIEnv *env, jclass type, jlong handle, jint column, jint kind,
                            jboolean keep)
{
    (void)type;
    oif_error error;
    (void)jni_ok(env,
                 oif_pipeline_derive(jni_pipeline_at(handle), (size_t)column, (oif_derive)kind,
                                     keep != JNI_FALSE, &error),
                 &error);
}

/* {column, kind} of each learned column. */
static void pipeline_learned(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    const oif_pipeline *pipeline = jni_pipeline_at(handle);
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0; is_good && i < oif_pipeline_learned_columns(pipeline); i++) {
        oif_derive kind;
        const double column = (double)oif_pipeline_learned_from(pipeline, i, &kind);
        const double numbers[] = {column, (double)kind};
        is_good = jni_entries_add(&entries, NULL, 0, numbers, COUNT_OF(numbers));
    }
}

static jdouble category(JNIEnv *env, jclass type, jbyteArray text)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    double number = jni_copy_bytes(env, text, &copy) ? oif_category(copy.bytes, copy.count) : NAN;
    jni_free_copy(&copy);
    return number;
}

/* {value, low, high, basis} of each learned column. */
static void pipeline_expected(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    const oif_pipeline *pipeline = jni_pipeline_at(handle);
    const double *row = oif_pipeline_learned_row(pipeline);
    const size_t count = oif_pipeline_learned_columns(pipeline);
    jni_entries entries;
    oif_expected *expected = calloc(count, sizeof *expected);
    if (!expected) {
        jni_throw_out_of_memory(env);
        return;
    }
    oif_pipeline_expected(pipeline, expected);
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0; is_good && i < count; i++) {
        const double numbers[] = {row ? row[i] : (double)NAN, expected[i].low, expected[i].high,
                                  (double)expected[i].basis};
        is_good = jni_entries_add(&entries, NULL, 0, numbers, COUNT_OF(numbers));
    }
    free(expected);
}

/* ---- Episodes and silence ---- */

static double column_number(uint32_t column)
{
    return column == OIF_UNKNOWN_COLUMN ? -1 : (double)column;
}

/* Null if the key has had no episode; else its numbers, in the order of oif.EpisodeInfo. */
static jdoubleArray pipeline_episode(JNIEnv *env, jclass type, jlong handle, jbyteArray key)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    oif_episode_info info;
    bool is_found = jni_copy_bytes(env, key, &copy) &&
                    oif_pipeline_episode(jni_pipeline_at(handle), copy.bytes, copy.count, &info);
    jni_free_copy(&copy);
    if (!is_found)
        return NULL;
    const double numbers[] = {(double)info.number,
                              (double)info.first_row,
                              info.first_seconds,
                              info.last_seconds,
                              (double)info.rows,
                              (double)info.anomalies,
                              (double)info.is_over,
                              (double)info.peak_grade,
                              (double)info.peak_row,
                              info.peak_score,
                              info.peak_severity,
                              column_number(info.column),
                              (double)info.direction,
                              info.value,
                              (double)info.reason,
                              info.size,
                              info.usual};
    return jni_numbers_of(env, numbers, COUNT_OF(numbers));
}

static void add_silence(void *context, const oif_silence *silence)
{
    const jni_text key = {silence->key ? silence->key : "", silence->key_bytes};
    const double numbers[] = {silence->since, silence->allowed};
    (void)jni_entries_add(context, &key, 1, numbers, COUNT_OF(numbers));
}

static void pipeline_silent(JNIEnv *env, jclass type, jlong handle, jdouble seconds, jobject sink)
{
    (void)type;
    jni_entries entries;
    if (jni_entries_begin(env, sink, &entries))
        oif_pipeline_silent(jni_pipeline_at(handle), seconds, add_silence, &entries);
}

/* ---- Keys ---- */

/* The key, and its numbers in the order of oif.KeyInfo. */
static void pipeline_key_infos(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    size_t position = 0;
    oif_key_info info;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    while (is_good && oif_pipeline_next_key(jni_pipeline_at(handle), &position, &info)) {
        const jni_text key = {info.key ? info.key : "", info.key_bytes};
        const double numbers[] = {(double)info.rows,          info.last_seconds,
                                  (double)info.memory_bytes,  (double)info.is_ready,
                                  (double)info.is_in_episode, (double)info.is_silent,
                                  (double)info.is_evicted};
        is_good = jni_entries_add(&entries, &key, 1, numbers, COUNT_OF(numbers));
    }
}

static void pipeline_change(JNIEnv *env, jclass type, jlong handle, jbyteArray name,
                            jbyteArray value)
{
    (void)type;
    oif_pipeline *pipeline = jni_pipeline_at(handle);
    oif_params options = *oif_pipeline_options(pipeline); /* reads the text of the value */
    jni_copy name_text = {.bytes = NULL}, value_text = {.bytes = NULL};
    oif_error error;
    double number;
    if (jni_copy_text(env, name, &name_text) && jni_copy_text(env, value, &value_text) &&
        jni_ok(env, oif_params_set_text(&options, name_text.bytes, value_text.bytes, &error),
               &error) &&
        jni_ok(env, oif_params_get(&options, name_text.bytes, &number, &error), &error))
        (void)jni_ok(env, oif_pipeline_change_option(pipeline, name_text.bytes, number, &error),
                     &error);
    jni_free_copy(&name_text);
    jni_free_copy(&value_text);
}

/* ---- Rules ---- */

typedef oif_status rules_function(oif_pipeline *pipeline, const char *text, size_t bytes,
                                  oif_error *error);

static void give_rules(JNIEnv *env, rules_function *give, jlong handle, jbyteArray text)
{
    jni_copy copy = {.bytes = NULL};
    oif_error error;
    if (jni_copy_bytes(env, text, &copy))
        (void)jni_ok(env, give(jni_pipeline_at(handle), copy.bytes, copy.count, &error), &error);
    jni_free_copy(&copy);
}

static void pipeline_set_rules(JNIEnv *env, jclass type, jlong handle, jbyteArray text)
{
    (void)type;
    give_rules(env, oif_pipeline_set_rules, handle, text);
}

static void pipeline_add_rules(JNIEnv *env, jclass type, jlong handle, jbyteArray text)
{
    (void)type;
    give_rules(env, oif_pipeline_add_rules, handle, text);
}

/* The text, and {held, first seconds, last seconds}, of each rule. */
static void pipeline_rules(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    oif_rule_info rule;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0; is_good && oif_pipeline_rule(jni_pipeline_at(handle), i, &rule); i++) {
        const jni_text text = {rule.text, strlen(rule.text)};
        const double numbers[] = {(double)rule.held, rule.first_seconds, rule.last_seconds};
        is_good = jni_entries_add(&entries, &text, 1, numbers, COUNT_OF(numbers));
    }
}

/* ---- Feedback ---- */

static void pipeline_keep_episodes(JNIEnv *env, jclass type, jlong handle, jboolean keep)
{
    (void)type;
    oif_error error;
    (void)jni_ok(env,
                 oif_pipeline_keep_episodes(jni_pipeline_at(handle), keep != JNI_FALSE, &error),
                 &error);
}

static jboolean pipeline_keeps_episodes(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    return oif_pipeline_keeps_episodes(jni_pipeline_at(handle));
}

/* The key, and numbers in the order of oif.PastEpisode. */
static void pipeline_past_episodes(JNIEnv *env, jclass type, jlong handle, jobject sink)
{
    (void)type;
    oif_past_episode past;
    jni_entries entries;
    bool is_good = jni_entries_begin(env, sink, &entries);
    for (size_t i = 0; is_good && oif_pipeline_past_episode(jni_pipeline_at(handle), i, &past);
         i++) {
        const jni_text key = {past.key ? past.key : "", past.key_bytes};
        const double numbers[] = {(double)past.number,
                                  (double)past.first_row,
                                  past.first_seconds,
                                  past.severity,
                                  column_number(past.column),
                                  (double)past.direction,
                                  past.change,
                                  past.change_share,
                                  (double)past.reason,
                                  (double)past.is_key_cut};
        is_good = jni_entries_add(&entries, &key, 1, numbers, COUNT_OF(numbers));
    }
}

static jbyteArray pipeline_propose(JNIEnv *env, jclass type, jlong handle, jbyteArray key,
                                   jlong number)
{
    (void)type;
    jni_copy copy = {.bytes = NULL};
    char rule[OIF_RULE_BYTES];
    oif_error error;
    bool is_good = jni_copy_bytes(env, key, &copy) &&
                   jni_ok(env,
                          oif_pipeline_propose(jni_pipeline_at(handle), copy.bytes, copy.count,
                                               (uint64_t)number, rule, &error),
                          &error);
    jni_free_copy(&copy);
    return is_good ? jni_bytes_of(env, rule, strlen(rule)) : NULL;
}

/* ---- What oif.Native declares ---- */

bool jni_register_alerts(JNIEnv *env, jclass type)
{
    static const JNINativeMethod methods[] = {
        NATIVE("pipelineDerive", "(JIIZ)V", pipeline_derive),
        NATIVE("pipelineLearned", "(JLoif/Entries;)V", pipeline_learned),
        NATIVE("category", "([B)D", category),
        NATIVE("pipelineExpected", "(JLoif/Entries;)V", pipeline_expected),
        NATIVE("pipelineEpisode", "(J[B)[D", pipeline_episode),
        NATIVE("pipelineSilent", "(JDLoif/Entries;)V", pipeline_silent),
        NATIVE("pipelineKeyInfos", "(JLoif/Entries;)V", pipeline_key_infos),
        NATIVE("pipelineChange", "(J[B[B)V", pipeline_change),
        NATIVE("pipelineSetRules", "(J[B)V", pipeline_set_rules),
        NATIVE("pipelineAddRules", "(J[B)V", pipeline_add_rules),
        NATIVE("pipelineRules", "(JLoif/Entries;)V", pipeline_rules),
        NATIVE("pipelineKeepEpisodes", "(JZ)V", pipeline_keep_episodes),
        NATIVE("pipelineKeepsEpisodes", "(J)Z", pipeline_keeps_episodes),
        NATIVE("pipelinePastEpisodes", "(JLoif/Entries;)V", pipeline_past_episodes),
        NATIVE("pipelinePropose", "(J[BJ)[B", pipeline_propose),
    };
    return (*env)->RegisterNatives(env, type, methods, COUNT_OF(methods)) == JNI_OK;
}

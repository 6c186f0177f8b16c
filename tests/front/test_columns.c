/* front/columns: which columns of an input are learned, and what becomes of the others. */
#include "front_fixture.h"

#include "front/columns/added_fields.h"
#include "front/columns/derive.h"
#include "front/columns/known_roles.h"

#include <math.h>

/* "load,x": the columns that are learned, in the order of a row. */
static const char *learned(const memory_rows *rows)
{
    static char names[256];
    names[0] = '\0';
    for (size_t i = 0; i < rows->input.columns.count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? "," : "",
                 columns_name(&rows->input.columns, i));
    }
    return names;
}

static void assert_learned(const char *text, const char *const arguments[], const char *names)
{
    memory_rows rows;
    open_rows(&rows, text, arguments);
    assert_string_equal(learned(&rows), names);
    close_rows(&rows);
}

/* The complaint is in `said`. */
static void assert_refused(const char *text, const char *const arguments[])
{
    memory_rows rows;
    assert_int_not_equal(try_rows(&rows, text_of(text), arguments), EXIT_OK);
    settings_close(&rows.settings);
}

static const char fleet[] = "host,at,load,memory,bad\n"
                            "web,2026-11-16T12:00:00Z,1,5,0\n"
                            "db,2026-11-16T12:01:00Z,2,6,1\n";

static void options_take_columns_out_of_learning(void **state)
{
    (void)state;
    assert_learned(fleet, OPTIONS("--key", "host", "--time", "at"), "load,memory,bad");
    assert_learned(fleet, OPTIONS("--key", "host", "--time", "at", "--label", "bad"),
                   "load,memory");
    assert_learned(fleet, OPTIONS("--key", "host", "--time", "at", "--exclude", "bad,m*"), "load");
    assert_learned(fleet, OPTIONS("--columns", "memory,load"), "load,memory");
}

static void a_column_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    assert_refused(fleet, OPTIONS("--key", "hots"));
    assert_has(said.text, "hots");
    assert_refused(fleet, OPTIONS("--columns", "lod"));
    assert_has(said.text, "lod");
    assert_refused(fleet, OPTIONS("--exclude", "lod"));
    assert_has(said.text, "lod");
}

static void text_is_left_out_with_a_note_and_refused_if_strict(void **state)
{
    (void)state;
    memory_rows rows;
    open_rows(&rows, "note,load\nup,1\ndown,2\n", NO_OPTIONS);
    assert_string_equal(learned(&rows), "load");
    assert_has(noted, "note");
    assert_has(noted, "--exclude");
    close_rows(&rows);
    assert_refused("note,load\nup,1\ndown,2\n", OPTIONS("--strict"));
    assert_has(said.text, "note");
}

static void a_record_has_the_learned_values_and_the_texts_of_its_roles(void **state)
{
    (void)state;
    memory_rows rows;
    open_rows(&rows, fleet, OPTIONS("--key", "host", "--time", "at", "--label", "bad"));
    const input_columns *columns = &rows.input.columns;
    oif_record record = next_record(&rows);
    assert_true(record.values[0] == 1 && record.values[1] == 5);
    assert_true(columns->has_key && columns->has_time);
    assert_int_equal(columns->text_count, 2);
    assert_memory_equal(record.texts[columns->key.texts[0]].text, "web", 3);
    assert_memory_equal(record.texts[columns->time_text].text, "2026-11-16T12:00:00Z", 20);
    assert_string_equal(columns->time_name, "at");
    assert_true(columns_is_learned(columns, 2));
    assert_false(columns_is_learned(columns, 0));
    close_rows(&rows);
}

static void a_bad_row_fails_is_skipped_or_is_mended(void **state)
{
    (void)state;
    static const char *const text = "load,x\n1,1\n2,oops\n3,3\n";
    static const struct {
        on_bad_row policy;
        oif_status status;
        double load;
        uint64_t skipped, mended;
    } cases[] = {{BAD_ROW_FAILS, OIF_EINPUT, 0, 0, 0},
                 {BAD_ROW_IS_SKIPPED, OIF_OK, 3, 1, 0},
                 {BAD_ROW_IS_MENDED, OIF_OK, 2, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_rows rows;
        oif_record record;
        oif_error error;
        open_rows(&rows, text, OPTIONS("--columns", "load,x"));
        next_record(&rows);
        assert_int_equal(row_source_next(&rows.input, cases[i].policy, &rows.bad, &record, &error),
                         cases[i].status);
        if (cases[i].status == OIF_OK)
            assert_true(record.values[0] == cases[i].load);
        assert_int_equal(rows.bad.skipped, cases[i].skipped);
        assert_int_equal(rows.bad.mended, cases[i].mended);
        close_rows(&rows);
    }
}

static void categories_take_their_places_in_the_row(void **state)
{
    (void)state;
    memory_rows rows;
    open_rows(&rows,
              "{\"a\":\"up\",\"load\":7,\"z\":\"null\"}\n{\"a\":null,\"load\":8,\"z\":null}\n",
              OPTIONS("--category", "a,z"));
    category_columns *categories = &rows.input.columns.categories;
    oif_record record = next_record(&rows);
    const double *row = categories_row(categories, &record);
    assert_true(row[0] == oif_category("up", 2));
    assert_true(row[1] == 7);
    assert_true(row[2] == oif_category("null", 4)); /* a string */
    assert_true(categories_contain(categories, 0));
    assert_false(categories_contain(categories, 1));
    assert_null(categories_text(categories, 1));
    assert_memory_equal(categories_text(categories, 0)->text, "up", 2);
    record = next_record(&rows);
    row = categories_row(categories, &record);
    assert_true(isnan(row[0]) && row[1] == 8 && isnan(row[2]));
    close_rows(&rows);
}

static void a_category_in_a_message_is_escaped_and_cut(void **state)
{
    (void)state;
    char quoted[CATEGORY_TEXT_BYTES], longer[200];
    const oif_text plain = text_of("crashed"), control = text_of("a\x1b[31m\xc2\x85\xff");
    assert_string_equal(category_quoted(&plain, quoted), "'crashed'");
    assert_string_equal(category_quoted(&control, quoted), "'a\\u001b[31m\\u0085\xef\xbf\xbd'");
    memset(longer, 'n', sizeof longer);
    const oif_text cut = {longer, sizeof longer};
    category_quoted(&cut, quoted);
    assert_int_equal(strlen(quoted), CATEGORY_TEXT_BYTES - 1);
    assert_string_equal(quoted + strlen(quoted) - 5, "n...'");
}

static void fields_of_another_oif_are_left_out(void **state)
{
    (void)state;
    assert_learned("load,score,severity,anomaly\n1,0.5,0.1,0\n2,0.5,0.1,0\n", NO_OPTIONS, "load");
    assert_has(noted, "score");
    assert_learned("load,score\n1,0.5\n2,0.5\n", NO_OPTIONS, "load,score");
    assert_int_equal(added_field_find("anomaly", 7), FIELD_ANOMALY);
    assert_int_equal(added_field_find("anomalyx", 8), FIELDS_MAX);
    assert_int_equal(added_field_find("anomal", 6), FIELDS_MAX);
}

static void derived_columns_have_names_that_say_how(void **state)
{
    (void)state;
    memory_rows rows;
    oif_pipeline *pipeline;
    open_rows(&rows, "load,rx\n1,10\n2,20\n", OPTIONS("--rate", "rx"));
    const run_settings *settings = &rows.settings;
    const input_columns *columns = &rows.input.columns;
    assert_true(derive_is_asked(settings));
    assert_int_equal(settings_make_pipeline(settings, columns->count, &pipeline), EXIT_OK);
    assert_int_equal(derive_columns(pipeline, settings, columns), EXIT_OK);
    const size_t count = oif_pipeline_learned_columns(pipeline);
    static const char *const expected[] = {"load", "rate(rx)"};
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        char *name = derive_name(pipeline, columns, i);
        assert_string_equal(name, expected[i]);
        free(name);
    }
    assert_int_equal(derive_compare(pipeline, settings, columns), EXIT_OK);
    oif_pipeline_free(pipeline);
    close_rows(&rows);
}

/* ---- What a state has learned from ---- */

static oif_pipeline *known_pipeline(const char *key, const char *time)
{
    const char *const names[] = {"load", "memory"};
    oif_params params;
    oif_pipeline *known;
    assert_int_equal(oif_params_init(&params, OIF_DEFAULT_DETECTOR, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_new(&params, 2, NULL, &known, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_name_columns(known, names, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_name_roles(known, key, time, NULL), OIF_OK);
    return known;
}

/* Messages are in `said` and `noted`. */
static exit_code try_known(memory_rows *rows, const char *text, const oif_pipeline *known)
{
    *rows = (memory_rows){.memory = {.pieces = {text_of(text)}}};
    set_options(rows, OPTIONS("--state", "s.oif"));
    messages_capture();
    assert_int_equal(
        input_open_memory(&rows->input, &rows->settings, known, &rows->bad, "rows", &rows->memory),
        EXIT_OK);
    exit_code code = input_choose_columns(&rows->input, &rows->settings, LABEL_IGNORED, known,
                                          (first_rows_wait){NULL, NULL});
    take_messages();
    return code;
}

static void columns_of_a_state_are_found_in_any_order(void **state)
{
    (void)state;
    memory_rows rows;
    oif_pipeline *known = known_pipeline(NULL, NULL);
    assert_int_equal(try_known(&rows, "memory,load\n5,1\n", known), EXIT_OK);
    assert_string_equal(learned(&rows), "load,memory");
    oif_record record = next_record(&rows);
    assert_true(record.values[0] == 1 && record.values[1] == 5);
    close_rows(&rows);
    oif_pipeline_free(known);
}

static void columns_that_a_state_does_not_know_are_refused(void **state)
{
    (void)state;
    memory_rows rows;
    oif_pipeline *known = known_pipeline(NULL, NULL);
    assert_int_not_equal(try_known(&rows, "load,disk\n1,5\n", known), EXIT_OK);
    assert_has(said.text, "memory");
    settings_close(&rows.settings);
    oif_pipeline_free(known);
}

/* With a key of the command line, or NULL. */
static exit_code take_roles(memory_rows *rows, const oif_pipeline *known, const char *key)
{
    rows->settings.score.key = key;
    rows->settings.score.time = NULL;
    messages_capture();
    exit_code code = known_roles_take(&rows->settings, known, &rows->input);
    take_messages();
    return code;
}

static void the_key_and_the_time_are_those_of_the_state(void **state)
{
    (void)state;
    memory_rows rows;
    oif_pipeline *known = known_pipeline("host", "at"), *other = known_pipeline("rack", NULL),
                 *without = known_pipeline(NULL, NULL);
    open_rows(&rows, fleet, OPTIONS("--state", "s.oif", "--key", "host", "--time", "at"));
    assert_int_equal(take_roles(&rows, known, NULL), EXIT_OK);
    assert_string_equal(rows.settings.score.key, "host");
    assert_string_equal(rows.settings.score.time, "at");
    assert_int_equal(take_roles(&rows, known, "\"host\""), EXIT_OK);
    assert_int_equal(take_roles(&rows, known, "bad"), EXIT_FAILED);
    assert_has(said.text, "s.oif: the state has a model for each host, and --key bad would start");
    assert_int_equal(take_roles(&rows, other, NULL), EXIT_FAILED);
    assert_has(said.text, "rows: there is no column 'rack', the key of the state s.oif");
    assert_int_equal(take_roles(&rows, NULL, NULL), EXIT_OK);
    assert_null(rows.settings.score.key);
    assert_int_equal(take_roles(&rows, without, NULL), EXIT_OK);
    assert_null(rows.settings.score.key);
    close_rows(&rows);
    oif_pipeline_free(known);
    oif_pipeline_free(other);
    oif_pipeline_free(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_columns_out_of_learning),
        cmocka_unit_test(a_column_that_does_not_exist_is_refused),
        cmocka_unit_test(text_is_left_out_with_a_note_and_refused_if_strict),
        cmocka_unit_test(a_record_has_the_learned_values_and_the_texts_of_its_roles),
        cmocka_unit_test(a_bad_row_fails_is_skipped_or_is_mended),
        cmocka_unit_test(categories_take_their_places_in_the_row),
        cmocka_unit_test(a_category_in_a_message_is_escaped_and_cut),
        cmocka_unit_test(fields_of_another_oif_are_left_out),
        cmocka_unit_test(derived_columns_have_names_that_say_how),
        cmocka_unit_test(columns_of_a_state_are_found_in_any_order),
        cmocka_unit_test(columns_that_a_state_does_not_know_are_refused),
        cmocka_unit_test(the_key_and_the_time_are_those_of_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* front/advice: every remedy, for the user of a shell and for a client of the service. */
#include "front/advice/advice.h"
#include "front_fixture.h"

static advice advice_about(unsigned topic, const advice_words *words)
{
    advice given;
    const complaint_reason *reason = advice_on(&given, topic, words);
    assert_ptr_equal(reason->shell, given.shell);
    assert_ptr_equal(reason->service, given.service);
    return given;
}

/* With nothing filled in. */
static advice bare_advice(unsigned topic)
{
    names_text none = {.count = 0};
    return advice_about(topic, &(advice_words){.command = "", .names = &none, .count = ""});
}

static size_t count_words(const char *text)
{
    size_t count = 0;
    for (char before = ' '; *text; before = *text++)
        count += before == ' ' && !strchr(" ;:,", *text);
    return count;
}

static void assert_for_service(unsigned topic, const char *text)
{
    static const char *const of_shell[] = {"|", "oif score", "--", "FILE", "{", "}"};
    for (size_t i = 0; i < sizeof of_shell / sizeof *of_shell; i++)
        if (strstr(text, of_shell[i]))
            fail_msg("topic %d: '%s' in '%s'", topic, of_shell[i], text);
    if (count_words(text) > 20)
        fail_msg("topic %d: more than 20 words: %s", topic, text);
    if (*text && text[strlen(text) - 1] != '.')
        fail_msg("topic %d: not a sentence: %s", topic, text);
}

static void no_remedy_of_a_cause_sends_a_client_to_a_shell(void **state)
{
    (void)state;
    size_t count = 0;
    for (unsigned cause = 0; cause < ADVICE_OTHER_FORMAT; cause++) {
        const advice given = bare_advice(cause);
        assert_for_service(cause, given.service);
        assert_true(count_words(given.shell) <= 20);
        count += given.service[0] != '\0';
    }
    assert_int_equal(count, 9);
}

static void every_topic_has_both_remedies(void **state)
{
    (void)state;
    for (unsigned topic = ADVICE_OTHER_FORMAT; topic < ADVICE_END; topic++) {
        const advice given = bare_advice(topic);
        assert_for_service(topic, given.service);
        if (!given.shell[0] || !given.service[0])
            fail_msg("topic %d: '%s', '%s'", topic, given.shell, given.service);
        if (count_words(given.shell) > 20)
            fail_msg("topic %d: more than 20 words: %s", topic, given.shell);
    }
}

static void remedies_name_columns_and_files(void **state)
{
    (void)state;
    names_text names = {.count = 0};
    names_text_add(&names, "a b");
    names_text_add(&names, "c");
    const advice_words words = {"rows.csv", "tool FILE < FILE", &names, "3 of 4 rows"};
    assert_string_equal(advice_about(ADVICE_TEXT_LATE, &words).shell,
                        "; --exclude 'a b,c' leaves it out");
    assert_string_equal(advice_about(ADVICE_RISING_EVENLY, &words).service,
                        "Leave a b, c out with the setting \"exclude\".");
    assert_string_equal(advice_about(ADVICE_LONE_RETURNS, &words).shell,
                        "; convert it: tool rows.csv < rows.csv | oif score");
    assert_has(advice_about(ADVICE_TIMES_MIXED, &words).service, "in 3 of 4 rows");
}

static void a_file_whose_name_needs_quotes_is_not_named(void **state)
{
    (void)state;
    static const char *const names[] = {"a b", "-", "", "rows.csv.gz", "$(x)", NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(
            advice_about(OIF_CAUSE_NUL_BYTES, &(advice_words){names[i], "tr < FILE", NULL, NULL})
                .shell,
            "; convert it: tr < FILE | oif score");
}

static void remedies_follow_each_other(void **state)
{
    (void)state;
    advice given = {.shell = ""};
    advice_add(&given, ADVICE_HEADER, NULL);
    assert_false(advice_reason(&given, OIF_CAUSE_COMMENT)->is_conversion);
    advice_add(&given, OIF_CAUSE_COMMENT, NULL);
    assert_int_equal(advice_reason(&given, OIF_CAUSE_COMMENT)->cause, OIF_CAUSE_COMMENT);
    assert_string_equal(given.shell,
                        ": if it is a header, add --csv header=yes with --csv comment=#");
    assert_string_equal(given.service, "If it is a header, set \"csv\" to \"header=yes\". "
                                       "Set \"csv\" to \"comment=#\".");
}

static void a_message_about_columns_has_the_remedy_of_its_reader(void **state)
{
    (void)state;
    static const char text[] = "note,load\nup,1\ndown,2\n";
    memory_rows rows = {.memory = {.pieces = {{text, sizeof text - 1}}}};
    set_options(&rows, NO_OPTIONS);
    messages_capture_for_service();
    assert_int_equal(
        input_open_memory(&rows.input, &rows.settings, NULL, &rows.bad, "body", &rows.memory),
        EXIT_OK);
    assert_int_equal(input_choose_columns(&rows.input, &rows.settings, LABEL_IGNORED, NULL,
                                          (first_rows_wait){NULL, NULL}),
                     EXIT_OK);
    take_messages();
    assert_string_equal(noted, "body: text in note ('up'): left out. Settings that use it are "
                               "\"category\", \"key\", \"time\" and \"label\".\n");
    close_rows(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_remedy_of_a_cause_sends_a_client_to_a_shell),
        cmocka_unit_test(every_topic_has_both_remedies),
        cmocka_unit_test(remedies_name_columns_and_files),
        cmocka_unit_test(a_file_whose_name_needs_quotes_is_not_named),
        cmocka_unit_test(remedies_follow_each_other),
        cmocka_unit_test(a_message_about_columns_has_the_remedy_of_its_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

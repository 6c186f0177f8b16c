/* Any text as rules. The first byte chooses the time of the questions. Rejected text has a place;
 * accepted rules are the same when their own texts are read again, and answer every question. */
#include "fuzz_input.h"

#include "pipeline/rules/rules.h"

/* The texts of the rules, one per line. */
static char *text_of(const oif_rules *rules, size_t *bytes)
{
    char *text = malloc(rules->count * OIF_RULE_TEXT_BYTES);
    require(text);
    *bytes = 0;
    for (size_t i = 0; i < rules->count; i++) {
        memcpy(text + *bytes, rules->list[i].text, rules->list[i].text_bytes);
        *bytes += rules->list[i].text_bytes;
        text[(*bytes)++] = '\n';
    }
    return text;
}

static void ask(const oif_rules *rules, const oif_rules *again, double seconds)
{
    static const char *const words[] = {"", "latency", "db-1", "a,b"};
    for (size_t i = 0; i < 4 * 11; i++) {
        const char *word = words[i % 4];
        const oif_rule_question asked = {.column = {word, strlen(word)},
                                         .key = {words[i / 11], strlen(words[i / 11])},
                                         .reason = (oif_reason)(i % 11),
                                         .direction = (int)(i % 3) - 1,
                                         .change = i % 5 == 0 ? NAN : (double)i,
                                         .change_share = i % 5 == 0 ? NAN : (double)i / 10,
                                         .seconds = seconds};
        const uint32_t mute = oif_rules_mute(rules, &asked);
        require(mute <= rules->count && oif_rules_mute(again, &asked) == mute);
        const uint32_t ignore = oif_rules_ignore(rules, asked.key, seconds);
        require(ignore <= rules->count && oif_rules_ignore(again, asked.key, seconds) == ignore);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double times[] = {NAN,   0,    1794769501, -62135596800.0, 253402300799.0,
                                   1e300, -1e9, -1e300};
    oif_rules *rules = NULL, *again = NULL;
    oif_error error = {.message = ""};
    size_t bytes;
    if (size == 0)
        return 0;
    char *copy = malloc(size); /* so a sanitizer sees reads past its end */
    require(copy);
    memcpy(copy, data + 1, size - 1);
    oif_status status = oif_rules_new(copy, size - 1, NULL, NULL, &rules, &error);
    free(copy);
    if (status != OIF_OK) {
        require(status == OIF_EPARAM && error.cause == OIF_CAUSE_BAD_RULE && error.message[0]);
        require(!rules);
        return 0;
    }
    if (!rules)
        return 0;
    char *text = text_of(rules, &bytes);
    require(oif_rules_new(text, bytes, NULL, rules, &again, &error) == OIF_OK);
    require(again->count == rules->count && again->ignoring == rules->ignoring);
    for (size_t i = 0; i < rules->count; i++)
        require(strcmp(rules->list[i].text, again->list[i].text) == 0);
    ask(rules, again, times[data[0] % 8]);
    free(text);
    oif_rules_free(rules);
    oif_rules_free(again);
    return 0;
}

/* sadf -d. Its header begins with "# ", which is removed, and it comes again for another table:
 *
 *     # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
 *     web-1;600;2026-11-18 02:57:29 UTC;-1;36.32;52.74;10.95;0.00;0.00;0.00
 *     web-1;-1;2026-11-18 03:10:00 UTC;LINUX-RESTART (2 CPU) */
#include "formats.h"
#include "repeated_table.h"

static const char beginning[] = "# hostname;interval;timestamp;";

static bool recognise(const char *text, size_t bytes)
{
    return text_begins((oif_text){text, bytes}, beginning);
}

/* The fourth column, unless it is a number such as proc/s. */
static void imply_roles(translator *by, oif_text header)
{
    static const char *const names[] = {"CPU", "IFACE", "DEV", "FILESYSTEM", "INTR",
                                        "TTY", "FAN",   "BUS", "DEVICE",     "FCHOST"};
    const char *rest = header.text + sizeof beginning - 1, *end = header.text + header.bytes;
    const char *semicolon = memchr(rest, ';', (size_t)(end - rest));
    oif_text fourth = {rest, (size_t)((semicolon ? semicolon : end) - rest)};
    implied_roles *implied = &by->implied;
    *implied = (implied_roles){"hostname", "timestamp", "interval"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(fourth, names[i]))
            snprintf(implied->key, sizeof implied->key, "hostname,%s", names[i]);
}

static void take_header(translator *by, oif_text line)
{
    repeated_table *table = by->state;
    if (!table_take_header(table, by, &line, 1))
        return;
    if (table->is_other)
        translator_note(by, "another table begins here and is left out; sadf -d FILE -- with one "
                            "option, such as -u or -n DEV, prints one table");
    if (!table->is_first)
        return;
    imply_roles(by, line);
    translator_begin_row(by, by->line);
    output_write(line.text + 2, line.bytes - 2);
    translator_end_row(by);
}

static void take_line(translator *by, oif_text line)
{
    const repeated_table *table = by->state;
    if (text_begins(line, beginning)) {
        take_header(by, line);
        return;
    }
    if (table->is_other || line.bytes == 0 || text_has(line, ";LINUX-RESTART"))
        return;
    translator_begin_row(by, by->line);
    output_write(line.text, line.bytes);
    translator_end_row(by);
}

const translation format_sadf = {.word = "sadf",
                                 .what = "sadf -d",
                                 .writes = OIF_FORMAT_CSV,
                                 .delimiter = ';',
                                 .state_bytes = sizeof(repeated_table),
                                 .recognise = recognise,
                                 .line = take_line};

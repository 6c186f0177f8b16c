#include "sample_names.h"

#include "front/text/quoting.h"

static bool is_ascii(char byte)
{
    return !(byte & 0x80);
}

char sample_name_byte(char byte)
{
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || byte == ':' || !is_ascii(byte);
    return is_plain ? byte : '_';
}

/* Adds the character at `at`, which is not ASCII. Returns its bytes. */
static size_t add_character(text_buffer *room, const char *at, const char *end)
{
    size_t invalid_bytes;
    const size_t bytes = quoting_character_bytes(at, end, &invalid_bytes);
    if (bytes == 0)
        text_buffer_add(room, "\xEF\xBF\xBD", SAMPLE_NAME_GROWTH);
    else
        text_buffer_add(room, at, bytes);
    return bytes > 0 ? bytes : invalid_bytes;
}

void sample_name_add(text_buffer *room, oif_text name)
{
    const char *end = name.text + name.bytes;
    if (!text_buffer_reserve(room, SAMPLE_NAME_GROWTH * name.bytes))
        return;
    for (const char *at = name.text; at < end;) {
        if (is_ascii(*at))
            room->bytes[room->count++] = sample_name_byte(*at++);
        else
            at += add_character(room, at, end);
    }
}

void sample_value_add(text_buffer *room, oif_text value)
{
    const char *end = value.text + value.bytes;
    for (const char *at = value.text; at < end;) {
        if (is_ascii(*at)) {
            text_buffer_add_byte(room, *at ? *at : ' ');
            at++;
        } else {
            at += add_character(room, at, end);
        }
    }
}

static void add_escaped(text_buffer *room, char byte)
{
    if (byte == '"' || byte == '\\' || byte == '\n')
        text_buffer_add_byte(room, '\\');
    text_buffer_add_byte(room, byte == '\n' ? 'n' : byte);
}

void sample_value_add_escaped(text_buffer *room, oif_text value)
{
    const char *end = value.text + value.bytes;
    for (const char *at = value.text; at < end;) {
        if (is_ascii(*at))
            add_escaped(room, *at++);
        else
            at += add_character(room, at, end);
    }
}

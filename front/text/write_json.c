#include "write_json.h"

#include "output.h"
#include "quoting.h"

static void begin_member(const char *name)
{
    output_write(",", 1);
    quoting_write_json(name, strlen(name));
    output_write(":", 1);
}

void write_json_member(const char *name, double value)
{
    begin_member(name);
    output_json_number(value);
}

void write_json_string(const char *name, const char *text)
{
    begin_member(name);
    quoting_write_json(text, strlen(text));
}

void write_json_text(const char *name, const char *text)
{
    begin_member(name);
    write_json_key(text && *text, text, text ? strlen(text) : 0);
}

void write_json_key(bool has_key, const char *key, size_t key_bytes)
{
    if (has_key)
        quoting_write_json(key, key_bytes);
    else
        output_text("null");
}

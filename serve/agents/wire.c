#include "wire.h"

#include <string.h>

wire_message wire_open(oif_text bytes)
{
    const unsigned char *begin = (const unsigned char *)bytes.text;
    return (wire_message){.at = begin, .end = begin + bytes.bytes};
}

static bool take_varint(wire_message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && message->at < message->end; shift += 7) {
        const unsigned char byte = *message->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return shift < 63 || byte <= 1; /* the tenth byte has one bit of the 64 */
    }
    return false;
}

static bool take_fixed(wire_message *message, size_t bytes, uint64_t *value)
{
    if ((size_t)(message->end - message->at) < bytes)
        return false;
    *value = 0;
    for (size_t i = bytes; i-- > 0;)
        *value = *value << 8 | message->at[i];
    message->at += bytes;
    return true;
}

static bool take_bytes(wire_message *message, oif_text *bytes)
{
    uint64_t count;
    if (!take_varint(message, &count) || count > (uint64_t)(message->end - message->at))
        return false;
    *bytes = (oif_text){(const char *)message->at, (size_t)count};
    message->at += count;
    return true;
}

static bool take_value(wire_message *message, wire_field *field)
{
    switch (field->type) {
    case WIRE_VARINT: return take_varint(message, &field->value);
    case WIRE_64: return take_fixed(message, 8, &field->value);
    case WIRE_32: return take_fixed(message, 4, &field->value);
    case WIRE_BYTES: return take_bytes(message, &field->bytes);
    default: return false; /* groups, which no one writes any more */
    }
}

bool wire_next(wire_message *message, wire_field *field)
{
    uint64_t tag;
    if (message->at == message->end || message->is_bad)
        return false;
    *field = (wire_field){.number = 0};
    message->is_bad = !take_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 >= 1u << 29;
    if (message->is_bad)
        return false;
    field->number = (uint32_t)(tag >> 3);
    field->type = (wire_type)(tag & 7);
    message->is_bad = !take_value(message, field);
    return !message->is_bad;
}

bool wire_is(const wire_field *field, uint32_t number, wire_type type)
{
    return field->number == number && field->type == type;
}

double wire_double(const wire_field *field)
{
    double number;
    memcpy(&number, &field->value, sizeof number);
    return number;
}

int64_t wire_signed(const wire_field *field)
{
    int64_t number;
    memcpy(&number, &field->value, sizeof number);
    return number;
}

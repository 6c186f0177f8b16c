/* Any bytes as text of other programs. The first byte chooses the format and the options; the rest
 * is the input. Its rows must be the same at once and in pieces. */
#include "fuzz_input.h"

#include "front/formats/formats.h"
#include "front/text/output.h"

static const translation *choose(uint8_t choice)
{
    const translation *format = formats_asked(3 + choice % 8);
    return format ? format : &format_pivot;
}

static translator_options options_of(uint8_t choice)
{
    return (translator_options){
        .key = choice & 64 ? "host" : NULL,
        .pivot = "metric:value",
        .every = choice & 128 ? 3600 : 0,
        .reader = {.format = choice & 32 ? OIF_FORMAT_NDJSON : OIF_FORMAT_CSV}};
}

static uint64_t mix(uint64_t sum, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return sum;
}

/* The checksum of everything that is read, in pieces of `capacity` bytes; the first `held` bytes of
 * the input come alone. */
static uint64_t read_all(const uint8_t *data, size_t size, uint8_t choice, size_t capacity,
                         size_t held)
{
    byte_memory memory = {.pieces = {{(const char *)data, size}}};
    byte_source source;
    char buffer[4096];
    ptrdiff_t count;
    const translator_options options = options_of(choice);
    byte_source_open_memory(&source, "fuzz", &memory, &(file_start){.delimiter = ','});
    translator *by = translator_new(choose(choice), &options);
    require(by);
    if (held > 0)
        byte_source_hold_more(&source, held);
    byte_source_set_filter(&source, &by->filter);
    uint64_t sum = 0xcbf29ce484222325u;
    while ((count = byte_source_read(&source, buffer, capacity)) > 0)
        sum = mix(sum, buffer, (size_t)count);
    require(count == 0 || source.problem);
    if (source.problem)
        sum = mix(sum, source.problem, strlen(source.problem));
    byte_source_close(&source);
    return sum;
}

static void recognise(const uint8_t *data, size_t size)
{
    byte_memory memory = {.pieces = {{(const char *)data, size}}};
    byte_source source;
    byte_source_open_memory(&source, "fuzz", &memory, &(file_start){.delimiter = ','});
    (void)formats_recognise(&source);
    byte_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    messages_capture();
    const uint64_t sum = read_all(data + 1, size - 1, data[0], 4096, 0);
    require(read_all(data + 1, size - 1, data[0], 7, size / 2) == sum);
    recognise(data + 1, size - 1);
    complaint first;
    free(messages_captured(&first));
    return 0;
}

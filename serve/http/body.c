#include "body.h"

#include "unsnappy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIRST_BYTES = 1 << 12 };

static const char send_as[] = "Send it as gzip, zstd or uncompressed.";

static bool refuse_size(const body *taken, problem *why)
{
    return problem_set(why, 413, "Send smaller batches, or raise max-body in the configuration.",
                       "the body has more than %zu bytes%s", taken->limit,
                       taken->opened || taken->is_snappy ? " decompressed" : "");
}

static bool choose_decompressor(body *taken, const char *encoding, problem *why)
{
    if (!encoding || !*encoding || strcasecmp(encoding, "identity") == 0)
        return true;
    taken->is_snappy = strcasecmp(encoding, "snappy") == 0;
    if (taken->is_snappy)
        return unsnappy_exists() ||
               problem_set(why, 415, send_as,
                           "this server was built without snappy, which Prometheus remote write "
                           "needs");
    if (strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "x-gzip") == 0)
        taken->kind = COMPRESSION_GZIP;
    else if (strcasecmp(encoding, "zstd") == 0)
        taken->kind = COMPRESSION_ZSTD;
    if (taken->kind == COMPRESSION_NONE || !decompressor_exists(taken->kind))
        return problem_set(why, 415, send_as, "this server does not know this Content-Encoding");
    taken->opened = decompressor_new(taken->kind);
    if (!taken->opened)
        return problem_set(why, 503, NULL, "out of memory");
    decompressor_limit_window(taken->opened);
    return true;
}

bool body_begin(body *taken, const request *asked, size_t limit, body_budget *budget, problem *why)
{
    memset(taken, 0, sizeof *taken);
    taken->limit = limit;
    taken->budget = budget;
    const char *length = asked->headers[HEADER_CONTENT_LENGTH];
    if (length && strtoull(length, NULL, 10) > limit)
        return refuse_size(taken, why);
    return choose_decompressor(taken, asked->headers[HEADER_CONTENT_ENCODING], why);
}

/* Takes from the budget of all bodies. False, with the budget unchanged, if it is used up. */
static bool take_budget(body *taken, size_t bytes, problem *why)
{
    size_t used = atomic_fetch_add(&taken->budget->used_bytes, bytes) + bytes;
    if (used <= taken->budget->limit_bytes)
        return true;
    atomic_fetch_sub(&taken->budget->used_bytes, bytes);
    return problem_set(why, 503, "Send it again later, or in smaller batches.",
                       "the bodies of all requests together are too large");
}

static bool reserve(body *taken, size_t more, problem *why)
{
    size_t wanted = taken->count + more, capacity = taken->capacity ? taken->capacity : FIRST_BYTES;
    if (wanted <= taken->capacity)
        return true;
    if (wanted > taken->limit)
        return refuse_size(taken, why);
    while (capacity < wanted)
        capacity *= 2;
    capacity = capacity > taken->limit ? taken->limit : capacity;
    size_t added = capacity - taken->capacity;
    if (!take_budget(taken, added, why))
        return false;
    char *larger = realloc(taken->bytes, capacity);
    if (!larger) {
        atomic_fetch_sub(&taken->budget->used_bytes, added);
        return problem_set(why, 503, NULL, "out of memory");
    }
    taken->bytes = larger;
    taken->capacity = capacity;
    return true;
}

static bool decompress(body *taken, const char *bytes, size_t count, problem *why)
{
    for (;;) {
        size_t given = 0;
        char one_more = '\0';
        bool is_full = taken->count == taken->limit;
        if (!is_full && taken->count == taken->capacity && !reserve(taken, 1, why))
            return false;
        /* a full body may be followed by the end of the compressed data, but by no further byte */
        char *room = is_full ? &one_more : taken->bytes + taken->count;
        size_t room_bytes = is_full ? 1 : taken->capacity - taken->count;
        const char *wrong =
            decompressor_run(taken->opened, &bytes, &count, room, room_bytes, &given);
        if (wrong)
            return problem_set(why, 400, NULL, "the body is not valid %s: %s",
                               compression_name(taken->kind), wrong);
        if (is_full && given > 0)
            return refuse_size(taken, why);
        taken->count += given;
        if (given < room_bytes)
            return true;
    }
}

bool body_add(body *taken, const char *bytes, size_t count, problem *why)
{
    if (count == 0)
        return true;
    taken->arrived_bytes += count;
    if (taken->opened)
        return decompress(taken, bytes, count, why);
    if (!reserve(taken, count, why))
        return false;
    memcpy(taken->bytes + taken->count, bytes, count);
    taken->count += count;
    return true;
}

static bool end_snappy(body *taken, problem *why)
{
    size_t size;
    if (!unsnappy_size(taken->bytes, taken->count, &size))
        return problem_set(why, 400, NULL, "the body is not valid snappy data");
    if (size > taken->limit)
        return refuse_size(taken, why);
    if (!take_budget(taken, size, why))
        return false;
    char *plain = malloc(size + 1);
    const bool is_good = plain && unsnappy_run(taken->bytes, taken->count, plain, size);
    const bool has_memory = plain != NULL;
    if (!is_good) {
        free(plain);
        atomic_fetch_sub(&taken->budget->used_bytes, size);
        return has_memory ? problem_set(why, 400, NULL, "the body is not valid snappy data")
                          : problem_set(why, 503, NULL, "out of memory");
    }
    atomic_fetch_sub(&taken->budget->used_bytes, taken->capacity);
    free(taken->bytes);
    taken->bytes = plain;
    taken->count = taken->capacity = size;
    return true;
}

/* What was not decompressed must not be compressed. */
static bool check_plain(const body *taken, problem *why)
{
    bool is_undecided;
    compression kind = compression_of(taken->bytes, taken->count, &is_undecided);
    if (kind == COMPRESSION_NONE)
        return true;
    if (!decompressor_exists(kind))
        return problem_set(why, 415, send_as, "the body is %s, which this server cannot read",
                           compression_name(kind));
    problem_set(why, 415, NULL, "the body is %s, but its Content-Encoding does not say so",
                compression_name(kind));
    snprintf(why->remedy, sizeof why->remedy, "Send the header Content-Encoding: %s.",
             compression_name(kind));
    return false;
}

bool body_end(body *taken, problem *why)
{
    if (taken->is_snappy && taken->count > 0)
        return end_snappy(taken, why);
    if (!taken->opened && taken->count > 0)
        return check_plain(taken, why);
    if (taken->opened && taken->arrived_bytes > 0 && !decompressor_may_end(taken->opened))
        return problem_set(why, 400, NULL, "the %s data of the body is cut off",
                           compression_name(taken->kind));
    return true;
}

void body_free(body *taken)
{
    if (taken->budget)
        atomic_fetch_sub(&taken->budget->used_bytes, taken->capacity);
    free(taken->bytes);
    decompressor_free(taken->opened);
    memset(taken, 0, sizeof *taken);
}

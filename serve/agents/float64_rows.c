#include "float64_rows.h"

#include "front/text/output.h"

static double number_at(const char *bytes)
{
    uint64_t bits = 0;
    double number;
    for (size_t i = 8; i-- > 0;)
        bits = bits << 8 | (unsigned char)bytes[i];
    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool write_row(const char *bytes, size_t columns, problem *why)
{
    for (size_t i = 0; i < columns; i++) {
        double number = number_at(bytes + sizeof(double) * i);
        if (isinf(number)) {
            why->column = i + 1;
            return false;
        }
        output_print("%s\"x%zu\":", i == 0 ? "{" : ",", i);
        output_json_number(number);
    }
    output_text("}\n");
    return true;
}

bool float64_rows_write(oif_text body, size_t columns, problem *why)
{
    const size_t row_bytes = columns * sizeof(double);
    if (columns > body.bytes || body.bytes % row_bytes != 0)
        return problem_set(why, 400, "Send whole rows of float64 numbers.",
                           "%zu bytes are not rows of %zu numbers with 8 bytes each", body.bytes,
                           columns);
    for (size_t row = 0; row < body.bytes / row_bytes; row++) {
        if (write_row(body.text + row * row_bytes, columns, why))
            continue;
        uint64_t column = why->column;
        problem_set(why, 400, "Make it a finite number, or NaN if it is missing.",
                    "a number is infinite");
        why->cause = OIF_CAUSE_INFINITE_VALUE;
        why->line = row + 1;
        why->column = column;
        return false;
    }
    return true;
}

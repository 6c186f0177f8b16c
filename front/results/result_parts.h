/* What result_reasons.c and result_values.c share: pieces of the fields that result_fields.h
 * describes. Each returns false once stdout is closed or has failed. */
#ifndef OIF_FRONT_RESULT_PARTS_H
#define OIF_FRONT_RESULT_PARTS_H

#include "result_fields.h"

/* A number with as many digits as --digits asks for; `absent` where there is none. */
double result_number_shorten(const result_fields *fields, double number);
bool result_number_write(const result_fields *fields, double number, const char *absent);

/* Why the row is an anomaly: "bytes high 71%; port low 20%", or an array of objects. */
bool result_reasons_write_csv(const row_verdict *verdict, char delimiter);
bool result_reasons_write_json(const row_verdict *verdict);

/* What was expected of the column of the first reason: "latency 840, expected 90 to 140", or "". */
void result_expected_sentence(const row_verdict *verdict, char text[FIELD_TEXT_BYTES]);

#endif

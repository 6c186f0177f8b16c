/* Names and values of agents, as they are written: bytes that are not UTF-8 become U+FFFD. Columns
 * and keys are compared in this form, so a row never has a column twice. */
#ifndef OIF_SERVE_SAMPLE_NAMES_H
#define OIF_SERVE_SAMPLE_NAMES_H

#include "text_buffer.h"

/* The most bytes that a byte becomes. */
enum { SAMPLE_NAME_GROWTH = 3 };

/* As Prometheus does it: what is not a letter, a digit, a colon or an underscore becomes one. */
char sample_name_byte(char byte);
void sample_name_add(text_buffer *room, oif_text name);

/* Of a key: it cannot hold a NUL, which becomes a blank. */
void sample_value_add(text_buffer *room, oif_text value);

/* Of a label, with the escapes that Prometheus has, without quotes. */
void sample_value_add_escaped(text_buffer *room, oif_text value);

#endif

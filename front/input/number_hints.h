/* Texts that people read as numbers. They are not numbers for oif, but the note about their column
 * can say how to write them. */
#ifndef OIF_FRONT_NUMBER_HINTS_H
#define OIF_FRONT_NUMBER_HINTS_H

#include "oif_rows.h"

/* $1,234.50, 12.5 % or 3 GiB: a number with a sign before it or a unit after it. Not 192.168.1.1,
 * 4xx or 16.11.26. */
bool number_hints_is_marked(oif_text text);

#endif

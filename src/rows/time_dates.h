/* Dates as people and programs write them, beside those of ISO 8601 and logs. */
#ifndef OIF_ROWS_TIME_DATES_H
#define OIF_ROWS_TIME_DATES_H

#include "rows/time_tokens.h"

/* 1/31/2026 1:05 PM, 31-01-2026, 31.1.26, 2026/1/31. Where the year is last, the first number is
 * in t->day and the second in t->month, whichever they are, and t->order is what they show. */
bool oif_time_is_slashed(oif_cursor c, oif_civil_time *t);

/* 31-Jan-2026, Jan 31, 2026 1:05 PM, Sat, 31 Jan 2026 13:05:06 +0100 (RFC 2822), and as ctime and
 * date print it: Sat Jan 31 13:05:06 2026. */
bool oif_time_is_named(oif_cursor c, oif_civil_time *t);

/* 20260131, 202601311305, 20260131130506, 20260131130506250, 20260131 130506, from 1900 to 2199. */
bool oif_time_is_compact(oif_cursor c, oif_civil_time *t);

/* A text by a pattern that oif_time_check_pattern accepts. *epoch_seconds is NaN unless the pattern
 * has %s. */
bool oif_time_fits_pattern(oif_cursor c, const char *pattern, oif_civil_time *t,
                           double *epoch_seconds);

/* ---- Parts that dates and patterns share ---- */

/* 1 to `most` digits. */
bool oif_time_parse_number(oif_cursor *c, int most, int *value);

/* January, Jan or Sept, in any case; Saturday or Sat. */
bool oif_time_parse_month_name(oif_cursor *c, int *month);
bool oif_time_parse_weekday(oif_cursor *c);

/* AM, PM, a.m. or p.m.: 12 hours more or less. False where the hour is not 1 to 12. */
bool oif_time_parse_half_day(oif_cursor *c, bool *is_afternoon);
bool oif_time_apply_half_day(oif_civil_time *t, bool is_afternoon);

/* As oif_parse_zone, and EST, PDT, ... as RFC 2822 defines them, and a comment: +0100 (CET). */
bool oif_time_parse_named_zone(oif_cursor *c, oif_civil_time *t);

/* Years of two digits are 1969 to 2068, as in POSIX. */
int oif_time_full_year(int two_digits);

#endif

/* What to do about what a message reports, in one table by topic. Each remedy has two forms. The
 * user of a shell has options and commands:
 *
 *     rows.csv:3:2: this row has 1 field, the first line has 2; --on-bad-row skip leaves such rows
 *     out
 *
 * A client of the service has the settings of its stream, and the body that it sends:
 *
 *     "message": "body:3:2: this row has 1 field, the first line has 2"
 *     "remedy":  "Set \"on-bad-row\" to \"skip\" to leave such rows out."
 *
 * The program that shows a message chooses: see messages_capture_for_service. */
#ifndef OIF_FRONT_ADVICE_H
#define OIF_FRONT_ADVICE_H

#include "front/text/name_list.h"
#include "front/text/output.h"

/* The topics are the causes of errors, by their numbers, and these. */
typedef enum advice_topic {
    ADVICE_OTHER_FORMAT = 1000, /* a file of another program */
    ADVICE_ZIPPED_TEXT,         /* the same, and it may be rows in an archive */
    ADVICE_JSON_LAYOUT,         /* JSON that does not have one object per line */
    ADVICE_LONE_RETURNS,        /* lines end with CR */
    ADVICE_NO_FIRST_ROW,        /* no line is a header or a row */
    ADVICE_ALL_BAD,             /* all lines are bad and were skipped */
    ADVICE_BLANKS,              /* columns may be separated by blanks */
    ADVICE_EXCLUDE,             /* text where a number must be */
    ADVICE_EXCLUDE_REPEATED,    /* the same, and another column has the same name */
    ADVICE_HEADER,              /* the first row may be a header */
    ADVICE_COMMENTS,            /* some rows begin with # */
    ADVICE_TIME_TAKEN,          /* a column was taken for the time */
    ADVICE_TIMES_BACKWARD,      /* the newest row comes first */
    ADVICE_TIMES_MIXED,         /* many times go backwards */
    ADVICE_TIMES_REPEATED,      /* too often for rates */
    ADVICE_TIMES_OF_DAY,        /* are missing; there are only dates */
    ADVICE_KEY,                 /* the rows are of several streams, and a column says which */
    ADVICE_LABEL_TAKEN,         /* a column was taken for known labels */
    ADVICE_TEXT_LEFT_OUT,       /* columns of text are not learned */
    ADVICE_TEXT_LATE,           /* text in a column that was empty at first */
    ADVICE_TEXT_IS_ALL,         /* there are no other columns */
    ADVICE_TEXT_STRICT,         /* --strict does not leave them out */
    ADVICE_TIME_STRICT,         /* nor does it take one for the time */
    ADVICE_TEXT_LEARNED,        /* text where numbers were learned */
    ADVICE_TIME_PAIR,           /* two columns were taken for the time */
    ADVICE_DAY_ORDER,           /* 01/02/2026 was read in one order of two */
    ADVICE_MARK,                /* a value looks like a mark for missing ones */
    ADVICE_INDEX,               /* row numbers are not learned */
    ADVICE_CALENDAR,            /* parts of the date are not learned */
    ADVICE_RISING_TIME,         /* a column that only ever rises may be the time, */
    ADVICE_RISING_EVENLY,       /* a number of rows, */
    ADVICE_RISING_COUNTER,      /* or a counter */
    ADVICE_FIELD_ADDED,         /* by an earlier run; one is not learned */
    ADVICE_FIELDS_ADDED,        /* the same for several */
    ADVICE_FIELD_THERE,         /* rows have a field that is added here */
    ADVICE_NEW_COLUMN,          /* is not learned */
    ADVICE_END
} advice_topic;

/* What a remedy names. */
typedef struct advice_words {
    const char *file;    /* of the input; NULL: unknown */
    const char *command; /* for a shell; FILE in it is the file */
    names_text *names;   /* of columns */
    const char *count;   /* "12 of 50 rows" */
} advice_words;

/* Remedies, one after the other; a zeroed one has none. */
enum { ADVICE_SHELL_BYTES = 4096, ADVICE_SERVICE_BYTES = 2048 };
typedef struct advice {
    char shell[ADVICE_SHELL_BYTES];     /* "; ...": ends a message */
    char service[ADVICE_SERVICE_BYTES]; /* whole sentences */
    complaint_reason reason;
} advice;

/* Adds the remedy for a topic, if it has one. `words` is NULL if the remedy names nothing. */
void advice_add(advice *to, unsigned topic, const advice_words *words);

/* For complain_because and note_because. A command in `words` converts the input. */
const complaint_reason *advice_reason(advice *given, oif_cause cause);

/* Both for a single topic. */
const complaint_reason *advice_on(advice *room, unsigned topic, const advice_words *words);

#endif

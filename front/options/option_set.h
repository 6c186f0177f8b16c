/* One option set by its name, for command lines and JSON alike. What is wrong is returned as data,
 * which the command line and the service put into their own words. */
#ifndef OIF_FRONT_OPTION_SET_H
#define OIF_FRONT_OPTION_SET_H

#include "options.h"

typedef enum option_fault {
    OPTION_UNKNOWN,          /* `other` is the name that was probably meant, or "" */
    OPTION_OF_OTHERS,        /* of the detector `other`, not of the chosen one, the value */
    OPTION_NEEDS_VALUE,      /* which was left out */
    OPTION_TAKES_NO_VALUE,   /* but has one */
    OPTION_HAS_BAD_VALUE,    /* and not what is `expected` */
    OPTION_VALUE_IS_REFUSED, /* by the library, whose message is in `expected` */
    OPTION_UNKNOWN_DETECTOR, /* which is the value; `other` was probably meant, or is "" */
    OPTION_LACKS_MEMORY      /* for its value */
} option_fault;

enum { EXPECTED_BYTES = OIF_ERROR_MESSAGE_BYTES };

typedef struct option_problem {
    option_fault fault;
    oif_cause cause;            /* of the library's error; OIF_CAUSE_NONE for others */
    char name[FLAG_NAME_BYTES]; /* of the option, without dashes; cut if too long */
    char value[EXPECTED_BYTES]; /* as given, cut if too long; "": left out */
    char expected[EXPECTED_BYTES];
    char other[FLAG_NAME_BYTES];
} option_problem;

/* Sets a problem of the option and returns false. The value and `expected` may be NULL. */
bool option_refuse(option_problem *why, option_fault fault, const char *name, const char *value,
                   const char *expected);

/* Settings of which none is given. The detector decides which options there are; names are "a",
 * or "a,b,c" where the command takes several. There is nothing to close. */
bool settings_start(const command_entry *command, const char *detectors, run_settings *settings,
                    option_problem *why);

/* A detector by its name, with initial parameters. */
bool params_find(oif_params *params, const char *name, size_t name_bytes, option_problem *why);

/* The line of an option in the table of its command; NULL: it is a parameter, or there is none. */
const option_entry *option_find(const command_entry *command, const char *name);

/* Whether its value may be left out. */
bool option_may_lack_value(const option_entry *option);

/* Sets an option. Its value is NULL if it was left out; the settings may point into it. */
bool option_set(const command_entry *command, run_settings *settings, const char *name,
                const char *value, option_problem *why);

/* The same for true and false. Options whose words are on and off get these; for others false is as
 * if they were not given. */
bool option_switch(const command_entry *command, run_settings *settings, const char *name,
                   bool is_on, option_problem *why);

/* Refuses a name that no option has. */
bool option_refuse_unknown(const command_entry *command, const run_settings *settings,
                           const char *name, option_problem *why);

#endif

/* The groups in which help and manual pages show options. */
#ifndef OIF_FRONT_OPTION_GROUPS_H
#define OIF_FRONT_OPTION_GROUPS_H

/* In the order of help. */
typedef enum option_group {
    GROUP_NONE, /* a mistake: no help would show the option, and a test fails */
    GROUP_INPUT,
    GROUP_COLUMNS,
    GROUP_ALERTS,
    GROUP_OUTPUT,
    GROUP_STATE,
    GROUP_KEYS,
    GROUP_DETECTOR,
    GROUP_PARAMS, /* of the detector */
    GROUP_STREAM, /* that oif demo makes */
    GROUP_SERVICE,
    GROUP_ACCESS,
    GROUP_LIMITS,
    GROUP_MONITORING,
    GROUP_HELP,
    GROUP_COUNT
} option_group;

/* "Input": the heading, without a colon. */
const char *option_group_title(option_group group);

#endif

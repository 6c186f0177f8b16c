/* Checks of invariants. Each is stated as a sentence; the first one broken is reported. */
#ifndef OIF_BASE_INVARIANT_H
#define OIF_BASE_INVARIANT_H

#include "base/error.h"

/* What is being checked. The message is "WHAT NUMBER: sentence", or only the sentence if `what` is
 * NULL. */
typedef struct oif_check {
    oif_error *error;
    const char *what;
    uint32_t number;
} oif_check;

static inline oif_status oif_check_fail(const oif_check *check, const char *sentence)
{
    if (!check->what)
        return oif_fail(check->error, OIF_EINVARIANT, "%s", sentence);
    return oif_fail(check->error, OIF_EINVARIANT, "%s %u: %s", check->what, check->number,
                    sentence);
}

/* Returns OIF_EINVARIANT from the calling function unless the condition holds. */
#define OIF_REQUIRE(check, condition, sentence)                                                    \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_check_fail(check, sentence);                                                \
    while (0)

#endif

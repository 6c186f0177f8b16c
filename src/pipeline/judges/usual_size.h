/* The usual size of a magnitude: one number that about one magnitude in 100 exceeds. It rises when
 * it is exceeded and falls a little otherwise, by factors that become smaller at first:
 *
 *     magnitudes   . . : . . . | . . : . . | . . .
 *     usual        -----------/ \_________/ \____       never below the mean of those above 0
 *
 * So it needs no history, adapts to a new size within some hundred rows, and one extreme magnitude
 * hardly moves it: the mean takes each by at most 16 usual sizes. During the first 48 magnitudes it
 * is the largest of them, each of which counts as at most four times those before it. */
#ifndef OIF_PIPELINE_JUDGES_USUAL_SIZE_H
#define OIF_PIPELINE_JUDGES_USUAL_SIZE_H

#include "base/state_visitor.h"

#include <stddef.h>

enum { OIF_USUAL_FIRST = 48 }; /* magnitudes; before that nothing is compared */

typedef struct oif_usual_size {
    double size;
    double sum;     /* of the magnitudes above 0 */
    uint32_t count; /* of magnitudes */
    uint32_t above; /* of those above 0; both are halved now and then */
} oif_usual_size;

/* How many times the usual size a magnitude is: at most OIF_MOST_TIMES, and 0 while too few are
 * known. */
#define OIF_MOST_TIMES 1000.0
double oif_usual_times(const oif_usual_size *usual, double magnitude);

/* The mean magnitude; 0 before the first. */
double oif_usual_mean(const oif_usual_size *usual);

/* Learns a magnitude from 0 to OIF_MOST_MAGNITUDE. `adapts`: otherwise it is only counted. A
 * magnitude that changes slowly, such as a mean of many rows, need not adapt with every row. */
#define OIF_MOST_MAGNITUDE 0x1p900 /* so a sum is finite */
void oif_usual_learn(oif_usual_size *usual, double magnitude, bool adapts);

/* The fields of a usual size that is a member of records. */
#define OIF_USUAL_FIELDS(name, type, member)                                                       \
    {name "_size", OIF_FIELD_F64, offsetof(type, member.size), 1},                                 \
        {name "_sum", OIF_FIELD_F64, offsetof(type, member.sum), 1},                               \
        {name "_count", OIF_FIELD_U32, offsetof(type, member.count), 1},                           \
    {                                                                                              \
        name "_above", OIF_FIELD_U32, offsetof(type, member.above), 1                              \
    }

void oif_usual_visit_fields(oif_usual_size *usual, oif_state_visitor *visitor);

/* Whether the fields are possible; they may come from a damaged snapshot. */
bool oif_usual_check(const oif_usual_size *usual);

#endif

#include "pipeline/judges.h"

#include <math.h>

void oif_judge_init(oif_judge *judge, oif_score_scale scale, double memory)
{
    *judge = (oif_judge){.scale = scale, .score = NAN};
    oif_score_history_init(&judge->history, memory);
}

static double severity_of(const oif_judge *judge)
{
    if (judge->score != judge->score)
        return 0;
    return oif_smooth_severity(&judge->history, judge->scale, judge->score);
}

double oif_judges_score(const oif_judge judges[], size_t count, uint32_t *decisive)
{
    const oif_judge *leader = &judges[0];
    double most = severity_of(leader);
    *decisive = 0;
    if (leader->score != leader->score || most == 0)
        return leader->score; /* nothing to compare with yet, or nothing usual */
    for (size_t i = 1; i < count; i++) {
        double severity = severity_of(&judges[i]);
        if (severity > most) {
            most = severity;
            *decisive = (uint32_t)i;
        }
    }
    return *decisive == 0 ? leader->score
                          : oif_severity_score(&leader->history, leader->scale, most);
}

void oif_judges_learn(oif_judge judges[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (judges[i].score == judges[i].score)
            oif_score_history_add(&judges[i].history, judges[i].score);
}

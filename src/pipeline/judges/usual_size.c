#include "pipeline/judges/usual_size.h"

#include <float.h>

/* The factors by which the size rises when it is exceeded, and falls otherwise. One magnitude in
 * 100 keeps it where it is: exp(.99 e) and exp(-.01 e), with e = .03 (1 + 432 / count) for the
 * counts from 48, 64, 128, 256, ... on, and .03 at last. */
typedef struct pace {
    double rise, fall;
} pace;

static const pace paces[] = {
    {1.3458152994480976, 0.997004495503373},   {1.2588202842046525, 0.99767770071903727},
    {1.1387572087748918, 0.99868836095141755}, {1.083090739686704, 0.9991940749321998},
    {1.056286415174692, 0.99944702794543216},  {1.0431340460881096, 0.9995735284648487},
    {1.0366194021994466, 0.99963678472864348}, {1.0333773532913404, 0.99966841436167331},
    {1.0301454439591482, 0.99970004499550036}};

enum { PACES = sizeof paces / sizeof *paces, MOST_COUNTED = 1 << 30 };

static const pace *pace_of(uint32_t count)
{
    const int at = 31 - __builtin_clz(count) - 5;
    return &paces[at < 0 ? 0 : at < PACES ? at : PACES - 1];
}

double oif_usual_times(const oif_usual_size *usual, double magnitude)
{
    if (usual->count < OIF_USUAL_FIRST || !(magnitude > 0))
        return 0;
    return magnitude < OIF_MOST_TIMES * usual->size ? magnitude / usual->size : OIF_MOST_TIMES;
}

double oif_usual_mean(const oif_usual_size *usual)
{
    return usual->count > 0 ? usual->sum / usual->count : 0;
}

/* What is far above all before it is an incident, which must not hide the next one. */
static double without_excess(const oif_usual_size *usual, double magnitude)
{
    const uint32_t few = 8;
    const double times = usual->count < OIF_USUAL_FIRST ? 4 : 16, most = times * usual->size;
    return usual->count >= few && most > 0 && magnitude > most ? most : magnitude;
}

static void count_magnitude(oif_usual_size *usual, double magnitude)
{
    if (usual->count == MOST_COUNTED) {
        usual->count /= 2;
        usual->above /= 2;
        usual->sum = usual->above > 0 ? usual->sum / 2 : 0;
    }
    usual->count++;
    usual->above += magnitude > 0;
    usual->sum += magnitude;
}

void oif_usual_learn(oif_usual_size *usual, double magnitude, bool adapts)
{
    const double counted = without_excess(usual, magnitude);
    count_magnitude(usual, counted);
    if (usual->count <= OIF_USUAL_FIRST) {
        usual->size = counted > usual->size ? counted : usual->size;
    } else if (adapts) {
        const pace *now = pace_of(usual->count);
        usual->size *= magnitude > usual->size ? now->rise : now->fall;
    }
    if (usual->size * usual->above < usual->sum)
        usual->size = usual->sum / usual->above;
}

void oif_usual_visit_fields(oif_usual_size *usual, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "usual_size", &usual->size, 1);
    oif_visit_f64(visitor, "usual_sum", &usual->sum, 1);
    oif_visit_u32(visitor, "usual_count", &usual->count, 1);
    oif_visit_u32(visitor, "usual_above", &usual->above, 1);
}

bool oif_usual_check(const oif_usual_size *usual)
{
    return usual->size >= 0 && usual->size <= DBL_MAX && usual->sum >= 0 && usual->sum <= DBL_MAX &&
           usual->count <= MOST_COUNTED && usual->above <= usual->count &&
           (usual->above > 0 || usual->sum == 0);
}

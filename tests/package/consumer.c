/* A user's program: of ours it includes only oif.h. Also compiled as C++. Its output is the same
 * however it was linked. */
#include <oif.h>

#include <stdio.h>

int main(void)
{
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    double row[2], score = 0, usual = 0, outlying = 0;
    int i, outliers = 0;

    if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, &error) != OIF_OK ||
        oif_detector_new(&params, 2, &detector, &error) != OIF_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (i = 0; i < 2000; i++) {
        bool outlier = i % 100 == 99;
        row[0] = outlier ? 50 : i % 10;
        row[1] = outlier ? -50 : i % 7;
        if (oif_detector_learn_score(detector, row, &score, &error) != OIF_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        *(outlier ? &outlying : &usual) += score;
        outliers += outlier;
    }
    OIF_IGNORE(oif_detector_learn(detector, row, NULL)); /* no warning from any compiler */
    oif_detector_free(detector);
    if (oif_version_number() != OIF_VERSION_NUMBER) {
        fprintf(stderr, "the library is %d, its header %d\n", oif_version_number(),
                OIF_VERSION_NUMBER);
        return 1;
    }
    printf("oif %s: %d outliers of %d rows score %s\n", oif_version(), outliers, i,
           outlying / outliers > usual / (i - outliers) ? "higher" : "NOT HIGHER");
    return 0;
}

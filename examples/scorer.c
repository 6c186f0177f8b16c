/* Scores rows of two numbers from standard input and prints those that stand out.
 *
 *     cc scorer.c $(pkg-config --cflags --libs oif) -o scorer
 *     printf '60,4\n61,4.1\n' | ./scorer
 */
#include <oif.h>

#include <stdio.h>

int main(void)
{
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    double row[2], score;

    /* Choose a detector, change a parameter, create it for rows of two columns. */
    if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, &error) != OIF_OK ||
        oif_params_set(&params, "num_trees", 64, &error) != OIF_OK ||
        oif_detector_new(&params, 2, &detector, &error) != OIF_OK) {
        fprintf(stderr, "scorer: %s\n", error.message);
        return 1;
    }

    /* Each row is learned, then scored. The rest of the line is ignored. */
    while (scanf("%lf,%lf%*[^\n]", &row[0], &row[1]) == 2) {
        if (oif_detector_learn_score(detector, row, &score, &error) != OIF_OK)
            fprintf(stderr, "scorer: %s\n", error.message); /* such as an infinity: skip it */
        else if (oif_detector_ready(detector) && score > 0.7)
            printf("%g,%g is unusual: %.3f\n", row[0], row[1], score);
    }
    printf("%llu rows, %zu bytes\n", (unsigned long long)oif_detector_rows_learned(detector),
           oif_detector_memory_bytes(detector));
    oif_detector_free(detector);
    return 0;
}

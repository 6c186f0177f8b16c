/* What the values of a label column mean: which of them are anomalies.
 *
 * Without --anomaly this is decided at the end, from all values that occur. Case and the spelling
 * of numbers (1, 1.0) do not matter.
 *
 *   - Numbers: 0 is normal and any other number an anomaly. -1 and 1 without 0 are scikit-learn's:
 *     -1 is the anomaly. Only 1: all are anomalies.
 *   - Words: false, no, normal, ... are normal; true, yes, anomaly, ... are anomalies.
 *   - Beside words of one kind only, unknown values are of the other kind: normal, dos, probe.
 *   - Anything else is ambiguous, and an error. */
#ifndef OIF_CLI_EVAL_LABELS_H
#define OIF_CLI_EVAL_LABELS_H

#include "front/input/byte_source.h"
#include "front/input/input_error.h"
#include "front/options/options.h"

/* More words than this are not labels. Of values that are treated alike, fewer are
 * distinguished. */
enum { LABEL_VALUES_MAX = 64, LABEL_ALIKE_MAX = LABEL_VALUES_MAX - ANOMALY_VALUES_MAX };

typedef enum label_meaning { LABEL_UNKNOWN, LABEL_NORMAL, LABEL_ANOMALY } label_meaning;

typedef struct label_value {
    char *text; /* as it was first seen */
    bool is_number;
    double number;
    label_meaning meaning;
    oif_error first; /* where that was; without a message */
    uint64_t rows;
    bool has_others; /* other values are counted with this one */
} label_value;

/* `asked` has the values of --anomaly. To be closed. */
typedef struct eval_labels {
    const eval_settings *asked;
    const byte_source *source;
    const char *input, *column; /* names, for messages */
    label_value values[LABEL_VALUES_MAX];
    size_t count;
    size_t recent; /* the value of the row before */
} eval_labels;

eval_labels eval_labels_start(const run_settings *settings, const byte_source *source);
void eval_labels_close(eval_labels *labels);

/* Reads the label of a record, a text. `code` becomes the position of its value. Prints what is
 * wrong unless it returns EXIT_OK. */
exit_code eval_labels_read(eval_labels *labels, const oif_reader *reader, const oif_record *record,
                           size_t column, oif_text text, uint8_t *code);

/* After the last row: gives every value its meaning. Prints why it cannot, unless it returns
 * EXIT_OK. */
exit_code eval_labels_decide(eval_labels *labels);
bool eval_labels_is_anomaly(const eval_labels *labels, uint8_t code);

#endif

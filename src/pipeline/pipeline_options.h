/* The options of a pipeline, as its models need them. */
#ifndef OIF_PIPELINE_PIPELINE_OPTIONS_H
#define OIF_PIPELINE_PIPELINE_OPTIONS_H

#include "pipeline/model/model.h"

/* The words of `evicted`. */
enum { OIF_EVICTED_FORGET, OIF_EVICTED_KEEP };

/* OIF_EPARAM   they are not the options of a pipeline, or contradict each other */
oif_status oif_pipeline_options_check(const oif_params *options, oif_error *error);

/* What a model with such detectors is created with. */
oif_model_options oif_pipeline_options_read(const oif_params *options, const oif_params *detector);

/* Sets an option of a pipeline that exists, and checks all.
 *
 * OIF_EPARAM   it cannot be changed, or has no such value; some options may have changed */
oif_status oif_pipeline_options_change(oif_params *options, const char *name, double value,
                                       oif_error *error);

#endif

/* The rules of a pipeline, and what each held back, as JSON. */
#ifndef OIF_FRONT_RULES_JSON_H
#define OIF_FRONT_RULES_JSON_H

#include "oif.h"

/* [{"rule":"mute column=latency","held":3,"first":1794769501,"last":1794769601}, ...] */
void rules_write_json(const oif_pipeline *pipeline);

#endif

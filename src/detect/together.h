/* Lists of detectors that judge together: "rolling-iforest+sdo".
 *
 * Like a detector, a list has a table of parameters. It has the parameters of all its detectors:
 *
 *     rolling-iforest    num_trees  window_size  seed
 *     hst                num_trees  window_size  seed
 *     the list           num_trees  window_size  seed  hst_num_trees  hst_window_size
 *
 * All detectors share the seed. If two other parameters have the same name, the later one is
 * prefixed with the name of its detector.
 *
 * The table of a list is made on first use and never freed, because params point to it.
 */
#ifndef OIF_DETECT_TOGETHER_H
#define OIF_DETECT_TOGETHER_H

#include "oif.h"

/* Finds the description of a list.
 *
 * OIF_EPARAM   the name is not a list of detectors; the message says why */
oif_status oif_together_find(const char *name, const oif_detector_info **info, oif_error *error);

/* Splits the parameters of a list into those of its detectors and returns how many there are.
 * Parameters of a single detector are one part. Returns 0 for anything else. */
size_t oif_together_split(const oif_params *params, oif_params parts[OIF_TOGETHER_MAX]);

#endif

/* Lists of detectors that judge together: "rolling-iforest+sdo".
 *
 * A list has a table of parameters like a detector. It has the parameters of all its detectors:
 *
 *     rolling-iforest    num_trees  window_size  seed
 *     hst                num_trees  window_size  seed
 *     the list           num_trees  window_size  seed  hst_num_trees  hst_window_size
 *
 * The seed is one for all. Of two others with the same name, the later one has the name of its
 * detector in front.
 *
 * The table of a list is made when it is first asked for, and then stays: params point to it.
 */
#ifndef OIF_DETECT_TOGETHER_H
#define OIF_DETECT_TOGETHER_H

#include "oif.h"

/* Finds the description of a list.
 *
 * OIF_EPARAM   the name is not a list of detectors; the message says why */
oif_status oif_together_find(const char *name, const oif_detector_info **info, oif_error *error);

/* Splits the parameters of a list into those of its detectors; returns how many. Parameters of a
 * single detector are one part. Returns 0 for anything else. */
size_t oif_together_split(const oif_params *params, oif_params parts[OIF_TOGETHER_MAX]);

#endif

/* The parts that snapshots of detectors are made of, for whatever holds detectors. */
#ifndef OIF_SNAPSHOT_DETECTOR_SNAPSHOT_H
#define OIF_SNAPSHOT_DETECTOR_SNAPSHOT_H

#include "snapshot/sections.h"

#define OIF_SECTION_DETECTOR "DETE"
#define OIF_SECTION_STATE "STAT"

/* A section with parameters and the number that goes with them: of a detector its dimension.
 * Returns the bytes of its payload; writes nothing when the writer is NULL. */
size_t oif_identity_write(oif_snapshot_writer *writer, const char *tag, const oif_params *params,
                          uint64_t number);

/* Reads such a section. `kinds` finds what is named: oif_params_init, or one that knows other
 * names. */
typedef oif_status (*oif_kinds)(oif_params *params, const char *name, oif_error *error);
void oif_identity_read(oif_snapshot_reader *reader, const char *tag, oif_kinds kinds,
                       oif_params *params, uint64_t *number);

/* The state of a detector as a section, and its bytes without what every section has. */
void oif_state_write(oif_snapshot_writer *writer, const oif_detector *detector);
uint64_t oif_state_bytes(const oif_detector *detector);

/* Fails unless the open section is large enough to be the state of such a detector: to be
 * called before one is made. */
void oif_state_bound(oif_snapshot_reader *reader, const oif_params *params, size_t dimension);

/* Reads the open section into a detector that was made with the same parameters. It may be in
 * any state if this fails, and is only to be freed then. */
void oif_state_read(oif_snapshot_reader *reader, oif_detector *detector);

#endif

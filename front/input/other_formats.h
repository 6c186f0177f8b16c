/* Files that oif does not read and that people have all the same: recognised by how they begin, and
 * answered with the command that converts them. */
#ifndef OIF_FRONT_OTHER_FORMATS_H
#define OIF_FRONT_OTHER_FORMATS_H

#include "front/text/output.h"

/* The input begins with these bytes, blanks and a byte order mark aside. Prints what it is unless
 * it returns EXIT_OK. */
exit_code other_formats_check(const char *name, const char *bytes, size_t count);

/* The same for JSON that does not have one object per line. */
exit_code other_formats_check_json(const char *name, const char *bytes, size_t count);

#endif

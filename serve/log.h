/* One line per problem on stderr, in logfmt:
 *
 *   time=2026-11-15T19:05:01Z level=warn event=refused status=413 path=/api/v1/... reason="..."
 *
 * What comes from outside is quoted, and neither queries nor headers are logged: they may hold
 * secrets. Where a flood of problems would fill the disk, lines are left out and counted. */
#ifndef OIF_SERVE_LOG_H
#define OIF_SERVE_LOG_H

/* Pairs of names and values end with NULL; a value that is NULL is left out. Not while the
 * output of this thread is diverted. */
void log_line(const char *level, const char *event, ...);

#endif

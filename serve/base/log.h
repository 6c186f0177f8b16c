/* One line per problem on stderr, in logfmt:
 *
 *   time=2026-11-15T19:05:01Z level=warn event=refused status=413 path=/api/v1/... reason="..."
 *
 * Text from outside is quoted. Queries and headers are not logged, because they may contain
 * secrets. In a flood of problems, lines are left out and counted, so the disk does not fill up. */
#ifndef OIF_SERVE_LOG_H
#define OIF_SERVE_LOG_H

/* Takes pairs of names and values, terminated by NULL; a NULL value is left out. Do not call it
 * while the output of this thread is diverted. */
void log_line(const char *level, const char *event, ...);

#endif

/* Where requests begin and end in the bytes of a connection, by the letter of RFC 9112.
 *
 * A proxy and a server that disagree about that let a request pass hidden in the body of another
 * one. libmicrohttpd tolerates much of what they disagree about: two lengths, blanks before a
 * colon, bare LF, folded lines, NUL. So every byte is judged here before it gets them:
 *
 *     request-line CRLF *( name ":" value CRLF ) CRLF  [ body | chunks ]  and again
 *
 * Nothing is stored but a few numbers, and bytes may come in pieces of any size. */
#ifndef OIF_SERVE_FRAMING_H
#define OIF_SERVE_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAMING_WORD_BYTES = 24 };

typedef struct framing {
    int state;
    const char *wrong; /* why the connection is refused; NULL: nothing is wrong */
    uint64_t heads;    /* requests whose headers are complete */

    /* Of the current request. */
    char word[FRAMING_WORD_BYTES]; /* the name or the value that is being read, if it matters */
    size_t word_bytes;             /* larger than the room: too long to matter */
    int field;
    uint64_t length; /* of the body, or of what is left of it or of a chunk */
    unsigned digits; /* of a size; also bytes of an extension, and empty lines before the request */
    unsigned hosts, lengths, encodings;
    bool is_host_over; /* a blank has followed it */
    bool is_old;       /* HTTP/1.0 */
} framing;

/* Takes the next bytes of a connection; a framing of zeros is at its start. Returns how many are
 * good. If these are not all, `wrong` is set, and bytes of the same request that came before the
 * wrong one do not count as good, unless they are of its body. */
size_t framing_take(framing *wire, const char *bytes, size_t count);

#endif

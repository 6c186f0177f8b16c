#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The file ---- */

static exit_code complain_errno(const char *path)
{
    return complain(EXIT_FAILED, "%s: %s", path, strerror(errno));
}

/* A path that is not a regular file, such as /dev/stdout or a pipe, cannot be replaced. */
static bool is_replaceable(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* The permissions of an ordinary new file; mkstemp makes private ones. */
static void set_permissions(int descriptor)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(descriptor, 0666 & ~mask);
}

static int open_temporary(html_page *page)
{
    size_t bytes = strlen(page->path) + sizeof ".XXXXXX";
    page->temporary = malloc(bytes);
    if (!page->temporary) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(page->temporary, bytes, "%s.XXXXXX", page->path);
    int descriptor = mkstemp(page->temporary);
    if (descriptor >= 0)
        set_permissions(descriptor);
    return descriptor;
}

exit_code page_open(html_page *page, const char *path)
{
    *page = (html_page){.path = path};
    int descriptor =
        is_replaceable(path) ? open_temporary(page) : open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
    page->file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (page->file)
        return EXIT_OK;
    exit_code code = complain_errno(path);
    if (descriptor >= 0) {
        close(descriptor);
        if (page->temporary)
            unlink(page->temporary);
    }
    free(page->temporary);
    return code;
}

static bool remember(html_page *page, bool is_done)
{
    if ((!is_done || ferror(page->file)) && page->failure == 0)
        page->failure = errno ? errno : EIO;
    return page->failure == 0;
}

/* Writes it to disk before it replaces the old one. */
static bool commit(html_page *page)
{
    bool is_written = remember(page, fflush(page->file) == 0);
    if (is_written && page->temporary)
        is_written = remember(page, fsync(fileno(page->file)) == 0);
    if (fclose(page->file) != 0 && page->failure == 0)
        page->failure = errno;
    errno = page->failure;
    return errno == 0 && (!page->temporary || rename(page->temporary, page->path) == 0);
}

exit_code page_close(html_page *page, exit_code code)
{
    bool is_written = false;
    if (code == EXIT_OK) {
        is_written = commit(page);
        code = is_written ? EXIT_OK : complain_errno(page->path);
    } else {
        fclose(page->file);
    }
    if (!is_written && page->temporary)
        unlink(page->temporary);
    free(page->temporary);
    *page = (html_page){0};
    return code;
}

void page_print(html_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remember(page, vfprintf(page->file, format, arguments) >= 0);
    va_end(arguments);
}

/* ---- Text ---- */

/* The bytes of the UTF-8 character that `text` begins with; 0 when it is none. */
static size_t character_bytes(const unsigned char *text, size_t bytes)
{
    unsigned char c = text[0];
    size_t count = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 4;
    if (count == 1)
        return 1;
    if (c < 0xc2 || c > 0xf4 || count > bytes)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool is_overlong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    bool is_surrogate = c == 0xed && text[1] >= 0xa0, is_beyond = c == 0xf4 && text[1] >= 0x90;
    bool is_control = c == 0xc2 && text[1] < 0xa0;
    bool is_none = c == 0xef && text[1] == 0xbf && text[2] >= 0xbe; /* U+FFFE, U+FFFF */
    return is_overlong || is_surrogate || is_beyond || is_control || is_none ? 0 : count;
}

static void write_character(FILE *file, const unsigned char *text, size_t count)
{
    static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */
    if (count == 0 || (count == 1 && (text[0] < 0x20 || text[0] == 0x7f)))
        fputs(unknown, file);
    else if (count > 1)
        fwrite(text, 1, count, file);
    else if (text[0] == '&')
        fputs("&amp;", file);
    else if (text[0] == '<')
        fputs("&lt;", file);
    else if (text[0] == '>')
        fputs("&gt;", file);
    else if (text[0] == '"')
        fputs("&quot;", file);
    else if (text[0] == '\'')
        fputs("&#39;", file);
    else
        fputc(text[0], file);
}

void page_text_bytes(html_page *page, const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    while (bytes > 0) {
        size_t count = character_bytes(at, bytes);
        write_character(page->file, at, count);
        at += count > 0 ? count : 1;
        bytes -= count > 0 ? count : 1;
    }
    remember(page, true);
}

void page_text(html_page *page, const char *text)
{
    page_text_bytes(page, text, strlen(text));
}

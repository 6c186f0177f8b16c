/* serve/api/events.c without memory: a client whose answer cannot be created is released
 * completely, and an event that does not fit in memory is sent later. */
#include "stream_fixture.h"

#include "serve/api/events.h"
#include "serve/api/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

static atomic_int failures; /* answers that could not be created */
static MHD_ContentReaderCallback read_some;
static void *reader;
static _Thread_local bool has_no_memory; /* of the test's thread alone: others allocate, too */

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_MHD_suspend_connection(struct MHD_Connection *connection);
void __wrap_loops_resume(loops *all, struct MHD_Connection *connection);

void *__wrap_realloc(void *memory, size_t bytes)
{
    return has_no_memory ? NULL : __real_realloc(memory, bytes);
}

/* The second test has no connection. */
void __wrap_MHD_suspend_connection(struct MHD_Connection *connection)
{
    assert_null(connection);
}

/* The thread that wakes clients may see the event before the test looks again, or after. */
void __wrap_loops_resume(loops *all, struct MHD_Connection *connection)
{
    assert_null(all);
    assert_null(connection);
}

struct MHD_Response *__wrap_MHD_create_response_from_callback(uint64_t size, size_t block_size,
                                                              MHD_ContentReaderCallback read,
                                                              void *context,
                                                              MHD_ContentReaderFreeCallback end);

struct MHD_Response *__wrap_MHD_create_response_from_callback(uint64_t size, size_t block_size,
                                                              MHD_ContentReaderCallback read,
                                                              void *context,
                                                              MHD_ContentReaderFreeCallback end)
{
    (void)size;
    (void)block_size;
    (void)end;
    read_some = read;
    reader = context;
    failures++;
    return NULL; /* out of memory */
}

/* Sends a request and waits until the server has closed the connection. */
static void ask(const listening *at, const char *asked)
{
    char answer[1024];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strrchr(at->address, ':') + 1)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int wire = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(wire >= 0);
    assert_int_equal(connect(wire, (void *)&address, sizeof address), 0);
    assert_int_equal(send(wire, asked, strlen(asked), 0), strlen(asked));
    while (recv(wire, answer, sizeof answer, 0) > 0)
        ;
    close(wire);
}

static void a_client_without_an_answer_is_released(void **state)
{
    const server_options options = {.max_connections = 16, .timeout_seconds = 30};
    app served = {.max_body_bytes = 1 << 20, .access.is_loopback = true};
    listening opened;
    (void)state;
    streams *all = open_at(NULL);
    stream_release(create(all, "watched", "{}"));
    served.watchers = events_open(streams_feed(all));
    atomic_store(&served.all, all);
    listen_open("127.0.0.1:0", &opened);
    server *running = server_open(&options, &opened, &served);
    assert_non_null(running);
    ask(&opened, "GET /api/v1/events?stream=watched HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    server_close(running);
    assert_int_equal(failures, 1);
    events_close(served.watchers);
    streams_close(all);
}

static void an_event_without_memory_is_sent_later(void **state)
{
    const feed_filter filter = {.stream = NULL};
    const char *event = "{\"stream\":\"pump\"}";
    char room[4096];
    (void)state;
    streams *all = open_at(NULL);
    feed *source = streams_feed(all);
    events *watchers = events_open(source);
    events_client *client = events_client_new(watchers, &filter, 0);
    /* now the callback of the server is known */
    assert_null(events_respond(client, NULL, NULL));
    assert_ptr_equal(reader, client);
    ssize_t bytes = read_some(reader, 0, room, sizeof room);
    assert_memory_equal(room, ": events follow", 15);
    feed_add(source, FEED_ALERT, "pump", NULL, 0, event, strlen(event));
    has_no_memory = true;
    assert_int_equal(read_some(reader, (uint64_t)bytes, room, sizeof room), 0);
    has_no_memory = false;
    bytes = read_some(reader, (uint64_t)bytes, room, sizeof room - 1);
    room[bytes] = '\0';
    assert_non_null(strstr(room, event));
    events_close(watchers); /* first, because the client may be among those that wait */
    events_client_free(client);
    streams_close(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_without_an_answer_is_released),
        cmocka_unit_test(an_event_without_memory_is_sent_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

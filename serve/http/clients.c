#include "clients.h"

#include "front/text/byte_table.h"
#include "front/text/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wrong tokens that an address may try at once, and how long it waits for another try. */
enum { TRIES = 10, ADDRESSES_MAX = 1 << 14 };
static const double seconds_per_try = 6;

typedef struct client {
    byte_item item; /* by the group of its address */
    size_t connections;
    double tries; /* that are left at the time `counted` */
    double counted;
} client;

struct clients {
    size_t connections_max;
    pthread_mutex_t lock;
    byte_table table;
};

clients *clients_new(size_t connections_max)
{
    clients *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->connections_max = connections_max;
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

void clients_free(clients *all)
{
    if (!all)
        return;
    byte_table_free(&all->table);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static double tries_at(const client *one, double now)
{
    return fmin(TRIES, one->tries + (now - one->counted) / seconds_per_try);
}

/* Removes the addresses about which there is nothing to know. */
static void forget_idle(clients *all, double now)
{
    for (size_t i = 0; i < all->table.slot_count;) {
        client *one = (client *)(void *)all->table.slots[i];
        if (one && one->connections == 0 && tries_at(one, now) >= TRIES)
            byte_table_remove(&all->table, one); /* another item may move to this slot */
        else
            i++;
    }
}

/* Beyond a number of addresses, further ones share one item. NULL: out of memory. */
static client *find(clients *all, const char *address)
{
    char group[ADDRESS_BYTES];
    const double now = clock_seconds();
    address_group(address, group);
    client *one = byte_table_find(&all->table, group, strlen(group));
    if (!one && all->table.count >= ADDRESSES_MAX)
        forget_idle(all, now);
    if (!one && all->table.count >= ADDRESSES_MAX) {
        group[0] = '\0';
        one = byte_table_find(&all->table, "", 0);
    }
    if (!one && (one = byte_table_add(&all->table, group, strlen(group), sizeof *one))) {
        one->tries = TRIES;
        one->counted = now;
    }
    return one;
}

bool clients_enter(clients *all, const char *address, char counted[ADDRESS_BYTES])
{
    snprintf(counted, ADDRESS_BYTES, "%s", address);
    if (strcmp(address, "unix") == 0)
        return true;
    pthread_mutex_lock(&all->lock);
    client *one = find(all, address);
    const bool may = one && one->connections < all->connections_max;
    if (may) {
        one->connections++;
        snprintf(counted, ADDRESS_BYTES, "%s", one->item.key);
    }
    pthread_mutex_unlock(&all->lock);
    return may;
}

void clients_leave(clients *all, const char counted[ADDRESS_BYTES])
{
    pthread_mutex_lock(&all->lock);
    client *one = byte_table_find(&all->table, counted, strlen(counted));
    if (one && one->connections > 0)
        one->connections--;
    pthread_mutex_unlock(&all->lock);
}

bool clients_may_try(clients *all, const char *address, unsigned *wait_seconds)
{
    pthread_mutex_lock(&all->lock);
    const client *one = find(all, address);
    const double tries = one ? tries_at(one, clock_seconds()) : 0;
    pthread_mutex_unlock(&all->lock);
    *wait_seconds = (unsigned)ceil((1 - fmin(tries, 1)) * seconds_per_try);
    return tries >= 1;
}

void clients_note_wrong(clients *all, const char *address)
{
    pthread_mutex_lock(&all->lock);
    client *one = find(all, address);
    if (one) {
        const double now = clock_seconds();
        one->tries = fmax(tries_at(one, now) - 1, 0);
        one->counted = now;
    }
    pthread_mutex_unlock(&all->lock);
}

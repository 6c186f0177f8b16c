#include "open_episodes.h"

#include "front/text/output.h"

#include <stdlib.h>

open_episode *open_episodes_find(const open_episodes *all, oif_text key)
{
    return byte_table_find(&all->by_key, key.text ? key.text : "", key.bytes);
}

open_episode *open_episodes_add(open_episodes *all, oif_text key)
{
    open_episode *episode =
        byte_table_add(&all->by_key, key.text ? key.text : "", key.bytes, sizeof *episode);
    if (!episode)
        return NULL;
    episode->before = all->last;
    *(all->last ? &all->last->after : &all->first) = episode;
    all->last = episode;
    return episode;
}

void open_episode_set_line(open_episode *episode, char *line, size_t bytes)
{
    free(episode->line);
    episode->line = line;
    episode->line_bytes = bytes;
}

static bool print_line(open_episode *episode)
{
    const bool is_open = !episode->line || output_write(episode->line, episode->line_bytes);
    open_episode_set_line(episode, NULL, 0);
    return is_open;
}

bool open_episodes_end(open_episodes *all, open_episode *episode)
{
    const bool is_open = print_line(episode);
    *(episode->before ? &episode->before->after : &all->first) = episode->after;
    *(episode->after ? &episode->after->before : &all->last) = episode->before;
    byte_table_remove(&all->by_key, episode);
    return is_open;
}

void open_episodes_print(open_episodes *all)
{
    for (open_episode *episode = all->first; episode; episode = episode->after)
        print_line(episode);
}

void open_episodes_free(open_episodes *all)
{
    for (open_episode *episode = all->first; episode; episode = episode->after)
        free(episode->line);
    byte_table_free(&all->by_key);
    *all = (open_episodes){0};
}

/* --season: what the command line says, and for `auto` a search among the first rows.
 *
 * Where the input is a file, its first rows are read before the first is scored, and what is found
 * is used. Rows that arrive one by one are scored without waiting, so what is found among them can
 * only be proposed. */
#ifndef OIF_CLI_SEASON_SEARCH_H
#define OIF_CLI_SEASON_SEARCH_H

#include "input.h"

enum { SEASON_SEARCH_ROWS = 8192, SEASON_SEARCH_COLUMNS = 4 };

/* For tables of options: "96", "1d", "auto". */
const char *season_set(cli_settings *settings, const char *value);

/* Whether what was said goes together. */
exit_code season_check(const cli_settings *settings);

/* The first rows, of the key of the first one. */
typedef struct season_search {
    double *values; /* [columns][SEASON_SEARCH_ROWS]; NULL: nothing is searched for */
    size_t columns, count;
    char *key;
    size_t key_bytes;
    const char *name; /* of the input, for messages */
} season_search;

/* Starts it where the settings ask for it and the pipeline is yet to be made. Of a file, it also
 * ends it, and puts what is found into the settings. */
void season_search_start(season_search *search, cli_settings *settings, const cli_input *input);

/* Takes a row; does nothing unless it was started. Says what is found once there are enough. */
void season_search_row(season_search *search, const cli_columns *columns, const oif_record *record);

/* At the end of the rows. */
void season_search_end(season_search *search);

#endif

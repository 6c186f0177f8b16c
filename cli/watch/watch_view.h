/* Draws what a watch_view has gathered. */
#ifndef OIF_CLI_WATCH_VIEW_H
#define OIF_CLI_WATCH_VIEW_H

#include "cli/draw/screen.h"
#include "watch_data.h"

void watch_view_paint(const watch_view *watch, screen *picture);

#endif

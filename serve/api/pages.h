/* Answers that need no stream: embedded files and health. */
#ifndef OIF_SERVE_PAGES_H
#define OIF_SERVE_PAGES_H

#include "api_call.h"

bool page_file(api_call *call, problem *why);
bool page_healthz(api_call *call, problem *why);

#endif

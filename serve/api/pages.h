/* Answers that need no stream: embedded files, health, login. */
#ifndef OIF_SERVE_PAGES_H
#define OIF_SERVE_PAGES_H

#include "app.h"
#include "serve/http/reply.h"
#include "serve/http/request.h"

void page_file(app *served, const request *asked, reply *answer);
void page_healthz(app *served, const request *asked, reply *answer);
void page_login(app *served, const request *asked, reply *answer);
void page_logout(app *served, const request *asked, reply *answer);

#endif

/* The frame of the page of `oif eval --report`. Everything is in one file, including style and
 * drawings; there are no scripts, and nothing is loaded. */
#include "front/columns/derive.h"
#include "front/text/durations.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Colours are variables, so the dark theme is just another list. They are distinguishable for
 * colour-blind readers. */
static const char style[] =
    ":root{--ink:#1c2430;--dim:#5b6675;--paper:#fff;--card:#f5f7fa;--edge:#d5dbe3;--score:#4878a8;"
    "--label:#f2c14e;--hit:#1b7f4d;--false:#c8372d;--limit:#7a4fa3;--c0:#0072b2;--c1:#d55e00;"
    "--c2:#009e73;--c3:#a0508a;--c4:#8a6d00;--c5:#3f9fd0;--c6:#6b6b6b;--c7:#e41a1c}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--dim:#9aa6b5;--paper:#14181e;"
    "--card:#1e242d;--edge:#37414e;--score:#6fa8dc;--label:#c99a2e;--hit:#4cc38a;--false:#ff7b6b;"
    "--limit:#c39bea;--c0:#56b4e9;--c1:#ff9a4d;--c2:#3ccf9f;--c3:#d88fc4;--c4:#d8b93a;--c5:#9fd3f0;"
    "--c6:#b5b5b5;--c7:#ff6b6b}}\n"
    "body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem;margin:.5rem 0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2rem 0 "
    ".5rem}h3{font-size:1rem;margin:0}p{margin:.4rem 0}.dim{color:var(--dim);font-size:.875rem}\n"
    "table{border-collapse:collapse;width:100%}td,th{padding:.3rem "
    ".6rem;border-bottom:1px solid var(--edge);text-align:left;vertical-align:top}"
    ".wide{overflow-x:auto}.wide>svg{min-width:40rem}.wide td,.wide "
    "th{white-space:nowrap}.number{text-align:right}\n"
    ".bar{height:.4rem;min-width:1px;background:var(--score);border-radius:2px}.bar.false{"
    "background:"
    "var(--false)}td.meter{min-width:6rem}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(18rem,1fr));gap:1rem}"
    ".card{background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:.7rem;"
    "overflow-wrap:anywhere}.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,"
    "1fr));gap:1rem}\n"
    ".badge{display:inline-block;padding:0 .5rem;border-radius:4px;color:var(--paper);"
    "font-size:.875rem}.badge.found{background:var(--hit)}.badge.missed{background:var(--dim)}"
    ".badge.false{background:var(--false)}\n"
    "svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:12px system-ui,"
    "sans-serif}svg .tick{fill:var(--dim);font-size:11px}svg .grid{stroke:var(--edge)}"
    "svg .mark{stroke:var(--dim)}svg .axis{fill:var(--dim)}svg path{fill:none;stroke-width:1.5}\n"
    "svg .band{fill:var(--score);stroke:none;opacity:.55}svg .curve{stroke:var(--score)}"
    "svg .limit{stroke:var(--limit);stroke-dasharray:5 3}svg .labelled{fill:var(--label);"
    "opacity:.45}svg .hit{fill:var(--hit)}svg .wrong{fill:var(--false)}svg .chance{stroke:"
    "var(--dim);stroke-dasharray:2 4}\n"
    ".legend{list-style:none;margin:.3rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}"
    ".legend svg{width:1.6rem;display:inline-block;vertical-align:middle;margin-right:.3rem}\n";

static void print_colours(html_page *page)
{
    for (int i = 0; i < 8; i++)
        page_print(page, "svg .c%d{stroke:var(--c%d)}svg .dot.c%d{fill:var(--c%d);stroke:none}", i,
                   i, i, i);
}

static void begin(eval_page *report)
{
    html_page *page = &report->page;
    const char *name = report->evaluation->input->source.name;
    page_print(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                     "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>oif eval: ");
    page_text(page, name);
    page_print(page, "</title>\n<style>%s", style);
    print_colours(page);
    page_print(page, "</style></head><body>\n<h1>");
    page_text(page, name);
    page_print(page, "</h1>\n");
}

static void end(eval_page *report)
{
    page_print(&report->page,
               "<p class=\"dim\">Written by oif %s. Definitions: <code>oif eval</code> "
               "in the manual, page evaluate.md.</p>\n</body></html>\n",
               oif_version());
}

const char *report_place(const eval_page *report, size_t row, char text[REPORT_PLACE_BYTES])
{
    const eval_rows *rows = &report->evaluation->rows;
    char moment[MOMENT_TEXT_BYTES], number[GROUPED_TEXT_BYTES];
    if (!rows->seconds || isnan(rows->seconds[row])) {
        snprintf(text, REPORT_PLACE_BYTES, "row %s", grouped_text(row + 1, number));
        return text;
    }
    moment_text(rows->seconds[row], moment);
    if (moment[0] && strlen(moment) > 16 && moment[10] == 'T') {
        moment[10] = ' ';
        moment[16] = '\0'; /* without seconds */
    }
    snprintf(text, REPORT_PLACE_BYTES, "%s", moment);
    return text;
}

static exit_code name_columns(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    const oif_pipeline *pipeline = report->shown->pipeline;
    report->column_count = oif_pipeline_learned_columns(pipeline);
    report->names = calloc(report->column_count, sizeof *report->names);
    bool has_memory = report->names != NULL;
    for (size_t i = 0; i < report->column_count && has_memory; i++) {
        report->names[i] = derive_name(pipeline, &evaluation->input->columns, i);
        has_memory = report->names[i] != NULL;
    }
    return has_memory ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

static exit_code write_parts(eval_page *report)
{
    begin(report);
    report_summary(report);
    if (report->evaluation->contestant_count > 1)
        report_detectors(report);
    report_scores(report);
    exit_code code = report_episodes(report);
    if (code == EXIT_OK && !report_curves(report))
        code = complain(EXIT_FAILED, "out of memory");
    end(report);
    return code;
}

exit_code eval_write_report(eval_run *evaluation)
{
    const eval_contestant *best = &evaluation->contestants[evaluation->order[0]];
    eval_page report = {.evaluation = evaluation, .best = best, .shown = &best->tries[0]};
    exit_code code = name_columns(&report);
    if (code == EXIT_OK)
        code = page_open(&report.page, evaluation->settings->eval.report);
    if (code == EXIT_OK)
        code = page_close(&report.page, write_parts(&report));
    for (size_t i = 0; report.names && i < report.column_count; i++)
        free(report.names[i]);
    free(report.names);
    return code;
}

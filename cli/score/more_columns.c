#include "scoring_run.h"

#include "front/columns/new_columns.h"

exit_code more_columns_learn(scoring_run *scoring)
{
    late_keys *late = &scoring->late;
    cli_columns *columns = &scoring->input->columns;
    oif_pipeline *pipeline = scoring->state->pipeline;
    if (scoring->block && !scoring_threads_flush(scoring))
        return EXIT_OK;
    exit_code code = new_columns_append(columns, late->added, late->added_count);
    late->added_count = 0;
    if (code == EXIT_OK)
        code = new_columns_grow(pipeline, scoring->all_settings, columns);
    if (code == EXIT_OK)
        code = result_fields_start_again(&scoring->fields, pipeline, columns);
    rising_watch_end(&scoring->rising);
    if (!scoring->block || code != EXIT_OK)
        return code;
    row_block_free(scoring->block);
    scoring->block = row_block_new(columns);
    return scoring->block ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

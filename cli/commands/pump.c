#include "pump.h"

#include "stream_random.h"

#include <stddef.h>

const char *const pump_column_names[PUMP_COLUMNS] = {"flow", "pressure", "temperature"};

static const pump_fault faults[] = {
    {"leak", {55, 0.2, 35}, {80, 1.5, 60}},
    {"blockage", {10, 7, 50}, {30, 9, 70}},
    {"overheating", {8, 2.5, 80}, {40, 5.5, 100}},
};

enum { FAULT_KINDS = sizeof faults / sizeof *faults };

void pump_switch(bool *is_running, uint64_t *random)
{
    if (stream_random_uniform(random) < 1.0 / 20)
        *is_running = !*is_running;
}

void pump_add_noise(double reading[PUMP_COLUMNS], uint64_t *random)
{
    static const double deviations[PUMP_COLUMNS] = {1.5, 0.15, 1.5};
    for (size_t i = 0; i < PUMP_COLUMNS; i++)
        reading[i] += deviations[i] * stream_random_noise(random);
}

void pump_read(double reading[PUMP_COLUMNS], uint64_t row, double wear, bool is_running,
               uint64_t *random)
{
    double wave = stream_wave((double)(row % PUMP_ROWS_PER_DAY) / PUMP_ROWS_PER_DAY);
    reading[0] = is_running ? 40 + 2 * wave - 5 * wear : 8;
    reading[1] = is_running ? 5.2 - 0.5 * wear : 2.5;
    reading[2] = (is_running ? 58 + 8 * wear : 34 + 4 * wear) + 2 * wave;
    pump_add_noise(reading, random);
}

const pump_fault *pump_fault_at(int number)
{
    return &faults[number % FAULT_KINDS];
}

const pump_fault *pump_fault_draw(uint64_t *random)
{
    return &faults[(size_t)(stream_random_uniform(random) * FAULT_KINDS)];
}

void pump_read_fault(double reading[PUMP_COLUMNS], const pump_fault *fault, uint64_t *random)
{
    for (size_t i = 0; i < PUMP_COLUMNS; i++)
        reading[i] = fault->lowest[i] +
                     (fault->highest[i] - fault->lowest[i]) * stream_random_uniform(random);
}

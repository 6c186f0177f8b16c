/* The synthetic pump of `oif demo` and `oif demo pump`.
 *
 * The pump switches between two states, running and standby, so its readings form two clusters.
 * Both follow the hour of the day and drift as the pump wears, so what is normal changes. Readings
 * are made with nothing but + - * /, so they are the same on every machine. */
#ifndef OIF_CLI_PUMP_H
#define OIF_CLI_PUMP_H

#include <stdbool.h>
#include <stdint.h>

/* One reading per minute: flow in l/s, pressure in bar, temperature in degrees Celsius. */
enum { PUMP_COLUMNS = 3, PUMP_DAYS = 14, PUMP_ROWS_PER_DAY = 24 * 60 };
enum { PUMP_ROWS = PUMP_DAYS * PUMP_ROWS_PER_DAY };

extern const char *const pump_column_names[PUMP_COLUMNS];

/* A fault, and the ranges of the readings while it lasts. */
typedef struct pump_fault {
    const char *name;
    double lowest[PUMP_COLUMNS], highest[PUMP_COLUMNS];
} pump_fault;

/* Switches between running and standby, every twenty minutes on average. */
void pump_switch(bool *is_running, uint64_t *random);

/* A normal reading; `wear` grows from 0 to 1 over the life of the stream. */
void pump_read(double reading[PUMP_COLUMNS], uint64_t row, double wear, bool is_running,
               uint64_t *random);

/* The kinds of faults in turn: leak, blockage, overheating, leak and so on. */
const pump_fault *pump_fault_at(int number);

/* A kind of fault, chosen at random. */
const pump_fault *pump_fault_draw(uint64_t *random);

/* A reading somewhere in the ranges of the fault. */
void pump_read_fault(double reading[PUMP_COLUMNS], const pump_fault *fault, uint64_t *random);

/* Adds the noise of the sensors. */
void pump_add_noise(double reading[PUMP_COLUMNS], uint64_t *random);

#endif

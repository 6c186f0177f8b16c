/* A plugin of qemu's user mode that counts the instructions of an emulated program, for
 * instructions.py --aarch64:
 *
 *     qemu-aarch64 -plugin FILE.so,from=ADDRESS,to=ADDRESS,counts=FILE PROGRAM
 *
 * Counts from the start of the function at `from` to the next start of the one at `to`, and writes
 * one line per such stretch. Debian's qemu has the interface without its header, so what is used of
 * version 1 is declared here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* ---- The interface ---- */

typedef struct qemu_plugin_tb qemu_plugin_tb; /* instructions without a branch among them */

enum { NO_REGISTERS = 0, ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb *block, int operation, void *number,
                                              uint64_t operand);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb *block, void (*call)(unsigned, void *),
                                          int registers, void *context);

EXPORTED extern int qemu_plugin_version;
EXPORTED int qemu_plugin_install(uint64_t id, const void *machine, int count, char **arguments);

/* ---- Counting ---- */

static uint64_t from, to; /* addresses */
static uint64_t executed, executed_before;
static int is_counting;
static FILE *counts;

static void begin(unsigned processor, void *context)
{
    (void)processor;
    (void)context;
    executed_before = executed;
    is_counting = 1;
}

static void end(unsigned processor, void *context)
{
    (void)processor;
    (void)context;
    if (is_counting)
        fprintf(counts, "%" PRIu64 "\n", executed - executed_before);
    fflush(counts);
    is_counting = 0;
}

static void translate(uint64_t id, qemu_plugin_tb *block)
{
    (void)id;
    if (qemu_plugin_tb_vaddr(block) == from)
        qemu_plugin_register_vcpu_tb_exec_cb(block, begin, NO_REGISTERS, NULL);
    if (qemu_plugin_tb_vaddr(block) == to)
        qemu_plugin_register_vcpu_tb_exec_cb(block, end, NO_REGISTERS, NULL);
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(block));
}

int qemu_plugin_version = 1;

int qemu_plugin_install(uint64_t id, const void *machine, int count, char **arguments)
{
    (void)machine;
    for (int i = 0; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        if (!value)
            return 1;
        if (strncmp(arguments[i], "from=", 5) == 0)
            from = strtoull(value + 1, NULL, 0);
        else if (strncmp(arguments[i], "to=", 3) == 0)
            to = strtoull(value + 1, NULL, 0);
        else if (strncmp(arguments[i], "counts=", 7) == 0)
            counts = fopen(value + 1, "w");
    }
    if (!from || !to || !counts)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}

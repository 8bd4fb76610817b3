#include "audit.h"
#define STUB(n) int audit_run_##n(void *into, int argc, char **argv) { (void)into; (void)argc; (void)argv; cli_die(2, #n " is not here yet"); }
STUB(show) STUB(sessions) STUB(replay) STUB(stats) STUB(report) STUB(schema)

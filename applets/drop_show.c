/* drop_show.c - what would be done, and why
 * SPDX-License-Identifier: MIT
 */
#include "drop.h"

#include <unistd.h>

#include "namespaces.h"
#include "path.h"
#include "probe.h"

void drop_show_plan(const struct drop *o, const struct sandbox *s){(void)o;(void)s;}
void drop_show_path(const struct drop *o, const char *path){(void)o;(void)path;}
int drop_show_probe(const struct drop *o){(void)o;return 0;}

/* kconfig.h - configuration symbols as ordinary C values
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_KCONFIG_H
#define WARDBOX_KCONFIG_H

#include "autoconf.h"

/* 1 when the symbol is y, 0 when it is not defined, so that a feature is an
 * ordinary "if" whose dead side still compiles. */
#define IS_ENABLED(symbol) KCONFIG_SECOND_(symbol)
#define KCONFIG_PROBE_1 0,
#define KCONFIG_SECOND_(value) KCONFIG_PASTE_(value)
#define KCONFIG_PASTE_(value) KCONFIG_TAKE_(KCONFIG_PROBE_##value)
#define KCONFIG_TAKE_(...) KCONFIG_PICK_(__VA_ARGS__ 1, 0, 0)
#define KCONFIG_PICK_(ignored, value, ...) value

#endif

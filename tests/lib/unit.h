/* unit.h - what every unit test includes first
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_UNIT_H
#define WARDBOX_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif

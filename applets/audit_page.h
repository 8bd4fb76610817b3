/* audit_page.h - the page around a report's data
 * SPDX-License-Identifier: MIT
 */
#ifndef WARDBOX_APPLET_AUDIT_PAGE_H
#define WARDBOX_APPLET_AUDIT_PAGE_H

/* Between the two stands {"facts": text, "commands": [...]}. */
extern const char audit_page_head[], audit_page_tail[];

#endif

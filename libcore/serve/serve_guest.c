/* serve_guest.c - what who follows a command may do with it, by any front
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_server_in.h"

#include <errno.h>

#include "base/str.h"

enum { INPUT_ENOUGH = 256 << 10 }; /* waits for the command: no more is read */

static int refuse_guest(struct diag *d, int status, const char *why)
{
	diag_fail(d, -EACCES, "%s", why);
	return status;
}

static int start_one(const struct serve_guest *g, struct wire *w, struct diag *d)
{
	struct serve_command *command;

	if (!(g->who->roles & SERVE_RUN))
		return refuse_guest(d, 403, "the key may not run commands");
	if (api_start(g->server, g->who, g->session, w, &command, d))
		return 503;
	*g->own = !w->keep;
	serve_attach(command, g->reader);
	return 0;
}

static int attach_to(
	const struct serve_guest *g, const struct wire *w, struct diag *d)
{
	struct serve_command *command = serve_find(g->server->engine, w->id);

	if (!command || (command->orphan || command->own) ||
		!str_eq(command->session, g->session))
		return refuse_guest(d, 404, "there is no such command");
	*g->view = w->view || !(g->who->roles & SERVE_RUN);
	g->reader->looks = *g->view;
	for (enum serve_stream s = 0; s < SERVE_STREAMS; s++)
		g->reader->at[s] = w->at[s] < command->ring[s].end
			? w->at[s]
			: command->ring[s].end;
	serve_attach(command, g->reader);
	return 0;
}

/* Messages that a client may send once there is a command. */
static int do_with(
	const struct serve_guest *g, const struct wire *w, struct diag *d)
{
	struct serve_command *command = g->reader->command;

	if (w->type == WIRE_DETACH) {
		*g->own = false;
		return GUEST_LEFT;
	}
	if (*g->view)
		return refuse_guest(d, 403, "it is only looked at");
	if (w->type == WIRE_RESIZE)
		(void)serve_resize(command, w->rows, w->cols);
	else if (w->type == WIRE_SIGNAL)
		(void)serve_signal(command, w->signal);
	else if (w->type == WIRE_EOF)
		(void)serve_shut(command);
	else
		return refuse_guest(d, 409, "there is a command already");
	return 0;
}

int guest_do(const struct serve_guest *g, struct wire *w, struct diag *d)
{
	if (g->reader->command)
		return do_with(g, w, d);
	if (w->type == WIRE_START)
		return start_one(g, w, d);
	if (w->type == WIRE_ATTACH)
		return attach_to(g, w, d);
	return refuse_guest(d, 409, "there is no command yet");
}

int guest_type(const struct serve_guest *g, const char *bytes, size_t n,
	struct diag *d)
{
	if (!g->reader->command)
		return refuse_guest(d, 409, "there is no command yet");
	if (*g->view)
		return refuse_guest(d, 403, "no channel to write to");
	if (n && serve_write(g->reader->command, bytes, n) == -ENOBUFS)
		return refuse_guest(d, 429,
			"it does not read what was written before");
	return 0;
}

bool guest_full(const struct serve_guest *g)
{
	return g->reader->command &&
		g->reader->command->waiting.len > INPUT_ENOUGH;
}

void guest_leave(const struct serve_guest *g)
{
	struct serve_command *command = g->reader->command;

	serve_detach(g->reader);
	if (command && *g->own)
		serve_stop(command);
}

/* replay.c - gives every file of a corpus to a fuzz target, once
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	static uint8_t bytes[1 << 20];
	uint8_t *exact;
	size_t n;

	if (!f)
		return;
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	/* Of its exact size, so that a read past the end is seen. */
	exact = malloc(n ? n : 1);
	for (size_t i = 0; i < n; i++)
		exact[i] = bytes[i];
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

int main(int argc, char **argv)
{
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	struct dirent *e;
	char path[4096];
	unsigned count = 0;

	if (!dir) {
		printf("not ok - no corpus %s\n", argc > 1 ? argv[1] : "");
		return 1;
	}
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
		replay(path);
		count++;
	}
	closedir(dir);
	printf("ok - %u inputs\n", count);
	return 0;
}

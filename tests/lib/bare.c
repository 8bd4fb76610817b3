/* bare.c - the floor of what starting a program costs
 * SPDX-License-Identifier: MIT
 *
 * bare [ARG...]               does nothing
 * bare exec FILE [ARG...]     does nothing but execute FILE
 */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3 || strcmp(argv[1], "exec") != 0)
		return 0;
	execv(argv[2], argv + 2);
	return 127;
}

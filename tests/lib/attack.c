/* attack.c - ways out of a sandbox, one by one
 * SPDX-License-Identifier: MIT
 *
 * attack NAME [ARGUMENT...] prints "ok" when it got through, or the name of the
 * errno that stopped it, and exits 0 or 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char **words; /* the arguments behind the name */

static const char *word(int i)
{
	return words[i] ? words[i] : "";
}

static long number(int i)
{
	return strtol(word(i), NULL, 0);
}

/* Any system call: a number or a name of this list, numbers and =strings. */
static long a_sys(void)
{
	static const struct {
		const char *name;
		long nr;
	} names[] = {
		{"unshare", SYS_unshare},
		{"setns", SYS_setns},
		{"mount", SYS_mount},
		{"umount2", SYS_umount2},
		{"pivot_root", SYS_pivot_root},
		{"open_tree", 428},
		{"move_mount", 429},
		{"fsopen", 430},
		{"fsconfig", 431},
		{"fsmount", 432},
		{"fspick", 433},
		{"mount_setattr", 442},
		{"open_tree_attr", 467},
		{"io_uring_setup", 425},
		{"io_uring_enter", 426},
		{"io_uring_register", 427},
		{"clone3", 435},
		{"pidfd_getfd", 438},
		{"process_madvise", 440},
		{"bpf", SYS_bpf},
		{"perf_event_open", SYS_perf_event_open},
		{"userfaultfd", SYS_userfaultfd},
		{"add_key", SYS_add_key},
		{"request_key", SYS_request_key},
		{"keyctl", SYS_keyctl},
		{"open_by_handle_at", SYS_open_by_handle_at},
		{"syslog", SYS_syslog},
		{"init_module", SYS_init_module},
		{"finit_module", SYS_finit_module},
		{"delete_module", SYS_delete_module},
		{"kexec_load", SYS_kexec_load},
		{"reboot", SYS_reboot},
		{"swapon", SYS_swapon},
		{"acct", SYS_acct},
		{"quotactl", SYS_quotactl},
		{"chroot", SYS_chroot},
		{"sethostname", SYS_sethostname},
		{"settimeofday", SYS_settimeofday},
		{"clock_settime", SYS_clock_settime},
		{"shmget", SYS_shmget},
		{"shmctl", SYS_shmctl},
		{"semget", SYS_semget},
		{"msgget", SYS_msgget},
		{"mq_open", SYS_mq_open},
		{"socket", SYS_socket},
		{"socketpair", SYS_socketpair},
		{"personality", SYS_personality},
		{"setpriority", SYS_setpriority},
		{"ioprio_set", SYS_ioprio_set},
		{"memfd_create", SYS_memfd_create},
		{"chmod", SYS_fchmodat},
		{"ptrace", SYS_ptrace},
		{"mknodat", SYS_mknodat},
		{"linkat", SYS_linkat},
		{"renameat2", SYS_renameat2},
		{"getpid", SYS_getpid},
		{"prctl", SYS_prctl},
		{"add_rule", 445},
		{"future", 600},
	};
	long nr = -1, a[6] = {0};
	static int pair[2];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, word(0)) == 0)
			nr = names[i].nr;
	if (nr < 0)
		nr = strtol(word(0), NULL, 0);
	for (int i = 0; i < 6 && words[1] && words[i + 1]; i++)
		a[i] = words[i + 1][0] == '=' ? (long)(words[i + 1] + 1) :
		       words[i + 1][0] == '@' ? (long)pair :
						number(i + 1);
	return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#if defined(__x86_64__)
static long kernel_result(long r)
{
	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : r;
}

/* The 32-bit socket(AF_INET, SOCK_STREAM): another table of numbers. */
static long a_int80(void)
{
	long r = 359;

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 : "b"(2L), "c"(1L), "d"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return kernel_result((int)r);
}

static long a_x32(void)
{
	return syscall(0x40000000 + SYS_getpid);
}
#endif

static long a_tiocsti(void)
{
	int fd = open(word(0), O_RDWR | O_NOCTTY);
	char c = 'x';

	if (fd < 0)
		return -1;
	return syscall(SYS_ioctl, fd, 0x5412UL | (unsigned long)number(1) << 32,
		&c);
}

static long a_memfd(void)
{
	char *args[] = {"memfd", words[1], words[2], words[3], NULL};
	int from = open(word(0), O_RDONLY), fd = memfd_create("x", 0);
	char buf[65536], path[64];
	ssize_t n;

	if (fd < 0 || from < 0)
		return -1;
	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(fd, buf, (size_t)n) != n)
			return -1;
	syscall(SYS_execveat, fd, "", args, environ, AT_EMPTY_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return execve(path, args, environ);
}

static long net(int type, int protocol, int fastopen)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, type, protocol);

	if (fd < 0)
		return -1;
	if (fastopen)
		return sendto(fd, "x", 1, 0x20000000, (void *)&a, sizeof(a));
	if (type == SOCK_DGRAM)
		return sendto(fd, "x", 1, 0, (void *)&a, sizeof(a));
	return connect(fd, (void *)&a, sizeof(a));
}

static long a_tcp(void)
{
	return net(SOCK_STREAM, 0, 0);
}
static long a_mptcp(void)
{
	return net(SOCK_STREAM, 262, 0);
}
static long a_fastopen(void)
{
	return net(SOCK_STREAM, 0, 1);
}
static long a_udp(void)
{
	return net(SOCK_DGRAM, 0, 0);
}
static long a_fastopen_msg(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct iovec iov = {.iov_base = "x", .iov_len = 1};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &a,
				    .msg_namelen = sizeof(a),
				    .msg_iov = &iov,
				    .msg_iovlen = 1}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	return number(1) ? syscall(SYS_sendmmsg, fd, &m, 1, 0x20000000) :
			   sendmsg(fd, &m.msg_hdr, 0x20000000);
}

/* A listener; its port goes to stdout, then it waits. */
static long a_listen_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number(0)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) < 0 || listen(fd, 64) < 0 ||
		getsockname(fd, (void *)&a, &len) < 0)
		return -1;
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	if (words[1])
		return 0;
	fclose(stdout);
	for (;;)
		pause();
}

/* A path, or @NAME for an abstract one. */
static socklen_t address(struct sockaddr_un *a)
{
	const char *name = word(0);

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof(a->sun_path), "%s", name);
	if (name[0] == '@')
		a->sun_path[0] = '\0';
	return (socklen_t)(sizeof(sa_family_t) + strlen(name));
}

static long a_unix(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (void *)&a, len);
}

static long a_listen_unix(void)
{
	struct sockaddr_un a;
	socklen_t len = address(&a);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) < 0 || listen(fd, 64) < 0)
		return -1;
	puts("up");
	fclose(stdout);
	for (;;)
		pause();
}

static long a_prlimit(void)
{
	struct rlimit none = {0, 0};

	return prlimit((pid_t)number(0), RLIMIT_CPU,
		word(1)[0] == 'r' ? NULL : &none,
		word(1)[0] == 'r' ? &none : NULL);
}

static long a_affinity(void)
{
	unsigned long one = 1;

	return syscall(SYS_sched_setaffinity, number(0), sizeof(one), &one);
}

static long a_kill(void)
{
	return kill((pid_t)number(0), (int)number(1));
}

static long a_vmread(void)
{
	char c;
	struct iovec l = {&c, 1}, r = {(void *)environ, 1};

	return syscall(SYS_process_vm_readv, number(0), &l, 1, &r, 1, 0);
}

static long a_read(void)
{
	char c[64];
	int fd = open(word(0), O_RDONLY);

	return fd < 0 ? -1 : read(fd, c, sizeof(c)) < 0 ? -1 : 0;
}

static long a_creat(void)
{
	return open(word(0), O_WRONLY | O_CREAT, 0600);
}

static long a_write(void)
{
	return open(word(0), O_WRONLY);
}

static long a_truncate(void)
{
	return truncate(word(0), 1);
}

static long a_collapse(void)
{
	int fd = open(word(0), O_WRONLY);

	return fd < 0 ? -1 : fallocate(fd, 8, 0, 4096);
}

static long a_utime(void)
{
	return utimensat(AT_FDCWD, word(0), NULL, 0);
}

static long a_ioctl_dev(void)
{
	int fd = open(word(0), O_RDONLY | O_NONBLOCK);
	char room[256];

	return fd < 0 ? -1 : ioctl(fd, 0x5401 /* TCGETS */, room);
}

/* Takes SIZE MiB of memory and touches it. */
static long a_alloc(void)
{
	for (long i = 0; i < number(0); i++) {
		char *p = malloc(1 << 20);

		if (!p)
			return -1;
		memset(p, 1, 1 << 20);
	}
	return 0;
}

static long a_memfd_fill(void)
{
	int fd = memfd_create("x", 8);
	static char mib[1 << 20];

	for (long i = 0; fd >= 0 && i < number(0); i++)
		if (write(fd, mib, sizeof(mib)) != sizeof(mib))
			return -1;
	return fd < 0 ? -1 : 0;
}

/* Forks N children that stay; prints how many it got. */
static long a_forks(void)
{
	long n = 0;
	pid_t pid;

	while (n < number(0) && (pid = fork()) >= 0) {
		if (pid == 0) {
			sleep(20);
			_exit(0);
		}
		n++;
	}
	printf("%ld ", n);
	if (words[1])
		sleep(5);
	return n < number(0) ? -1 : 0;
}

static void *sleeper(void *arg)
{
	sleep(20);
	return arg;
}

static long a_threads(void)
{
	pthread_attr_t attr;
	pthread_t t;
	long n = 0;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (n < number(0) &&
		(err = pthread_create(&t, &attr, sleeper, NULL)) == 0)
		n++;
	printf("%ld ", n);
	errno = err;
	return err ? -1 : 0;
}

static long a_fds(void)
{
	long n = 0;

	while (n < number(0) && dup(0) >= 0)
		n++;
	return n < number(0) ? -1 : 0;
}

static long a_spin(void)
{
	for (volatile long i = 0;; i++)
		;
}

/* setsid, twice forked: belongs to nobody. */
static long a_daemon(void)
{
	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	for (int i = 0; i < 3; i++)
		close(i);
	execlp("sleep", word(0), word(1), NULL);
	_exit(1);
}

/* How many fds are open beyond 2. */
static long a_open_fds(void)
{
	int n = 0;

	for (int fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	printf("%d ", n);
	return 0;
}

static void *run_thread(void *arg);

/* The same from another thread. */
static long a_thread(void)
{
	pthread_t t;
	void *r;

	if (pthread_create(&t, NULL, run_thread, NULL))
		return -1;
	pthread_join(t, &r);
	errno = (int)(intptr_t)r;
	return r ? -1 : 0;
}

/* Swaps the path between the look and the run: prints how often the second
 * program ran in N attempts. The two paths are of one length. */
static struct {
	char path[256];
	const char *a, *b;
	int stop;
} race;

static void *swap(void *arg)
{
	size_t n = strlen(race.a);

	while (!race.stop) {
		memcpy(race.path, race.a, n);
		for (volatile int i = 0; i < 300; i++)
			;
		memcpy(race.path, race.b, n);
		for (volatile int i = 0; i < 300; i++)
			;
	}
	return arg;
}

static long a_race(void)
{
	long won = 0;

	race.a = word(1);
	race.b = word(2);
	snprintf(race.path, sizeof(race.path), "%s", race.a);
	for (long i = 0; i < number(0); i++) {
		pid_t pid = fork();
		int st;

		if (pid == 0) {
			char *args[] = {race.path, NULL};
			pthread_t t;

			pthread_create(&t, NULL, swap, NULL);
			for (int k = 0; k < 20; k++)
				execve(race.path, args, environ);
			_exit(0);
		}
		waitpid(pid, &st, 0);
		won += WIFEXITED(st) && WEXITSTATUS(st) == 42;
	}
	printf("%ld ", won);
	return won ? 0 : -1;
}

static long a_exit(void)
{
	exit((int)number(0));
}

static long a_inside(void)
{
	return prctl(0x57415244, 0, 0, 0, 0) < 0 && errno == 2827 ? 0 : -1;
}

/* A listener of one's own, inside. */
static long a_listener(void)
{
	struct {
		unsigned short code;
		unsigned char jt, jf;
		unsigned k;
	} code = {6, 0, 0, 0x7fff0000};
	struct {
		unsigned short len;
		void *filter;
	} prog = {1, &code};

	return syscall(SYS_seccomp, 1, 8, &prog);
}

static long a_chdir_up(void)
{
	int fd = open(word(0), O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	return openat(fd, word(1), O_WRONLY | O_CREAT, 0600);
}

static const struct {
	const char *name;
	long (*run)(void);
} attacks[] = {
	{"sys", a_sys},
#if defined(__x86_64__)
	{"int80", a_int80},
	{"x32", a_x32},
#endif
	{"tiocsti", a_tiocsti},
	{"memfd", a_memfd},
	{"tcp", a_tcp},
	{"mptcp", a_mptcp},
	{"fastopen", a_fastopen},
	{"fastopen-msg", a_fastopen_msg},
	{"udp", a_udp},
	{"listen-tcp", a_listen_tcp},
	{"unix", a_unix},
	{"listen-unix", a_listen_unix},
	{"prlimit", a_prlimit},
	{"affinity", a_affinity},
	{"kill", a_kill},
	{"vmread", a_vmread},
	{"read", a_read},
	{"creat", a_creat},
	{"write", a_write},
	{"truncate", a_truncate},
	{"collapse", a_collapse},
	{"utime", a_utime},
	{"ioctl-dev", a_ioctl_dev},
	{"alloc", a_alloc},
	{"memfd-fill", a_memfd_fill},
	{"forks", a_forks},
	{"threads", a_threads},
	{"fds", a_fds},
	{"spin", a_spin},
	{"daemon", a_daemon},
	{"open-fds", a_open_fds},
	{"thread", a_thread},
	{"race", a_race},
	{"exit", a_exit},
	{"inside", a_inside},
	{"listener", a_listener},
	{"at", a_chdir_up},
};

static long run(const char *name)
{
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++)
		if (strcmp(attacks[i].name, name) == 0)
			return attacks[i].run();
	errno = ENOTSUP;
	return -1;
}

static void *run_thread(void *arg)
{
	const char *name = word(0);

	(void)arg;
	words++;
	return (void *)(intptr_t)(run(name) < 0 ? errno : 0);
}

static const char *error_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{EPERM, "EPERM"},
		{EACCES, "EACCES"},
		{ENOSYS, "ENOSYS"},
		{ENOENT, "ENOENT"},
		{EBUSY, "EBUSY"},
		{EROFS, "EROFS"},
		{EXDEV, "EXDEV"},
		{EAFNOSUPPORT, "EAFNOSUPPORT"},
		{ECONNREFUSED, "ECONNREFUSED"},
		{EAGAIN, "EAGAIN"},
		{EMFILE, "EMFILE"},
		{ESRCH, "ESRCH"},
		{EINVAL, "EINVAL"},
		{EBADF, "EBADF"},
		{EFAULT, "EFAULT"},
		{ENOTTY, "ENOTTY"},
		{EBADFD, "EBADFD"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].err == err)
			return names[i].name;
	return strerror(err);
}

int main(int argc, char **argv)
{
	long r;

	if (argc < 2)
		return 2;
	words = argv + 2;
	r = run(argv[1]);
	puts(r < 0 ? error_name(errno) : "ok");
	return r < 0;
}

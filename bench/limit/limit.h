/* What the reference programs share: arguments as key=value, sockets, a clock.
 * Each program is one idea in plain C with the fewest system calls known to do
 * it, so that its figure is what this machine can carry. It checks nothing that
 * a measuring tool must check. A failed call ends the program with a sentence. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int argument_count;
static char **arguments;

/* The value of key= on the command line, or otherwise. */
static inline const char *text(const char *key, const char *otherwise) {
	size_t n = strlen(key);
	for (int i = 1; i < argument_count; i++)
		if (!strncmp(arguments[i], key, n) && arguments[i][n] == '=') return arguments[i] + n + 1;
	return otherwise;
}

static inline double number(const char *key, double otherwise) {
	const char *s = text(key, NULL);
	return s ? atof(s) : otherwise;
}

static inline long must(long result, const char *doing) {
	if (result < 0) {
		perror(doing);
		exit(1);
	}
	return result;
}

static inline int64_t now(void) { /* nanoseconds, monotonic */
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void rest(long ns) {
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}

static inline struct sockaddr_in address(void) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number("port", 7790))};
	if (inet_pton(AF_INET, text("host", "127.0.0.1"), &a.sin_addr) != 1) {
		fprintf(stderr, "host= is no IPv4 address\n");
		exit(1);
	}
	return a;
}

static inline void option(int fd, int level, int name, int value) {
	must(setsockopt(fd, level, name, &value, sizeof value), "setsockopt");
}

/* A TCP socket with cubic, and with a send queue of queue= and a receive buffer of
 * window= bytes where those are given. */
static inline int tcp_socket(void) {
	int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
	must(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5), "setsockopt cubic");
	int queue = number("queue", 0);
	if (queue && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &queue, sizeof queue)) /* not privileged */
		option(fd, SOL_SOCKET, SO_SNDBUF, queue);
	if (number("window", 0)) option(fd, SOL_SOCKET, SO_RCVBUF, number("window", 0));
	return fd;
}

static inline int listening(int fd) {
	struct sockaddr_in a = address();
	option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	must(bind(fd, (struct sockaddr *)&a, sizeof a), "bind");
	return fd;
}

static inline int connected(int fd) {
	struct sockaddr_in a = address();
	must(connect(fd, (struct sockaddr *)&a, sizeof a), "connect");
	return fd;
}

/* 2 MiB aligned memory, in huge pages where the kernel has them: pages that lie
 * side by side travel as one fragment. */
static inline char *memory(size_t bytes) {
	const size_t huge = 2 << 20;
	char *p = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) must(-1, "mmap");
	p = (char *)(((uintptr_t)p + huge - 1) & ~(huge - 1));
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0x5a, bytes);
	return p;
}

static inline void start(int argc, char **argv) {
	argument_count = argc;
	arguments = argv;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

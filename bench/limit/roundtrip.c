/* Round trips from program to program: a message there, the same back.
 *
 *   roundtrip role=echo protocol=tcp|udp size=B [spin=1]
 *   roundtrip role=ask  protocol=tcp|udp size=B [spin=1] seconds=S host=A
 *   roundtrip role=ask  protocol=tcp|udp size=B spin=1 rate=N seconds=S host=A
 *
 * Blocking, or spinning on a non-blocking socket at both ends. The clock is read
 * once a round trip: the end of one is the start of the next. With a rate, messages
 * are sent on a schedule, independent of replies, and the output is how late they are sent. */
#include "limit.h"

static int size, wait_flag;

static ssize_t whole(int fd, char *into, int stream) { /* one message, however it arrives */
	for (ssize_t got = 0;;) {
		ssize_t n = recv(fd, into + got, size - got, wait_flag);
		if (n < 0 && errno == EAGAIN) continue;
		if (n <= 0) return n;
		got += n;
		if (!stream || got == size) return got;
	}
}

static void echo(int stream, char *message) {
	int fd = listening(stream ? tcp_socket() : must(socket(AF_INET, SOCK_DGRAM, 0), "socket"));
	if (stream) must(listen(fd, 1), "listen");
	printf("ready\n");
	if (stream) {
		fd = must(accept(fd, NULL, NULL), "accept");
		option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	} else { /* connect to the first that asks, as its answers need no address then */
		struct sockaddr_in peer;
		socklen_t length = sizeof peer;
		must(recvfrom(fd, message, size, 0, (struct sockaddr *)&peer, &length), "recvfrom");
		must(connect(fd, (struct sockaddr *)&peer, length), "connect");
		must(send(fd, message, size, 0), "send");
	}
	while (whole(fd, message, stream) > 0)
		if (send(fd, message, size, 0) < 0) return;
}

static int ascending(const void *a, const void *b) {
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static const size_t most = 8 << 20; /* figures of a run */

/* One after the other; n figures of how long each took, ns. */
static size_t closed(int fd, int stream, char *message, uint32_t *took) {
	int64_t before = now(), end = before + (int64_t)(number("seconds", 2) * 1e9);
	size_t n = 0;
	while (before < end && n < most) {
		if (send(fd, message, size, 0) < 0 || whole(fd, message, stream) <= 0) break;
		int64_t after = now();
		took[n++] = after - before;
		before = after;
	}
	return n;
}

/* On a schedule; n figures of how late each left, ns. */
static size_t scheduled(int fd, char *message, uint32_t *late, double gap) {
	int64_t begin = now(), end = begin + (int64_t)(number("seconds", 2) * 1e9);
	size_t n = 0;
	for (int64_t at = begin; at < end && n < most; at = begin + (int64_t)(n * gap)) {
		int64_t t;
		while ((t = now()) < at) /* whatever has come back is out of the way */
			if (recv(fd, message, size, MSG_DONTWAIT) < 0 && errno != EAGAIN) return n;
		if (send(fd, message, size, 0) < 0) break;
		late[n++] = t - at;
	}
	return n;
}

static void ask(int stream, char *message) {
	int fd = connected(stream ? tcp_socket() : must(socket(AF_INET, SOCK_DGRAM, 0), "socket"));
	if (stream) option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	double rate = number("rate", 0);
	uint32_t *ns = (uint32_t *)memory(most * sizeof *ns);
	size_t n = rate ? scheduled(fd, message, ns, 1e9 / rate) : closed(fd, stream, message, ns);
	if (n == 0) must(-1, "no round trip");
	qsort(ns, n, sizeof *ns, ascending);
	printf("count=%zu %sp50_ns=%u p99_ns=%u p999_ns=%u max_ns=%u\n", n, rate ? "late=1 " : "", ns[n / 2], ns[(size_t)(n * 0.99)],
	       ns[(size_t)(n * 0.999)], ns[n - 1]);
}

int main(int argc, char **argv) {
	start(argc, argv);
	size = number("size", 64);
	wait_flag = number("spin", 0) ? MSG_DONTWAIT : 0;
	int stream = !strcmp(text("protocol", "tcp"), "tcp");
	char *message = memory(65536);
	if (!strcmp(text("role", "echo"), "echo")) echo(stream, message);
	else ask(stream, message);
	return 0;
}

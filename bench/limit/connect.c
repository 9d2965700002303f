/* Connections per second: open, wait for accept, close, repeat.
 *
 *   connect role=accept seconds=S [threads=T]
 *   connect role=open   seconds=S [threads=T] host=A
 *
 * The opener ends each connection with a reset (SO_LINGER of zero), so that no
 * connection is in TIME_WAIT and ports do not run out. Only connections that the
 * other end has accepted and closed are counted. */
#include "limit.h"

static int64_t end;

static void *open_and_close(void *unused) {
	(void)unused;
	int64_t done = 0;
	struct linger reset = {1, 0};
	char byte;
	while (now() < end) {
		int fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		connected(fd);
		if (recv(fd, &byte, 1, 0) == 0) done++;
		close(fd);
	}
	return (void *)(intptr_t)done;
}

static void accept_and_close(int listener) {
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) close(fd);
	}
}

int main(int argc, char **argv) {
	start(argc, argv);
	if (!strcmp(text("role", "accept"), "accept")) { /* ended by whoever started it */
		int listener = listening(tcp_socket());
		must(listen(listener, 1024), "listen");
		printf("ready\n");
		accept_and_close(listener);
	}
	int threads = number("threads", 1);
	int64_t begin = now(), total = 0;
	end = begin + (int64_t)(number("seconds", 2) * 1e9);
	pthread_t t[256];
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, open_and_close, NULL)) must(-1, "thread");
	for (int i = 0; i < threads; i++) {
		void *done;
		pthread_join(t[i], &done);
		total += (intptr_t)done;
	}
	printf("connections=%lld ns=%lld\n", (long long)total, (long long)(now() - begin));
	return 0;
}

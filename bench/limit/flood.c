/* UDP packets per second: datagrams of one size without a rate limit, counted at
 * the receiver.
 *
 *   flood role=sink   seconds=S size=B [gro=1]
 *   flood role=source seconds=S size=B host=A [gso=1] [batch=N]
 *
 * Plain: sendmmsg and recvmmsg, one batch per call. With gso one send hands the
 * kernel up to 128 datagrams in one buffer (UDP_SEGMENT), with gro it hands back
 * as many (UDP_GRO). */
#include "limit.h"
#define most 128 /* UDP_MAX_SEGMENTS */

static int size, batch;

/* A batch of messages over one buffer; with segmentation each is a train. */
static struct mmsghdr *messages(int bytes_each, int controls) {
	struct mmsghdr *m = calloc(batch, sizeof *m);
	struct iovec *v = calloc(batch, sizeof *v);
	char *buffer = memory((size_t)bytes_each * batch), *control = calloc(batch, 64);
	for (int i = 0; i < batch; i++) {
		v[i] = (struct iovec){buffer + (size_t)i * bytes_each, bytes_each};
		m[i].msg_hdr = (struct msghdr){.msg_iov = v + i, .msg_iovlen = 1,
					       .msg_control = controls ? control + i * 64 : NULL,
					       .msg_controllen = controls ? 64 : 0};
	}
	return m;
}

static void source(int gso) {
	int fd = connected(must(socket(AF_INET, SOCK_DGRAM, 0), "socket")), train = 1;
	option(fd, SOL_SOCKET, SO_SNDBUF, 4 << 20);
	if (gso) {
		train = 65507 / size < most ? 65507 / size : most;
		option(fd, IPPROTO_UDP, UDP_SEGMENT, size);
		batch = 1;
	}
	struct mmsghdr *m = messages(size * train, 0);
	int64_t end = now() + (int64_t)(number("seconds", 2) * 1e9), sent = 0;
	for (int calls = 0; (calls & 15) || now() < end; calls++) {
		int n = sendmmsg(fd, m, batch, 0);
		if (n > 0) sent += (int64_t)n * train;
		else if (errno != ECONNREFUSED && errno != ENOBUFS && errno != EAGAIN) must(n, "sendmmsg");
	}
	printf("packets=%lld\n", (long long)sent);
}

/* How many datagrams are in one that GRO may have put together. */
static int segments(struct mmsghdr *m) {
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m->msg_hdr); c; c = CMSG_NXTHDR(&m->msg_hdr, c))
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int each;
			memcpy(&each, CMSG_DATA(c), sizeof each);
			return each > 0 ? (m->msg_len + each - 1) / each : 1;
		}
	return 1;
}

static void sink(int gro) {
	int fd = listening(must(socket(AF_INET, SOCK_DGRAM, 0), "socket"));
	option(fd, SOL_SOCKET, SO_RCVBUF, 4 << 20);
	option(fd, SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20);
	if (gro) option(fd, IPPROTO_UDP, UDP_GRO, 1);
	if (gro) batch = 4; /* few buffers stay in the cache */
	struct mmsghdr *m = messages(gro ? 65536 : size, gro);
	int64_t seconds = number("seconds", 2) * 1e9, packets = 0, begin = 0, last = 0;
	struct timeval patience = {.tv_usec = 300000};
	must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), "timeout");
	printf("ready\n");
	for (int64_t waited = now(); now() - waited < seconds + 5000000000LL;) {
		int n = recvmmsg(fd, m, batch, MSG_WAITFORONE, NULL);
		if (n <= 0 && begin) break; /* the source has ended */
		if (n <= 0) continue;
		last = now();
		if (!begin) begin = last;
		for (int i = 0; i < n; i++) {
			packets += gro ? segments(&m[i]) : 1;
			m[i].msg_hdr.msg_controllen = gro ? 64 : 0;
		}
	}
	printf("packets=%lld ns=%lld\n", (long long)packets, (long long)(last - begin));
}

int main(int argc, char **argv) {
	start(argc, argv);
	size = number("size", 64);
	batch = number("batch", 64);
	if (!strcmp(text("role", "sink"), "sink")) sink(number("gro", 0));
	else source(number("gso", 0));
	return 0;
}

package main

import (
	"fmt"

	m "soku/internal/measure"
)

// cases are the labelled trials. A label that is not listed cannot be made by namespaces.
func cases(d *drawing) []testCase {
	var out []testCase
	add := func(c testCase) { out = append(out, c) }
	tcp := func(name string, label m.Bottleneck, topology, format string, args ...any) *testCase {
		add(testCase{Name: name, Labels: []m.Bottleneck{label}, Topology: topology, Test: m.TestTCP, Flags: flags("-t 4 "+format, args...)})
		return &out[len(out)-1]
	}
	udp := func(name string, label m.Bottleneck, topology, format string, args ...any) *testCase {
		add(testCase{Name: name, Labels: []m.Bottleneck{label}, Topology: topology, Test: m.TestUDP, Flags: flags("-t 4 "+format, args...)})
		return &out[len(out)-1]
	}
	connect := func(name string, label m.Bottleneck, topology, format string, args ...any) *testCase {
		add(testCase{Name: name, Labels: []m.Bottleneck{label}, Topology: topology, Test: m.TestConnect, Flags: flags("-t 3 "+format, args...)})
		return &out[len(out)-1]
	}
	rate := func(v float64) string { return "rate: " + d.mbps(v) }
	delay := func(v float64) string { return "delay: " + d.ms(v) }

	// A cap with a queue.
	tcp("shaper-20M-5ms", m.BottleneckPathShaper, through(rate(20), delay(5)), "--congestion cubic").Quick = true
	tcp("shaper-20M-5ms-bbr", m.BottleneckPathShaper, through(rate(20), delay(5)), "--congestion bbr")
	tcp("shaper-100M-10ms-8", m.BottleneckPathShaper, through(rate(100), delay(10)), "--congestion cubic -P 8")
	tcp("shaper-100M-10ms-bbr-8", m.BottleneckPathShaper, through(rate(100), delay(10)), "--congestion bbr -P 8")
	tcp("shaper-200M-2ms", m.BottleneckPathShaper, through(rate(200), delay(2)), "--congestion cubic")
	tcp("shaper-50M-30ms", m.BottleneckPathShaper, through(rate(50)+", queue: 60ms", delay(30)), "-t 6 --congestion cubic")
	tcp("shaper-5M-20ms", m.BottleneckPathShaper, through(rate(5), delay(20)), "--congestion cubic")
	// So many streams that each has few packets, for as long as trials of a campaign may be.
	tcp("shaper-65M-5ms-32", m.BottleneckPathShaper, through(rate(65), delay(5)), "--congestion cubic -P 32")
	tcp("shaper-65M-5ms-32-short", m.BottleneckPathShaper, through(rate(65), delay(5)), "-t 1 --congestion cubic -P 32")
	tcp("shaper-20M-5ms-10-short", m.BottleneckPathShaper, through(rate(20), delay(5)), "-t 1 --congestion cubic -P 10")
	tcp("shaper-100M-htb-reverse", m.BottleneckPathShaper, through(delay(8), "shaper: htb, "+rate(100)), "-R --congestion cubic")
	tcp("shaper-100M-0ms", m.BottleneckPathShaper, through(rate(100), ""), "--congestion cubic")
	tcp("shaper-100M-0ms-bbr", m.BottleneckPathShaper, through(rate(100), ""), "--congestion bbr")
	udp("shaper-udp-30M", m.BottleneckPathShaper, through(rate(30), delay(10)), "--rate 100M").Quick = true
	udp("shaper-udp-100M-queue", m.BottleneckPathShaper, through(rate(100)+", queue: 50ms", delay(3)), "--rate 250M")

	// A cap without a queue, of bytes.
	police := func(v float64) string { return "police: " + d.mbps(v) + ", policer: bytes" }
	tcp("policer-50M-20ms", m.BottleneckPathPolicer, through(police(50), delay(20)), "--congestion cubic").Quick = true
	tcp("policer-50M-20ms-bbr", m.BottleneckPathPolicer, through(police(50), delay(20)), "--congestion bbr")
	tcp("policer-20M-10ms-8", m.BottleneckPathPolicer, through(police(20), delay(10)), "--congestion cubic -P 8")
	tcp("policer-50M-10ms-32", m.BottleneckPathPolicer, through(police(50), delay(10)), "--congestion cubic -P 32")
	tcp("policer-100M-5ms", m.BottleneckPathPolicer, through(police(100), delay(5)), "--congestion cubic")
	tcp("policer-100M-5ms-bbr-8", m.BottleneckPathPolicer, through(police(100), delay(5)), "--congestion bbr -P 8")
	tcp("policer-10M-30ms-reverse", m.BottleneckPathPolicer, through("", police(10)+", "+delay(30)), "-R --congestion cubic")
	udp("policer-udp-40M", m.BottleneckPathPolicer, through(police(40), delay(5)), "--rate 80M").Quick = true
	udp("policer-udp-small", m.BottleneckPathPolicer, through(police(10), delay(5)), "--rate 20M --size 400")

	// A cap of packets, small ones counted as well. A policer that never drops keeps the kernel
	// from moving several as one.
	single := ", police: 200G"
	tcp("packets-3000-10ms", m.BottleneckPacketRate, through("", delay(10)+single), "--congestion cubic").Disturb = []disturbance{packetLimit(d.about(3000))}
	udp("packets-udp-200B", m.BottleneckPacketRate, through("", delay(10)+single), "--rate 30M --size 200").Disturb = []disturbance{packetLimit(d.about(5000))}
	udp("packets-udp-1400B", m.BottleneckPacketRate, through("", delay(10)+single), "--rate 100M").Disturb = []disturbance{packetLimit(d.about(4000))}

	// Losses by chance.
	loss := func(v float64) string { return "loss: " + d.percent(v) + ", reverse: {loss: 0}" }
	tcp("loss-1%-10ms", m.BottleneckPathLoss, through(loss(1), delay(10)), "--congestion cubic").Quick = true
	tcp("loss-0.1%-30ms", m.BottleneckPathLoss, through(loss(0.1), delay(30)), "-t 6 --congestion cubic")
	tcp("loss-3%-5ms", m.BottleneckPathLoss, through(loss(3), delay(5)), "--congestion cubic")
	tcp("loss-0.5%-20ms-8", m.BottleneckPathLoss, through(loss(0.5), delay(20)), "--congestion cubic -P 8")
	tcp("loss-8%-10ms-8", m.BottleneckPathLoss, through(loss(8), delay(10)), "--congestion cubic -P 8")
	tcp("loss-4%-10ms-32", m.BottleneckPathLoss, through(loss(4), delay(10)), "--congestion cubic -P 32")
	tcp("loss-2%-20ms-4-reverse", m.BottleneckPathLoss, through("", "reverse: {loss: "+d.percent(2)+"}, "+delay(20)), "-R --congestion cubic -P 4").Topology =
		through("", "loss: 0, reverse: {loss: "+d.percent(2)+"}, "+delay(20))
	tcp("loss-25%-10ms-bbr", m.BottleneckPathLoss, through("loss: 25%, reverse: {loss: 0}", delay(10)), "--congestion bbr")
	tcp("loss-1%-10ms-bbr", m.BottleneckPathLoss, through(loss(1), delay(10)), "--congestion bbr").Quick = true
	tcp("loss-1%-20ms-bbr", m.BottleneckPathLoss, through(loss(1), delay(20)), "--congestion bbr")
	tcp("loss-0.3%-10ms-bbr", m.BottleneckPathLoss, through(loss(0.3), delay(10)), "--congestion bbr")
	udp("loss-udp-2%", m.BottleneckPathLoss, through(loss(2), delay(5)), "--rate 50M").Quick = true
	udp("loss-udp-10%-4", m.BottleneckPathLoss, through(loss(10), delay(5)), "--rate 40M -P 4")

	// The receiver's window.
	window := func(bytes float64) string {
		b := d.bytes(bytes)
		return sysctl("net.ipv4.tcp_rmem: 4096 " + b + " " + b)
	}
	tcp("window-64k-20ms", m.BottleneckReceiveWindow, direct(delay(20), "", window(65536)), "--congestion cubic").Quick = true
	tcp("window-64k-20ms-bbr", m.BottleneckReceiveWindow, direct(delay(20), "", window(65536)), "--congestion bbr")
	tcp("window-256k-40ms", m.BottleneckReceiveWindow, direct(delay(40), "", window(262144)), "--congestion cubic")
	tcp("window-32k-10ms-8", m.BottleneckReceiveWindow, direct(delay(10), "", window(32768)), "--congestion cubic -P 8")
	tcp("window-128k-10ms-reverse", m.BottleneckReceiveWindow, direct(delay(10), window(131072), ""), "-R --congestion cubic")

	// The sender's buffer.
	buffer := func(bytes float64) string {
		b := d.bytes(bytes)
		return sysctl("net.ipv4.tcp_wmem: 4096 " + b + " " + b)
	}
	tcp("buffer-64k-20ms", m.BottleneckSendBuffer, direct(delay(20), buffer(65536), ""), "--congestion cubic").Quick = true
	tcp("buffer-128k-40ms", m.BottleneckSendBuffer, direct(delay(40), buffer(131072), ""), "--congestion cubic")
	tcp("buffer-64k-20ms-bbr", m.BottleneckSendBuffer, direct(delay(20), buffer(65536), ""), "--congestion bbr")
	tcp("buffer-48k-15ms-8", m.BottleneckSendBuffer, direct(delay(15), buffer(49152), ""), "--congestion cubic -P 8")

	// The rate that was asked for.
	tcp("rate-20M-10ms", m.BottleneckApplication, through(rate(300), delay(10)), "--congestion cubic --rate %s", d.mbps(20)).Quick = true
	tcp("rate-80M-1ms-8", m.BottleneckApplication, through("", delay(1)), "--congestion cubic -P 8 --rate %s", d.mbps(80))
	tcp("rate-10M-30ms-bbr", m.BottleneckApplication, through(rate(100), delay(30)), "--congestion bbr --rate %s", d.mbps(10))
	udp("rate-udp-50M", m.BottleneckApplication, through(rate(300), delay(5)), "--rate %s", d.mbps(50))
	connect("rate-connect-500", m.BottleneckApplication, direct(delay(2), "", ""), "--request-rate %s", d.bytes(500))
	connect("rate-connect-2000", m.BottleneckApplication, direct(delay(1), "", ""), "--request-rate %s", d.bytes(2000))

	// Over before anything limits it.
	amount := func(name, format string, args ...any) {
		add(testCase{Name: name, Labels: []m.Bottleneck{m.BottleneckNone}, Topology: direct(fmt.Sprintf(format, args...), "", ""), Test: m.TestTCP})
	}
	amount("amount-200k-20ms", "delay: %s", d.ms(20))
	out[len(out)-1].Flags = flags("--bytes %s --congestion cubic", d.bytes(200e3))
	amount("amount-100k-5ms", "delay: %s", d.ms(5))
	out[len(out)-1].Flags = flags("--bytes %s --congestion bbr", d.bytes(100e3))
	amount("amount-500k-50ms", "delay: %s", d.ms(50))
	out[len(out)-1].Flags = flags("--bytes %s --congestion cubic", d.bytes(500e3))

	// A cap of each flow.
	flow := func(name string, mbps float64, ms float64, options string) *testCase {
		c := tcp(name, m.BottleneckFlowCap, through("", delay(ms)), options)
		c.Disturb = []disturbance{flowLimit(d.about(mbps) * 1e6)}
		return c
	}
	flow("flow-20M-10ms-4", 20, 10, "--congestion cubic -P 4").Quick = true
	flow("flow-10M-5ms-8", 10, 5, "--congestion cubic -P 8")
	flow("flow-20M-10ms-4-bbr", 20, 10, "--congestion bbr -P 4")
	flow("flow-30M-10ms-1", 30, 10, "--congestion cubic")

	// Flows hashed over paths of which one is slower.
	paths := func(slow, fast, ms float64) string {
		return "hosts:\n  client:\n  server: {server: true}\nrouters:\n  near:\n  far:\nlinks:\n" +
			"  - {from: client, to: near, " + delay(ms) + "}\n" +
			"  - {from: near, to: far, name: slow, " + rate(slow) + "}\n" +
			"  - {from: near, to: far, name: fast, " + rate(fast) + "}\n" +
			"  - {from: far, to: server}\n"
	}
	tcp("hashing-10M-50M-8", m.BottleneckFlowHashing, paths(10, 50, 5), "--congestion cubic -P 8")
	tcp("hashing-20M-100M-8-bbr", m.BottleneckFlowHashing, paths(20, 100, 5), "--congestion bbr -P 8")
	tcp("hashing-10M-80M-6", m.BottleneckFlowHashing, paths(10, 80, 10), "--congestion cubic -P 6")

	// Other traffic on the client's interface, or of others in the same queue.
	shared := func(mbps, ms float64) string {
		return "hosts:\n  client:\n  other:\n  server: {server: true}\n  sink: {server: true}\nrouters:\n  near:\n  far:\nlinks:\n" +
			"  - {from: client, to: near, " + delay(ms) + "}\n  - {from: other, to: near, " + delay(ms) + "}\n" +
			"  - {from: near, to: far, " + rate(mbps) + "}\n  - {from: far, to: server}\n  - {from: far, to: sink}\n"
	}
	competing := func(name string, test m.Test, mbps, ms float64, from, other, options string) *testCase {
		add(testCase{Name: name, Labels: []m.Bottleneck{m.BottleneckCompetingTraffic}, Topology: shared(mbps, ms), Test: test,
			Flags: flags("-t 4 %s", options), Disturb: []disturbance{traffic(from, other)}})
		return &out[len(out)-1]
	}
	competing("competing-udp", m.TestTCP, 100, 10, "client", "udp sink --rate "+d.mbps(40), "--congestion cubic").Quick = true
	competing("competing-tcp-2", m.TestTCP, 100, 5, "client", "tcp sink -P 2 --congestion cubic", "--congestion cubic")
	competing("competing-tcp-bbr", m.TestTCP, 60, 10, "client", "tcp sink -P 2 --congestion bbr", "--congestion bbr")
	competing("competing-of-udp", m.TestUDP, 55, 5, "client", "udp sink --rate "+d.mbps(35), "--rate 50M")
	competing("competing-hidden-tcp-4", m.TestTCP, 50, 10, "other", "tcp sink -P 4 --congestion cubic", "--congestion cubic")

	// A higher rate until a credit is used up, after 1 to 2.5 s.
	credit := func(high, low, ms float64) string {
		high, low = d.about(high), d.about(low)
		megabits := (high - low) * d.about(1.6)
		return through(fmt.Sprintf("rate: %.0fk, burst: %.0f", low*1000, megabits*1e6/8), fmt.Sprintf("rate: %.0fk, ", high*1000)+delay(ms))
	}
	first := len(out)
	tcp("burst-100M-20M", m.BottleneckBurstAllowance, credit(100, 20, 3), "-t 5 --congestion cubic").Quick = true
	tcp("burst-200M-50M-bbr", m.BottleneckBurstAllowance, credit(200, 50, 3), "-t 5 --congestion bbr")
	tcp("burst-80M-20M-4", m.BottleneckBurstAllowance, credit(80, 20, 5), "-t 5 --congestion cubic -P 4")
	udp("burst-udp-80M-20M", m.BottleneckBurstAllowance, credit(80, 20, 3), "-t 5 --rate 150M")
	for i := range out[first:] {
		out[first+i].Fresh = true // a trial uses the credit up
	}

	// Packets that are too large for a link in the middle, and a firewall that drops the ICMP
	// messages that say so. The way back is another one.
	hole := func(mtu, probing string) string {
		return "hosts:\n  client: {" + sysctl("net.ipv4.tcp_mtu_probing: "+probing) + "}\n  server: {server: true}\n" +
			"routers:\n  near: {firewall: {block: [icmp]}}\n  middle:\n  far:\nlinks:\n" +
			"  - {from: client, to: near, " + delay(3) + "}\n  - {from: near, to: middle}\n" +
			"  - {from: middle, to: far, name: small, mtu: " + mtu + "}\n  - {from: middle, to: far, name: large}\n" +
			"  - {from: far, to: server}\n" +
			"routes:\n  - {on: middle, to: server, via: small}\n  - {on: far, to: client, via: large}\n"
	}
	tcp("mtu-1300", m.BottleneckMTU, hole("1300", "0"), "--congestion cubic")
	tcp("mtu-1400-probing-4", m.BottleneckMTU, hole("1400", "1"), "-t 6 --congestion cubic -P 4")
	udp("mtu-udp-1300", m.BottleneckMTU, hole("1300", "0"), "--rate 20M --size 1400")

	// Processors.
	within := func(c *testCase, share float64) { c.Within = d.about(share) }
	within(tcp("sender-10%", m.BottleneckSenderCPU, direct("", "", ""), "--congestion cubic"), 0.1)
	within(tcp("sender-10%-hidden", m.BottleneckSenderCPU, direct("", "", ""), "--congestion cubic"), 0.1)
	out[len(out)-1].Hidden = true
	within(tcp("sender-20%-8", m.BottleneckSenderCPU, direct("", "", ""), "--congestion cubic -P 8"), 0.2)
	within(tcp("sender-10%-bbr-2ms", m.BottleneckSenderCPU, direct(delay(2), "", ""), "--congestion bbr"), 0.05)
	within(udp("sender-udp-10%", m.BottleneckSenderCPU, direct("", "", ""), "--rate 20G"), 0.1)
	within(tcp("receiver-10%", m.BottleneckReceiverCPU, direct("", "", ""), "-R --congestion cubic"), 0.1)
	within(tcp("receiver-8%-8", m.BottleneckReceiverCPU, direct("", "", ""), "-R --congestion cubic -P 8"), 0.08)
	within(udp("receiver-udp-5%", m.BottleneckReceiverCPU, direct("", "", ""), "-R --rate 2G"), 0.05)
	within(connect("client-connect-10%", m.BottleneckSenderCPU, direct("", "", ""), "-P 8"), 0.1)
	for _, c := range []*testCase{
		tcp("host-busy", m.BottleneckSenderCPU, direct("", "", ""), "--congestion cubic"),
		tcp("host-busy-4", m.BottleneckSenderCPU, direct("", "", ""), "--congestion cubic -P 4"),
	} {
		// One machine has both ends, so either may be what is too slow.
		c.Labels = append(c.Labels, m.BottleneckReceiverCPU)
		c.Disturb = []disturbance{spinning(6)}
	}

	// Nothing of the path limits; packets wait only until a processor takes them.
	for _, c := range []*testCase{
		tcp("veth-cubic", m.BottleneckNone, direct("", "", ""), "--congestion cubic"),
		tcp("veth-bbr-4", m.BottleneckNone, direct("", "", ""), "--congestion bbr -P 4"),
		tcp("htb-40G-cubic", m.BottleneckNone, through("", "shaper: htb, rate: 40G"), "--congestion cubic"),
	} {
		c.Labels = append(c.Labels, m.BottleneckSenderCPU, m.BottleneckReceiverCPU)
	}

	// A server with others to serve.
	crowd := "hosts:\n  client:\n  other:\n  third:\n  server: {server: true, " + sysctl("net.core.somaxconn: 1") + "}\nrouters:\n  gateway:\nlinks:\n" +
		"  - {from: client, to: gateway}\n  - {from: other, to: gateway}\n  - {from: third, to: gateway}\n  - {from: gateway, to: server}\n"
	tcp("server-shared", m.BottleneckServerOverload, crowd, "--congestion cubic").Disturb =
		[]disturbance{traffic("other", "tcp server -P 4"), traffic("third", "tcp server -P 4")}
	connect("server-queue", m.BottleneckServerOverload, crowd, "-P 256").Disturb =
		[]disturbance{traffic("other", "connect server -P 256"), traffic("third", "connect server -P 256")}

	// New connections per second.
	connect("connections-300", m.BottleneckConnectionRate, through("", delay(2)), "--request-rate 1500").Disturb = []disturbance{connectionLimit(d.about(300))}
	connect("connections-1000-closed", m.BottleneckConnectionRate, through("", delay(1)), "-P 64").Disturb = []disturbance{connectionLimit(d.about(1000))}
	return append(out, copies(d)...)
}

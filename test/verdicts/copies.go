package main

import (
	"fmt"
	"math"

	m "soku/internal/measure"
)

// copies are the cases of files that are copied, each limited by a disk, by the cost of a
// file, by the network between, by a rate or by a processor. Disks of a lab are slow for
// direct I/O only, and for what is read. What is not limited on purpose is as fast as the
// machine.
func copies(d *drawing) []testCase {
	var out []testCase
	add := func(name string, label m.Bottleneck, topology, format string, args ...any) *testCase {
		out = append(out, testCase{Name: name, Labels: []m.Bottleneck{label}, Topology: topology, Test: m.TestCopy, Flags: flags(format, args...)})
		return &out[len(out)-1]
	}
	// disks are the settings of client and server with a disk each.
	disks := func(client, server string) (string, string) {
		return "disk: {" + client + "}", "disk: {" + server + "}"
	}
	direct := func(link, client, server string) string {
		client, server = disks(client, server)
		return direct(link, client, server)
	}
	through := func(toServer, toClient, client, server string) string {
		client, server = disks(client, server)
		return throughWith(client, server, toServer, toClient)
	}
	rate := func(key string, mbps float64) string { return fmt.Sprintf("%s: %.0fk", key, mbps*1000) }
	delay := func(ms float64) string { return "delay: " + d.ms(ms) }
	// lasting returns the flags of files that take this number of seconds at a rate.
	lasting := func(seconds, mbps float64, files int) string {
		return fmt.Sprintf("--files %d --file-size %.0f", files, mbps*1e6/8*seconds/float64(files))
	}
	const past = "--direct --sync off"

	// A disk that writes more slowly than the rest.
	v := d.about(48)
	add("copy-write-48M", m.BottleneckDiskWrite, direct(delay(0.1), "", rate("write", v)), "%s %s", lasting(2, v, 1), past).Quick = true
	v = d.about(100)
	add("copy-write-100M-8", m.BottleneckDiskWrite, direct("", "", rate("write", v)), "%s %s -P 8", lasting(3, v, 24), past)
	v = d.about(60)
	add("copy-write-60M-reverse", m.BottleneckDiskWrite, direct(delay(0.5), rate("write", v), rate("read", v*1.5)), "%s %s -R", lasting(3, v, 6), past)
	// Not much more slowly than the network between.
	v = d.about(120)
	add("copy-write-near", m.BottleneckDiskWrite, direct(rate("rate", v*1.35), "", rate("write", v)), "%s %s", lasting(3, v, 4), past)

	// A disk that reads more slowly than the rest.
	v = d.about(48)
	add("copy-read-48M-cache", m.BottleneckDiskRead, direct(delay(0.1), rate("read", v), ""), "%s --sync off", lasting(3, v, 1))
	v = d.about(100)
	add("copy-read-100M-4-reverse", m.BottleneckDiskRead, direct("", "", rate("read", v)), "%s %s -P 4 -R", lasting(3, v, 16), past)
	v = d.about(120)
	add("copy-read-near", m.BottleneckDiskRead, direct(rate("rate", v*1.35), rate("read", v), rate("write", v*1.5)), "%s %s", lasting(3, v, 4), past)

	// A network that is slower than both disks.
	v = d.about(100)
	add("copy-shaper-100M", m.BottleneckPathShaper, through(rate("rate", v), delay(5), "", ""), "%s --sync off --congestion cubic", lasting(3, v, 1))
	v = d.about(200)
	add("copy-shaper-200M-8-bbr", m.BottleneckPathShaper, through(rate("rate", v), delay(2), "", ""), "%s --sync off --congestion bbr -P 8", lasting(3, v, 32))
	v = d.about(120)
	add("copy-shaper-near-reverse", m.BottleneckPathShaper, through("", rate("rate", v)+", "+delay(1), rate("write", v*1.35), rate("read", v*1.5)), "%s %s --congestion cubic -R", lasting(3, v, 4), past)
	v = d.about(50)
	add("copy-policer-50M-20ms", m.BottleneckPathPolicer, through(rate("police", v)+", policer: bytes", delay(20), "", ""), "%s --sync off --congestion cubic", lasting(2, v, 2))
	share, way := d.about(0.01), d.about(10)
	// What TCP without a limit but the losses carries (Mathis et al. 1997). A copy that is over before
	// the first losses have ended slow start would not be limited by them.
	v = 1448 * 8 / (2 * way * 1e-3) * 1.22 / math.Sqrt(share) / 1e6
	add("copy-loss-1%-10ms", m.BottleneckPathLoss, through(fmt.Sprintf("loss: %.3f%%, reverse: {loss: 0}", share*100), fmt.Sprintf("delay: %.0fus", way*1000), "", ""), "%s --sync off --congestion cubic", lasting(10, v, 2))

	window, far := d.about(65536), d.about(20)
	v = window * 8 / (2 * far * 1e-3) / 1e6 / 2 // half of the memory of a socket is window
	add("copy-window-64k-20ms", m.BottleneckReceiveWindow, "hosts:\n  client: {disk: }\n  server: {server: true, disk: , "+sysctl(fmt.Sprintf("net.ipv4.tcp_rmem: 4096 %.0[1]f %.0[1]f", window))+"}\n"+
		fmt.Sprintf("links:\n  - {from: client, to: server, delay: %.0fus}\n", far*1000), "%s --sync off --congestion cubic", lasting(3, v, 2))

	// Small files that are in the page cache, so that no disk is read.
	add("copy-files-8k", m.BottleneckFileCost, direct("", "", ""), "--files %s --file-size %s --sync off --checksum off --cache warm", d.bytes(20000), d.bytes(8192))
	add("copy-files-1k-4-reverse", m.BottleneckFileCost, direct("", "", ""), "--files %s --file-size %s --sync off --cache warm -P 4 -R", d.bytes(20000), d.bytes(1024))

	// The rate that was asked for.
	v = d.about(40)
	add("copy-rate-40M", m.BottleneckApplication, direct(delay(2), "", ""), "%s --sync off --rate %.0fk", lasting(3, v, 4), v*1000)

	// Processors.
	add("copy-sender-10%", m.BottleneckSenderCPU, direct("", "", ""), "--files 8 --file-size %s --sync off -P 2", d.bytes(24e6)).Within = d.about(0.1)
	add("copy-receiver-10%", m.BottleneckReceiverCPU, direct("", "", ""), "--files 8 --file-size %s --sync off -P 2 -R", d.bytes(24e6)).Within = d.about(0.1)
	for _, c := range []*testCase{
		add("copy-memory", m.BottleneckSenderCPU, direct("", "", ""), "--file-size %s --sync off --cache warm --checksum off", d.bytes(1.5e9)),
		add("copy-memory-2-reverse", m.BottleneckSenderCPU, direct("", "", ""), "--files 6 --file-size %s --sync off --cache warm -P 2 -R", d.bytes(200e6)),
	} {
		// One machine has both ends, so either may be what is too slow.
		c.Labels = append(c.Labels, m.BottleneckReceiverCPU)
	}
	return out
}

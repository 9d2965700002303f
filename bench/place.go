package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A place is where the two ends run. The prefixes are put before the commands.
type place struct {
	host                       string
	serverPrefix, clientPrefix []string
}

var loopback = place{host: "127.0.0.1"}

// linkGbit is a link of 1 Gbit/s.
const linkGbit = "veth1gbit"

// links are the places that are created.
var links = map[string]struct {
	mtu  int
	rate string // of a token bucket at both ends, for tc; empty: none
}{"veth1500": {mtu: 1500}, "veth9000": {mtu: 9000}, linkGbit: {1500, "1gbit"}}

// veth creates two network namespaces connected by a veth pair of the given MTU and rate.
// Their names are random. remove deletes both with their devices, also after a failure.
func veth(ctx context.Context, mtu int, rate string) (p place, remove func(), err error) {
	var id [3]byte
	if _, err := rand.Read(id[:]); err != nil {
		return p, func() {}, err
	}
	name := "sokubench-" + hex.EncodeToString(id[:])
	a, b := name+"a", name+"b"
	run := func(ctx context.Context, program, line string) error {
		out, err := exec.CommandContext(ctx, program, strings.Fields(line)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w: %s", program, line, err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	ip := func(ctx context.Context, line string) error { return run(ctx, "ip", line) }
	remove = func() { // even if ctx has ended
		for _, n := range []string{a, b} {
			_ = ip(context.WithoutCancel(ctx), "netns del "+n)
		}
	}
	dev := "sb" + hex.EncodeToString(id[:])
	for _, line := range []string{
		"netns add " + a, "netns add " + b,
		fmt.Sprintf("link add %sa netns %s mtu %d type veth peer name %sb netns %s mtu %d", dev, a, mtu, dev, b, mtu),
		fmt.Sprintf("-n %s addr add 10.213.7.1/30 dev %sa", a, dev), fmt.Sprintf("-n %s addr add 10.213.7.2/30 dev %sb", b, dev),
		fmt.Sprintf("-n %s link set lo up", a), fmt.Sprintf("-n %s link set lo up", b),
		fmt.Sprintf("-n %s link set %sa up", a, dev), fmt.Sprintf("-n %s link set %sb up", b, dev),
	} {
		if err := ip(ctx, line); err != nil {
			remove()
			return p, func() {}, err
		}
	}
	for _, end := range []string{a + " qdisc add dev " + dev + "a", b + " qdisc add dev " + dev + "b"} {
		if rate == "" {
			break
		}
		// The queue takes 10 ms, the bucket more than the largest segment of the kernel.
		if err := run(ctx, "tc", "-n "+end+" root tbf rate "+rate+" burst 128k limit 1250k"); err != nil {
			remove()
			return p, func() {}, err
		}
	}
	enter := func(n string) []string { return []string{"ip", "netns", "exec", n} }
	return place{host: "10.213.7.2", serverPrefix: enter(b), clientPrefix: enter(a)}, remove, nil
}

// canMakePlaces returns the reason if places cannot be created, or an empty string.
func canMakePlaces() string {
	if os.Geteuid() != 0 {
		return "only loopback: network namespaces need root"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "only loopback: the ip program (iproute2) is not installed"
	}
	return ""
}

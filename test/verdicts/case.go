package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"soku/internal/lab"
	"soku/internal/measure"
)

// testCase is one trial on an emulated network whose limit is known.
type testCase struct {
	Name string
	// Labels are what limits it; the first is the one of the table, and each is right.
	Labels   []measure.Bottleneck
	Topology string // without its name
	Test     measure.Test
	Flags    []string
	// Disturb are what else acts on the network or on the hosts.
	Disturb []disturbance
	// Within limits the client's processor time, as a share of one processor; 0: no limit.
	Within float64
	Hidden bool // the client does not see its control groups, as under "ip netns exec"
	Quick  bool // runs in CI, too
	Fresh  bool // each trial needs a network that no other has used
}

// twin is the case on busy hosts: a busy loop runs at both ends, which share a machine. There the processors
// may keep both ends from the rate that was asked for, and limit the end that has no quota as well.
func (c testCase) twin() testCase {
	switch c.Labels[0] {
	case measure.BottleneckApplication, measure.BottleneckSenderCPU, measure.BottleneckReceiverCPU:
		c.Labels = append(slices.Clone(c.Labels), measure.BottleneckSenderCPU, measure.BottleneckReceiverCPU)
	}
	c.Name, c.Disturb = c.Name+"-busy", append(slices.Clone(c.Disturb), spinning(2))
	return c
}

// disturbance acts until it is stopped.
type disturbance func(ctx context.Context, l *lab.Lab, program string) (stop func(), err error)

// drawing chooses the values of cases: those that stand in the table, or with a seed others
// of the same order.
type drawing struct{ chance *rand.Rand }

func newDrawing(seed uint64) *drawing {
	if seed == 0 {
		return &drawing{}
	}
	return &drawing{rand.New(rand.NewPCG(seed, 0))}
}

// about is v, or a value from 0.6 to 1.6 times v.
func (d *drawing) about(v float64) float64 {
	if d.chance == nil {
		return v
	}
	return v * (0.6 + d.chance.Float64())
}

func (d *drawing) mbps(v float64) string { return fmt.Sprintf("%.0fk", d.about(v)*1000) }

func (d *drawing) ms(v float64) string { return fmt.Sprintf("%.0fus", d.about(v)*1000) }

func (d *drawing) bytes(v float64) string { return fmt.Sprintf("%.0f", d.about(v)) }

// percent is a share for a topology.
func (d *drawing) percent(v float64) string { return fmt.Sprintf("%.3f%%", d.about(v)) }

// flags splits a command line.
func flags(format string, args ...any) []string { return strings.Fields(fmt.Sprintf(format, args...)) }

// through returns a client and a server behind a router: the keys describe the link to the server,
// and then the link to the client.
func through(toServer, toClient string) string {
	return throughWith("", "", toServer, toClient)
}

// throughWith is the same with settings of the two hosts.
func throughWith(clientSettings, serverSettings, toServer, toClient string) string {
	return "hosts:\n  client: {" + clientSettings + "}\n  server: {server: true" + keys(serverSettings) + "}\nrouters:\n  gateway:\nlinks:\n" +
		"  - {from: client, to: gateway" + keys(toClient) + "}\n  - {from: gateway, to: server" + keys(toServer) + "}\n"
}

// direct is a client and a server with settings on one link.
func direct(link, clientSettings, serverSettings string) string {
	return "hosts:\n  client: {" + clientSettings + "}\n  server: {server: true" + keys(serverSettings) + "}\n" +
		"links:\n  - {from: client, to: server" + keys(link) + "}\n"
}

func keys(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// sysctl is the key of a node's settings.
func sysctl(settings ...string) string { return "sysctl: {" + strings.Join(settings, ", ") + "}" }

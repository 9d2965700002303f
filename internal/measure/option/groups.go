package option

import "slices"

// Groups of options that tests share, by their keys, for [Spec].Options.
var (
	// NetworkKeys say how packets leave this host; every test has them.
	NetworkKeys = []string{"dscp", "tos", "ip_version", "bind", "device", "connect_timeout"}
	// ServerKeys are those of a test with a server: which protocol it speaks, where it
	// listens, and the processors of both ends.
	ServerKeys = []string{"via", "port", "pin"}
	// TimedKeys are those of a test that lasts for a time and reports intervals.
	TimedKeys = []string{"duration", "interval"}
	// LoadKeys are those of a test that sends streams of bytes or datagrams.
	LoadKeys = []string{"bytes", "direction", "streams", "rate", "burst", "tx", "rx", "window"}
	// TuningKeys are those that users set to whatever carries most on a path: they are no property of
	// what is compared.
	TuningKeys = []string{"streams", "window"}
)

// Group is what an option is about, for help.
type Group string

// The groups, in the order of help.
const (
	GroupTest    Group = "test"    // what is measured, and how much of it
	GroupNetwork Group = "network" // where packets go, and what is in their headers
	GroupHost    Group = "host"    // how the hosts move packets
)

// hostKeys are those of GroupHost; networkKeys and [NetworkKeys] are those of
// GroupNetwork.
var (
	hostKeys    = []string{"tx", "rx", "pin", "series", "window", "length", "spin", "stamps", "verify"}
	networkKeys = []string{"via", "port", "congestion", "mptcp", "flow_label", "mss", "no_delay", "dont_fragment", "entry", "sources"}
)

// Group is the group of the option.
func (f Field) Group() Group {
	switch {
	case slices.Contains(hostKeys, f.Key):
		return GroupHost
	case slices.Contains(NetworkKeys, f.Key), slices.Contains(networkKeys, f.Key):
		return GroupNetwork
	}
	return GroupTest
}

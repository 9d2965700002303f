package measure

import "slices"

// Groups of options that tests share, by their keys, for [Spec].Options.
var (
	// NetworkOptions say how packets leave this host; every test has them.
	NetworkOptions = []string{"dscp", "tos", "ip_version", "bind", "device", "connect_timeout"}
	// ServerOptions are those of a test with a server: which protocol it speaks, where it
	// listens, and the processors of both ends.
	ServerOptions = []string{"via", "port", "pin"}
	// TimedOptions are those of a test that lasts for a time and reports intervals.
	TimedOptions = []string{"duration", "interval"}
	// LoadOptions are those of a test that sends streams of bytes or datagrams.
	LoadOptions = []string{"bytes", "direction", "streams", "rate", "burst", "tx", "rx", "window"}
)

// OptionGroup is what an option is about, for help.
type OptionGroup string

// The groups, in the order of help.
const (
	GroupTest    OptionGroup = "test"    // what is measured, and how much of it
	GroupNetwork OptionGroup = "network" // where packets go, and what is in their headers
	GroupHost    OptionGroup = "host"    // how the hosts move packets
)

// hostOptions are those of GroupHost; networkOptions and [NetworkOptions] are those of
// GroupNetwork.
var (
	hostOptions    = []string{"tx", "rx", "pin", "series", "window", "length", "spin", "stamps", "verify"}
	networkOptions = []string{"via", "port", "congestion", "mptcp", "flow_label", "mss", "no_delay", "dont_fragment", "entry", "sources"}
)

// Group is the group of the option.
func (f OptionField) Group() OptionGroup {
	switch {
	case slices.Contains(hostOptions, f.Key):
		return GroupHost
	case slices.Contains(NetworkOptions, f.Key), slices.Contains(networkOptions, f.Key):
		return GroupNetwork
	}
	return GroupTest
}

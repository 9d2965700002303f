//go:build !linux

package latency

// linkers are all links this system has; every one must behave alike.
func linkers() map[string]linker { return map[string]linker{"net poller": openPoller} }

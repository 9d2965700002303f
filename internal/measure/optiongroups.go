package measure

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

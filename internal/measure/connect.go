package measure

// Connect is what a connect trial counted, except the set-up times, which are
// in Latency.
type Connect struct {
	Opened            int64            `json:"opened" jsonschema:"description=Connections that the client set up\\, and with a size also had served"`
	OpenedPerSecond   float64          `json:"opened_per_second,omitempty" jsonschema:"description=By the client's count and clock"`
	Accepted          *int64           `json:"accepted,omitempty" jsonschema:"description=Connections the server accepted; absent where no soku server counted"`
	AcceptedPerSecond float64          `json:"accepted_per_second,omitempty" jsonschema:"description=By the server's count and clock; from its first connection to its last"`
	Failed            int64            `json:"failed" jsonschema:"description=Failed attempts to connect"`
	Failures          map[string]int64 `json:"failures,omitempty" jsonschema:"description=Failed attempts by kind: refused\\, timeout\\, reset\\, closed_early\\, unreachable\\, no_port\\, no_descriptor\\, no_memory\\, forbidden\\, bad_source\\, other"`
	Unfinished        int64            `json:"unfinished,omitempty" jsonschema:"description=Attempts in progress at the end of the test; neither opened nor failed"`
	ForeignConns      int64            `json:"strangers,omitempty" jsonschema:"description=Connections to the session's port from other addresses; closed and not counted"`
	Unserved          int64            `json:"unserved,omitempty" jsonschema:"description=Accepted connections without a request\\, or whose reply could not be sent"`
	DurationNs        int64            `json:"duration_ns" jsonschema:"description=From the client's first attempt to its last"`
	Port              int              `json:"port,omitempty" jsonschema:"description=Port connected to"`
	Entry             string           `json:"entry,omitempty" jsonschema:"enum=session,enum=main,enum=foreign,description=The kind of port: the session's own\\, the server's main port\\, or that of another service"`
	Close             string           `json:"close,omitempty" jsonschema:"enum=rst,enum=fin,description=How connections ended"`
	ClientPath        string           `json:"client_path,omitempty" jsonschema:"description=How the client opened connections: raw system calls or Go's package net"`
	ServerPath        string           `json:"server_path,omitempty" jsonschema:"description=How the server accepted them"`
}

package endpoint

import (
	"net/netip"
	"time"

	"soku/internal/certificate"
	"soku/internal/measure"
	"soku/internal/server"
)

// Schema is the identity of what passes between a campaign and a host, as lines of JSON: a
// [Wish], answered by a [Ready]; after that any number of requests {"ask":N}, answered by
// {"answer":N,"unix_ns":T}. The end of the input, or [Silence] without a request, ends it.
const Schema = "soku.endpoint/1"

// Silence is how long a host waits for a request before it takes the connection as lost.
const Silence = 60 * time.Second

// MaxLine is the length of a line in bytes.
const MaxLine = 16 << 10

// Wish is what a host is to do.
type Wish struct {
	Schema string `json:"schema"`
	// Serve has it run a server.
	Serve *Server `json:"serve,omitempty"`
}

// Server is the server that a host is to run.
type Server struct {
	// Ports are tried in turn until one is free; 0 is any.
	Ports []int  `json:"ports"`
	Token string `json:"token"`
	// Grant has the server serve one session, whose client presents Token as the secret, over TLS with a certificate
	// of its own. nil: every client that presents Token, without TLS.
	Grant *server.Grant `json:"grant,omitempty"`
	// CopyRoot is the folder for copies of files, or empty if the server takes none.
	CopyRoot string `json:"copy_root,omitempty"`

	// Limits of each test that the server runs, as the owner of the host sets them; 0 and empty: none.
	MaxRate     measure.Rate     `json:"max_rate_bps,omitempty"`
	MaxDuration measure.Duration `json:"max_duration_ns,omitempty"`
	Allow       []netip.Prefix   `json:"allow,omitempty"` // networks of clients
}

// Ready is a host that does what was wished, or the reason why not.
type Ready struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Listening
	Error *measure.Error `json:"error,omitempty"`
}

// Listening is how clients find a server.
type Listening struct {
	Port        int             `json:"port,omitempty"`
	Certificate certificate.Pin `json:"certificate,omitempty"` // its control connections are TLS with this one; empty: without TLS
}

// Request keeps an endpoint alive.
type Request struct {
	Ask int64 `json:"ask"`
}

// Answer has the number of a request and the clock of the host.
type Answer struct {
	Answer int64 `json:"answer"`
	UnixNs int64 `json:"unix_ns"`
}

package ssh

import (
	"time"

	"soku/internal/measure"
)

// Schema is the identity of what passes between both ends of a [Session].
//
// The login shell of the host runs host.sh, which it gets as the first line of its input.
// That script and this end exchange lines of words:
//
//	from the host   soku-platform OS ARCHITECTURE      as uname -s and uname -m
//	to the host     CHECKSUM KEEP                      SHA-256 in hex; yes or no
//	from the host   soku-folder PATH COPIED NUMBER     COPIED: yes if the program is there
//	to the host     start                              when PATH/part-NUMBER is the program
//	from the host   soku-failed REASON DETAIL          instead of any of its lines
//
// Lines before the first of these come from the login shell and are ignored. Then the script runs
// "PATH/soku endpoint" with the same input and output, which exchanges lines of JSON: a
// [Wish], answered by a [Ready]; after that any number of requests {"ask":N}, answered by
// {"answer":N,"unix_ns":T}. The end of the input, or [Silence] without a request, ends it. The
// script then deletes PATH/alive-NUMBER, which ends the processes that [Session.Command]
// made, and the folder.
const Schema = "soku.endpoint/1"

// Silence is how long a host waits for a request before it takes the connection as lost.
const Silence = 60 * time.Second

// askEvery is how often a session sends a request.
const askEvery = 10 * time.Second

// Bounds of what a host writes.
const (
	maxLine     = 16 << 10 // bytes of a line
	maxGreeting = 1000     // lines before the first one that counts
	maxRest     = 1 << 20  // bytes after the last line that is read
	maxShown    = 300      // characters of a line that a failure repeats
)

// Wish is what a host is to do.
type Wish struct {
	Schema string `json:"schema"`
	// Serve has it run a server.
	Serve *Serve `json:"serve,omitempty"`
}

// Serve is the server that a host is to run.
type Serve struct {
	// Ports are tried in turn until one is free; 0 is any.
	Ports []int  `json:"ports"`
	Token string `json:"token"`
	// CopyRoot is the folder in which it takes copies of files; empty: it takes none.
	CopyRoot string `json:"copy_root,omitempty"`
}

// Ready is a host that does what was wished, or the reason why not.
type Ready struct {
	Schema  string         `json:"schema"`
	Version string         `json:"version"`
	Port    int            `json:"port,omitempty"` // of the server
	Error   *measure.Error `json:"error,omitempty"`
}

// request and answer keep a session alive and tell the clock of the host.
type request struct {
	Ask int64 `json:"ask"`
}

type answer struct {
	Answer int64 `json:"answer"`
	UnixNs int64 `json:"unix_ns"`
}

package native

import (
	"encoding/hex"
	"time"
)

// Version is the number of the protocol this package speaks. It changes when a
// message changes its meaning or goes away; members may be added to the JSON
// bodies under the same number.
const Version = 1

// Name is the name of the protocol in results and in the header Soku-Protocol.
const Name = "soku/1"

// Header names of the control API.
const (
	ProtocolHeader = "Soku-Protocol" // on every request and response
)

// Paths of the control API; {id} stands for the session's identity.
const (
	InfoPath     = "/v1/info"
	QueuePath    = "/v1/queue"
	SessionsPath = "/v1/sessions"
	SessionPath  = "/v1/sessions/{id}"
	EventsPath   = "/v1/sessions/{id}/events"
	StartPath    = "/v1/sessions/{id}/start"
	FinishPath   = "/v1/sessions/{id}/finish"
)

// Time limits. The server frees a session that lets one pass.
const (
	SniffTimeout  = 5 * time.Second  // first bytes of a connection, and the rest of a preamble
	AttachTimeout = 5 * time.Second  // from the creation of a session to its events stream
	DataTimeout   = 10 * time.Second // from ready to the last data connection
	StartTimeout  = 30 * time.Second // from ready to the start
	FinishGrace   = 10 * time.Second // how long the server waits for the client to finish
	Overtime      = 30 * time.Second // what a test with a duration may take on top of it
	Heartbeat     = 2 * time.Second  // between two lines of an events stream at most
	// Probe is the time between two lines while a test runs whose hosts record a series. The
	// round trips of these lines are what another flow sees under load. The time is longer
	// than the shortest retransmission timeout, after which Linux acknowledges immediately.
	Probe   = 300 * time.Millisecond
	Silence = 10 * time.Second // an end that received nothing for this long considers the other lost
	// ReattachTimeout is how long the server of a copy waits after a cut of the events connection
	// for the client to reattach, and for how long the client tries. A client that was killed
	// leaves the same reset as a cut: the server frees its place and files within 5 s.
	ReattachTimeout = 4 * time.Second
	EndTimeout      = 30 * time.Second // how long the client waits for the server's half while no bytes are counted
	LongestEnd      = 15 * time.Minute // the same in all, for what is still on its way at a low rate
	IdleTimeout     = 30 * time.Second // control connection between two requests
)

// Limits on what one end accepts from the other.
const (
	MaxBody   = 64 << 10  // bytes of a JSON request body
	MaxHeader = 16 << 10  // bytes of an HTTP header section
	MaxReply  = 256 << 10 // bytes of a JSON response body, the events stream excepted
	MaxEvent  = 64 << 20  // bytes of one line of an events stream
	// MaxStreams is the most data connections of one session: the largest
	// number of streams, in both directions.
	MaxStreams = 2048
)

// KeySize is the length of the one-time key that data connections carry.
const KeySize = 32

// Key opens the data connections of one session. The server makes it from a
// cryptographic random source and sends it only to the session's creator.
type Key [KeySize]byte

// String hides the key, so that no log and no error shows it.
func (Key) String() string { return "key(hidden)" }

// MarshalText writes 64 hexadecimal digits.
func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (k *Key) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(KeySize) {
		return hex.ErrLength
	}
	_, err := hex.Decode(k[:], text)
	return err
}

package wire

import (
	"crypto/rsa"
	"net"
	"time"

	"soku/internal/engine"
)

// IPerf3 is what a client of an iperf3 server may ask beside the options of a test.
// The zero value asks for nothing. Numbers are within iperf3's ranges, or the
// session is refused before anything is sent.
type IPerf3 struct {
	// User, Password and Key, the server's public one, prove who the client is; Key
	// nil: nobody asks. PKCS1 seals them as iperf3 before 3.17 did.
	User, Password string
	Key            *rsa.PublicKey
	PKCS1          bool

	Title, ExtraData string
	Blocks           int64 // writes or datagrams instead of a time or Options.Bytes, which is then Blocks times the size of one
	Length           int   // of a read or write of the server's, bytes; 0: that of the options, at most 128 KiB over TCP
	PathSize         bool  // datagrams as large as a segment of the control connection, where that is known, instead of Options.Size
	FQRate           int64 // bit/s of each stream that the kernel of who sends holds it to; 0: no limit
	ClientPort       int   // local port of the first stream, the next have the next ones; 0: any
	PacingTimer      int   // microseconds, for servers that have one
	Counters32       bool  // number datagrams with 32 bits, not 64
	GetServerOutput  bool
	RepeatPayload    bool // what is sent is a pattern that can be compressed
	ZeroCopy         bool // asked of the server also where Options.TX does not say it
	SkipRXCopy       bool // likewise Options.RX
	Endless          bool // the server is told of no end; Options.Duration is this end's
	ClientVersion    string

	Contents engine.Contents // of streams of TCP

	// Silence is how long to wait for the first and the next byte of a server that
	// sends; 0 is the engines' own patience.
	Silence time.Duration
	// Unacknowledged is after how long what was sent and not acknowledged breaks a
	// connection; 0 is the system's.
	Unacknowledged time.Duration
	// KeepAlive is how the control connection looks whether the server is there; nil is
	// soku's own way.
	KeepAlive *net.KeepAliveConfig
}

package wire

import (
	"crypto/rsa"
	"net"
	"time"

	"soku/internal/engine"
)

// IPerf3 has the parameters of an iperf3 test that are not options of a soku test. The
// zero value sets none. A session with numbers outside iperf3's ranges is refused before
// anything is sent.
type IPerf3 struct {
	// User, Password and Key, the server's public key, authenticate the client; Key
	// nil: no authentication. PKCS1 selects the padding of iperf3 before 3.17.
	User, Password string
	Key            *rsa.PublicKey
	PKCS1          bool

	Title, ExtraData string
	Blocks           int64 // writes or datagrams instead of a time or Options.Bytes, which is then Blocks times the size of one
	Length           int   // of the server's reads or writes, bytes; 0: that of the options, at most 128 KiB over TCP
	PathSize         bool  // use the segment size of the control connection, if known, instead of Options.Size
	FQRate           int64 // bit/s per stream, paced by the sender's kernel; 0: no limit
	ClientPort       int   // local port of the first stream, one more for each further stream; 0: any
	PacingTimer      int   // microseconds, for servers that have one; 0: iperf3's default, -1: none
	Counters32       bool  // number datagrams with 32 bits, not 64
	GetServerOutput  bool
	RepeatPayload    bool // send a compressible pattern
	ZeroCopy         bool // request it from the server whatever Options.TX is
	SkipRXCopy       bool // request it from the server whatever Options.RX is
	Endless          bool // send the server no end; Options.Duration is the client's
	ClientVersion    string
	// EndAtOnce measures as iperf3's own client does: from the start of the test, and, if
	// it ends after a time, to its end, which the client reports to the server immediately.
	// Bytes that are queued then count as sent, and never as received. Otherwise the client
	// reports the end when the server has probably read everything.
	EndAtOnce bool

	Contents engine.Contents // of streams of TCP

	// Silence is how long to wait for the first and the next byte of a server that
	// sends; 0: the engines' default.
	Silence time.Duration
	// Unacknowledged is how long sent data may stay unacknowledged before the
	// connection fails; 0: the system's default.
	Unacknowledged time.Duration
	// KeepAlive is the keep-alive of the control connection; nil: soku's default.
	KeepAlive *net.KeepAliveConfig
}

package wire

import "crypto/rsa"

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
	Burst            int   // writes or datagrams that the server sends at a time, with a rate
	FQRate           int64 // bit/s of each stream that the server's kernel holds it to
	PacingTimer      int   // microseconds, for servers that have one
	Counters32       bool  // number datagrams with 32 bits, not 64
	GetServerOutput  bool
	RepeatPayload    bool // told to the server; soku's own payload is what it is
	DontFragment     bool // told to the server
	MPTCP            bool // told to the server
	ClientVersion    string
}

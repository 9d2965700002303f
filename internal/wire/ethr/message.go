package ethr

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Port is where Ethr servers listen, TCP and UDP.
const Port = 8888

// Kind is the type of a message.
type Kind uint32

// Kinds of messages. The last three are those of the start synchronisation.
const (
	Syn       Kind = 1 // the client requests a test on this connection
	Ack       Kind = 2 // the server accepts it
	SyncStart Kind = 3 // the client requests the start of the server's next second
	SyncReady Kind = 4 // the server's answer: the time until then; 0: now
	SyncGo    Kind = 5 // the client sends the round trip of that exchange, and starts at that second
)

// Test is a kind of test, of those that a server gets a request for.
type Test uint32

// Tests in requests.
const (
	Bandwidth Test = 1
	Latency   Test = 4
)

// Transport is the transport protocol of a test.
type Transport uint32

// Transports.
const (
	TCP Transport = 0
	UDP Transport = 1
)

// Params are the parameters of a request.
type Params struct {
	Threads uint32 // connections of the test
	Buffer  uint32 // bytes of a read or write, or of a latency message
	Rounds  uint32 // round trips of a latency measurement
	Reverse bool   // the server sends
	// Duration, Gap (between two latency measurements) and Warmup (connections that
	// are not counted) concern the client; the server does not use them.
	Duration, Gap time.Duration
	Warmup        uint32
	Rate          uint64 // bytes per second of each connection; 0: no limit
	ToS           uint8
}

// Message is any message. Members of other kinds are zero.
type Message struct {
	Version   uint32 // 0
	Kind      Kind
	Test      Test          // of Syn
	Transport Transport     // of Syn
	Params    Params        // of Syn
	Delay     time.Duration // of SyncReady
	RTT       time.Duration // of SyncGo
	// Synced: the sender supports the start synchronisation.
	Synced bool
}

// maxMessage is the longest message that Ethr accepts; real ones have 300 to 600 bytes.
const maxMessage = 16 << 10

// A frame is the length of a message, big-endian in 4 bytes, and the message.
const frameHead = 4

var (
	errLength = errors.New("no message of Ethr: its length is wrong")
	errGob    = errors.New("no message of Ethr")
)

// Read reads one frame and no byte beyond it. It needs at most the memory of the longest
// message. It fails if r fails or if the message is invalid.
func Read(r io.Reader) (Message, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Message{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxMessage {
		return Message{}, errLength
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, err
	}
	return Decode(b)
}

// Append appends the frame of m to b, byte for byte as Ethr does; as version 1.0.0 if m is
// not Synced.
func Append(b []byte, m Message) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = encode(b, m)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-frameHead))
	return b
}

// Begins reports whether first, at least 4 bytes, can be the beginning of a request, and
// how many more bytes are needed to decide.
func Begins(first []byte) (ours bool, more int) {
	const sure = frameHead + 8 + len(typeName)
	n := binary.BigEndian.Uint32(first)
	if n < uint32(sure) || n > maxMessage {
		return false, 0
	}
	if len(first) < sure {
		return true, sure - len(first)
	}
	// A definition of a type comes first: its length, its number and the name.
	rest := first[frameHead:sure]
	for i := range len(rest) - len(typeName) + 1 {
		if string(rest[i:i+len(typeName)]) == typeName {
			return true, 0
		}
	}
	return false, 0
}

// typeName is the type name of the message in Ethr.
const typeName = "EthrMsg"

var kindNames = map[Kind]string{Syn: "Syn", Ack: "Ack", SyncStart: "SyncStart", SyncReady: "SyncReady", SyncGo: "SyncGo"}

// String is for logs and errors.
func (k Kind) String() string { return cmp.Or(kindNames[k], fmt.Sprintf("kind %d", uint32(k))) }

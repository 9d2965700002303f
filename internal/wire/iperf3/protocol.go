package iperf3

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strconv"
)

// DefaultPort is the default port of iperf3 servers, TCP and UDP.
const DefaultPort = 5201

// Limits of the protocol, and of input from a peer.
const (
	MaxStreams    = 128   // in one direction
	MaxTime       = 86400 // seconds
	MaxOmit       = 600   // seconds
	MaxBurst      = 1000  // messages
	MaxWindow     = 512 << 20
	MaxMSS        = 32<<10 - 1
	MaxTCPLength  = 1 << 20
	MinUDPLength  = 16
	MaxUDPLength  = 65507
	MaxParameters = 64 << 10 // bytes of JSON
	MaxResults    = 1 << 20  // bytes of JSON without the server's output
	MaxOutput     = 32 << 20 // bytes of JSON with it
	maxMembers    = 10_000   // of results and of the lists and objects in them
	maxText       = 4 << 10  // bytes of a title, a name or other text in the parameters
)

// State is a message of one byte on the control connection.
type State int8

// States.
const (
	TestStart       State = 1
	TestRunning     State = 2
	TestEnd         State = 4
	ParamExchange   State = 9
	CreateStreams   State = 10
	ServerTerminate State = 11
	ClientTerminate State = 12
	ExchangeResults State = 13
	DisplayResults  State = 14
	Start           State = 15 // before the first message
	Done            State = 16
	AccessDenied    State = -1 // the server is busy with another client
	ServerError     State = -2 // two 32-bit numbers follow: the error number and its errno
)

var stateNames = map[State]string{
	TestStart: "test start", TestRunning: "test running", TestEnd: "test end", ParamExchange: "parameter exchange",
	CreateStreams: "create streams", ServerTerminate: "server terminate", ClientTerminate: "client terminate",
	ExchangeResults: "exchange results", DisplayResults: "display results", Start: "start", Done: "done",
	AccessDenied: "access denied", ServerError: "server error",
}

// String is the name of the state, or its number.
func (s State) String() string { return cmp.Or(stateNames[s], "state "+strconv.Itoa(int(s))) }

// CookieSize is the length of a cookie on the wire, its NUL included.
const CookieSize = 37

// Cookie is sent first on all connections of one test.
type Cookie [CookieSize]byte

const cookieLetters = "abcdefghijklmnopqrstuvwxyz234567"

// NewCookie returns a random cookie.
func NewCookie() (c Cookie) {
	_, _ = rand.Read(c[:CookieSize-1]) // never fails
	for i := range CookieSize - 1 {
		c[i] = cookieLetters[int(c[i])%len(cookieLetters)]
	}
	return c
}

// String is the cookie as iperf3 prints it, without the NUL.
func (c Cookie) String() string { return string(c[:CookieSize-1]) }

// MayBeCookie reports whether b, at most CookieSize bytes, is the beginning of a cookie,
// or with CookieSize bytes, a cookie.
func MayBeCookie(b []byte) bool {
	for i, x := range b {
		switch {
		case i == CookieSize-1:
			return len(b) == CookieSize && x == 0
		case (x < 'a' || x > 'z') && (x < '2' || x > '7'):
			return false
		}
	}
	return true
}

// StreamID is the identity in results of the stream opened as the index-th, from 0: 1,
// then 3, 4, 5 and so on, for compatibility with old versions.
func StreamID(index int) int {
	if index == 0 {
		return 1
	}
	return index + 2
}

// The datagrams that open a UDP stream, and their answers. Servers accept any four bytes,
// clients check the answer. Older versions use numbers in host byte order, newer ones
// text.
const (
	UDPConnect       = "9876"
	UDPReply         = "6789"
	UDPConnectLegacy = "\x15\xcd\x5b\x07" // 123456789
	UDPReplyLegacy   = "\xb1\x68\xde\x3a" // 987654321

	udpReplyLegacyBig   = "\x3a\xde\x68\xb1"
	udpConnectLegacyBig = "\x07\x5b\xcd\x15"
)

// UDPAnswer is the server's answer to the datagram that opens a stream.
func UDPAnswer(connect []byte) string {
	switch string(connect) {
	case UDPConnectLegacy:
		return UDPReplyLegacy
	case udpConnectLegacyBig:
		return udpReplyLegacyBig
	case UDPReply: // a host of the other byte order
		return UDPConnect
	}
	return UDPReply
}

// isUDPReply reports whether a server's answer opens the stream.
func isUDPReply(b []byte) bool {
	return slices.Contains([]string{UDPReply, UDPConnect, UDPReplyLegacy, udpReplyLegacyBig}, string(b))
}

// IsUDPConnect reports whether a client may have sent b to open a stream.
func IsUDPConnect(b []byte) bool { return len(b) == 4 }

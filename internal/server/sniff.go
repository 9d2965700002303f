package server

import (
	"io"
	"net"
	"strings"
	"time"

	"soku/internal/wire/native"
)

// sniffed is how many bytes tell protocols apart. No protocol served here
// begins with fewer.
const sniffed = 4

// protocol is a row of the table by which a connection finds its handler.
type protocol struct {
	name   string
	begins []string // any of these, up to sniffed bytes each
	serve  func(s *Server, c *net.TCPConn, first []byte)
}

// protocols is asked in order; another protocol gets its place here.
var protocols = []protocol{
	{"data", []string{native.Magic}, (*Server).serveData},
	{"control", []string{"GET ", "POST", "DELE", "HEAD", "PUT ", "PATC", "OPTI"}, (*Server).servePlain},
	{"control over TLS", []string{"\x16\x03"}, (*Server).serveTLS},
}

// recognise returns the protocol that begins with first, or nil.
func recognise(first []byte) *protocol {
	for i := range protocols {
		for _, b := range protocols[i].begins {
			if strings.HasPrefix(string(first), b) {
				return &protocols[i]
			}
		}
	}
	return nil
}

// tellApart reads the first bytes of c, which have [native.SniffTimeout] to
// come, and passes it on. What nobody recognises is closed without an answer.
func (s *Server) tellApart(c *net.TCPConn) {
	_ = c.SetDeadline(time.Now().Add(s.times.sniff))
	first := make([]byte, sniffed, native.PreambleSize)
	if _, err := io.ReadFull(c, first); err != nil {
		_ = c.Close()
		return
	}
	p := recognise(first)
	if p == nil {
		s.log.Debug("closed a connection of an unknown protocol", "client", c.RemoteAddr())
		_ = c.Close()
		return
	}
	p.serve(s, c, first)
}

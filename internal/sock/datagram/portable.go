//go:build !linux

package datagram

import (
	"net"
	"time"

	"soku/internal/sock"
)

// supported returns the error for every path but the portable ones.
func supported(string) error { return errSystem }

func segmentsMost() int { return 1 }

// What follows stands for the system calls of paths that are never chosen here.

type sendCalls struct{}

func (*sendCalls) prepare([]byte, int, int, int) {}

type sendCall struct{}

func (*Writer) open() error           { return errSystem }
func (*Writer) send(int) (int, error) { return 0, errSystem }

type receiveCalls struct{}

func (*receiveCalls) prepare([]byte, int, int) error { return errSystem }
func (*receiveCalls) close()                         {}
func (*receiveCalls) read(int) Train                 { return Train{} }

type receiveCall struct{}

func (*Inlet) open() error                   { return errSystem }
func (*Inlet) leave()                        {}
func (*Inlet) receive() (int, error)         { return 0, errSystem }
func (r *Receiver) poll(time.Duration) []int { return r.ready }

// Park does nothing: receivers block on this system.
func (*Receiver) Park(time.Duration, *sock.Group) {}

// Drops counts the datagrams that were dropped at a full receive queue; not read on this
// system.
type Drops struct{}

// DropsOf returns nil: the counter is not read on this system.
func DropsOf(net.Conn) *Drops { return nil }

// Count is the number since the socket was made.
func (*Drops) Count() (uint32, bool) { return 0, false }

package iperf3

import (
	"encoding/binary"
	"time"

	"soku/internal/engine"
)

// Datagrams is the header of iperf3's datagrams, in network byte order: the time of
// sending, and the number in the stream, from 1.
//
//	 0         4              8                     12            16
//	+---------+--------------+---------------------+ - - - - - - +
//	| seconds | microseconds | number, 32 or 64 bits             |
//	+---------+--------------+---------------------+ - - - - - - +
//
// A number of 32 bits wraps after four thousand million datagrams, as iperf3's does.
func Datagrams(counters64 bool) engine.DatagramFormat {
	if counters64 {
		return datagram64{}
	}
	return datagram32{}
}

const (
	header32 = 12
	header64 = 16
)

type datagram32 struct{}

// Size implements engine.DatagramFormat.
func (datagram32) Size() int { return header32 }

// PutAll implements engine.DatagramFormat.
func (datagram32) PutAll(b []byte, size, _ int, first uint64, at time.Time) {
	seconds, micros := clock(at)
	for number := first + 1; len(b) >= size && size >= header32; number++ {
		binary.BigEndian.PutUint32(b, seconds)
		binary.BigEndian.PutUint32(b[4:], micros)
		binary.BigEndian.PutUint32(b[8:], uint32(number))
		b = b[size:]
	}
}

// Parse implements engine.DatagramFormat.
func (datagram32) Parse(b []byte) (number uint64, sentNs int64, fin, ok bool) {
	if len(b) < header32 {
		return 0, 0, false, false
	}
	number = uint64(binary.BigEndian.Uint32(b[8:]))
	return number - 1, sentAt(b), false, number > 0
}

// Fin implements engine.DatagramFormat: the control connection ends the test.
func (datagram32) Fin([]byte, int, uint64, time.Time) int { return 0 }

type datagram64 struct{}

// Size implements engine.DatagramFormat.
func (datagram64) Size() int { return header64 }

// PutAll implements engine.DatagramFormat.
func (datagram64) PutAll(b []byte, size, _ int, first uint64, at time.Time) {
	seconds, micros := clock(at)
	for number := first + 1; len(b) >= size && size >= header64; number++ {
		binary.BigEndian.PutUint32(b, seconds)
		binary.BigEndian.PutUint32(b[4:], micros)
		binary.BigEndian.PutUint64(b[8:], number)
		b = b[size:]
	}
}

// Parse implements engine.DatagramFormat.
func (datagram64) Parse(b []byte) (number uint64, sentNs int64, fin, ok bool) {
	if len(b) < header64 {
		return 0, 0, false, false
	}
	number = binary.BigEndian.Uint64(b[8:])
	return number - 1, sentAt(b), false, number > 0
}

// Fin implements engine.DatagramFormat.
func (datagram64) Fin([]byte, int, uint64, time.Time) int { return 0 }

func clock(at time.Time) (seconds, micros uint32) {
	return uint32(at.Unix()), uint32(at.Nanosecond() / 1000)
}

func sentAt(b []byte) int64 {
	return int64(binary.BigEndian.Uint32(b))*1e9 + int64(binary.BigEndian.Uint32(b[4:]))*1e3
}

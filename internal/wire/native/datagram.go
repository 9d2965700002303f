package native

import (
	"encoding/binary"
	"errors"
)

// DatagramSize is the size of every datagram of the UDP handshake, so that no
// answer is larger than what it answers. All numbers are big-endian.
//
//	 0       4         5      6              8                40              56        64
//	+--------+---------+------+--------------+----------------+---------------+---------+
//	| "SOKH" | version | type | stream index | key (32 bytes) | nonce (16)    | zeros   |
//	+--------+---------+------+--------------+----------------+---------------+---------+
//
//	client                          server
//	  | -- Hello(key, index) -------> |  looks the key up; keeps nothing
//	  | <- Challenge(index, nonce) -- |
//	  | -- Proof(key, index, nonce) ->|  the nonce fits the key, the index and the address
//	  | <- Accept(index, nonce) ----- |
//
// Challenge, Accept and Refuse carry zeros in place of the key.
const DatagramSize = 64

// DatagramMagic begins every datagram of the handshake. It differs from the
// magic of measured datagrams, so that a late repetition is not taken for one.
const DatagramMagic = "SOKH"

// NonceSize is the length of the nonce that the client must return.
const NonceSize = 16

// DatagramType is the step of the handshake.
type DatagramType uint8

// Steps of the handshake.
const (
	Hello     DatagramType = 1
	Challenge DatagramType = 2
	Proof     DatagramType = 3
	Accept    DatagramType = 4
	Refuse    DatagramType = 5 // the key is valid, and the index is out of range or taken
)

// Datagram is the decoded form.
type Datagram struct {
	Version uint8
	Type    DatagramType
	Index   uint16
	Key     Key
	Nonce   [NonceSize]byte
}

var errDatagram = errors.New("not a soku handshake datagram")

// Append writes the datagram to b.
func (d Datagram) Append(b []byte) []byte {
	b = append(b, DatagramMagic...)
	b = append(b, d.Version, byte(d.Type))
	b = binary.BigEndian.AppendUint16(b, d.Index)
	b = append(b, d.Key[:]...)
	b = append(b, d.Nonce[:]...)
	return append(b, make([]byte, DatagramSize-8-KeySize-NonceSize)...)
}

// ParseDatagram reads one datagram of the handshake. It fails for other data, another
// version included.
func ParseDatagram(b []byte) (Datagram, error) {
	if len(b) != DatagramSize || string(b[:4]) != DatagramMagic || b[4] != Version {
		return Datagram{}, errDatagram
	}
	d := Datagram{Version: b[4], Type: DatagramType(b[5]), Index: binary.BigEndian.Uint16(b[6:8])}
	if d.Type < Hello || d.Type > Refuse {
		return Datagram{}, errDatagram
	}
	copy(d.Key[:], b[8:8+KeySize])
	copy(d.Nonce[:], b[8+KeySize:])
	for _, pad := range b[8+KeySize+NonceSize:] {
		if pad != 0 {
			return Datagram{}, errDatagram
		}
	}
	return d, nil
}

package option

import "soku/internal/measure"

// LoadPayload is the [Spec].Payload of a test that sends streams: the bytes of all
// directions.
func LoadPayload(o measure.Options) (int64, bool) {
	flows := int64(len(o.Direction.Flows()))
	switch {
	case o.Bytes > 0:
		return int64(o.Bytes) * flows, true
	case o.Rate > 0:
		return int64(float64(o.Rate)/8*(o.Omit+o.Duration).Std().Seconds()) * flows, true
	}
	return 0, false
}

// ExchangePayload is the [Spec].Payload of a test that exchanges messages of one size:
// requests and replies.
func ExchangePayload(o measure.Options) (int64, bool) {
	switch {
	case o.Count > 0:
		return 2 * o.Count * int64(o.Size), true
	case o.RequestRate > 0:
		return 2 * int64(o.RequestRate*(o.Omit+o.Duration).Std().Seconds()) * int64(o.Size), true
	}
	return 0, false
}

// UsualLength is the number of bytes per read or write call if no length was given,
// by streams: 1 MiB for one; 256 KiB for several, which take turns on a processor and
// find more of each other's bytes in its cache so. Measured on two processors.
func UsualLength(streams int) measure.Size {
	if streams > 1 {
		return 256 << 10
	}
	return 1 << 20
}

// MinNumberedMessage is the least latency message over TCP that carries its number.
const MinNumberedMessage = 8

// MinUDPPayload is the header every measured datagram carries: magic, stream,
// sequence number and send time.
const MinUDPPayload = 28

// MaxUDPPayload is the most that a UDP datagram holds over IPv4.
const MaxUDPPayload = 65507

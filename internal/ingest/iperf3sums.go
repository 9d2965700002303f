package ingest

import (
	"encoding/json"
	"errors"
	"math"
)

// iperf3Sums is a member with the sum of all streams. iperf3 3.7 to 3.10 write it twice in a test in both
// directions, once for each.
type iperf3Sums []*iperf3Sum

// UnmarshalJSON adds a sum. An error about a value has the place of the whole document: the name of the
// member tells which it is.
func (t *iperf3Sums) UnmarshalJSON(text []byte) error {
	var v *iperf3Sum
	err := json.Unmarshal(text, &v)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		kind.Offset = 0
	case err == nil && v != nil:
		*t = append((*t)[:min(len(*t), 1)], v)
	}
	return err
}

// separate gives the sums of each direction a member of their own, as later versions write them.
func (d *iperf3Doc) separate() {
	for i := range d.Intervals {
		v := &d.Intervals[i]
		d.separateSums(v.Sums, v.Streams, &v.Sum, &v.Other)
	}
	e := &d.End
	var streams []iperf3Sum
	for _, v := range e.Streams {
		for _, sum := range []*iperf3Sum{v.Sender, v.UDP} {
			if sum != nil {
				streams = append(streams, *sum)
			}
		}
	}
	d.separateSums(e.Sums, streams, &e.Sum, &e.OtherSum)
	d.separateSums(e.SumsSent, streams, &e.Sent, &e.OtherSent)
	d.separateSums(e.SumsReceived, streams, &e.Received, &e.OtherReceived)
	if d.Server != nil {
		d.Server.separate()
	}
}

// separateSums puts a sum, or two of them, where they belong.
func (d *iperf3Doc) separateSums(sums iperf3Sums, streams []iperf3Sum, forward, reverse **iperf3Sum) {
	switch len(sums) {
	case 0:
	case 1:
		*forward = sums[0]
	default:
		first, second := sums[0], sums[1]
		if d.isReverse(first, streams) {
			first, second = second, first
		}
		*forward, *reverse = first, second
		first.Sender, second.Sender = new(!d.atServer()), new(d.atServer())
	}
}

// isReverse reports whether a sum counts what went from the server to the client. Without a mark of its own it is
// that of the streams whose bytes add up to it.
func (d *iperf3Doc) isReverse(sum *iperf3Sum, streams []iperf3Sum) bool {
	if sum.Sender != nil {
		return *sum.Sender == d.atServer()
	}
	forward, reverse, marked := 0.0, 0.0, false
	for i := range streams {
		switch v := &streams[i]; {
		case v.Sender == nil:
		case *v.Sender == d.atServer():
			reverse += v.Bytes
			marked = true
		default:
			forward += v.Bytes
			marked = true
		}
	}
	return marked && math.Abs(sum.Bytes-reverse) < math.Abs(sum.Bytes-forward)
}

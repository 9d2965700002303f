package ingest

import (
	"cmp"
	"slices"
)

// document completes the document of a test with the rows of its end.
func (t *iperf3Test) document() {
	d := &t.d
	d.open = !t.done
	perDirection := len(t.ids)
	if t.roles {
		perDirection /= 2
	}
	if d.Start.Test == nil && len(t.ids)+len(t.rows) > 0 {
		d.Start.Test = &iperf3Parameters{Protocol: "TCP", Streams: float64(perDirection)}
		if t.udp {
			d.Start.Test.Protocol = "UDP"
		}
	}
	if d.Start.Test == nil {
		return
	}
	if t.onlySends() {
		t.reverse = true
		for i := range d.Intervals {
			*d.Intervals[i].Sum.Sender = true
		}
	}
	if t.reverse {
		d.Start.Test.Reverse = 1
	}
	streams := map[string]*iperf3Stream{}
	var order []*iperf3Stream
	for i := range t.rows {
		row := &t.rows[i]
		sum := t.sum(row)
		if row.id == "SUM" || perDirection <= 1 {
			t.total(row, sum)
		}
		if row.id == "SUM" {
			continue
		}
		v := streams[row.id]
		if v == nil {
			v = &iperf3Stream{}
			streams[row.id], order = v, append(order, v)
		}
		switch row.label {
		case "sender":
			v.Sender = sum
		case "receiver":
			v.Receiver = sum
		default:
			v.UDP = sum
		}
	}
	for _, v := range order {
		d.End.Streams = append(d.End.Streams, *v)
	}
}

// onlySends reports whether a server's rows at the end are a sender's. Old versions print a
// receiver's, too, with 0 bytes.
func (t *iperf3Test) onlySends() bool {
	receives := func(r iperf3Row) bool { return r.label != "sender" && (r.label != "receiver" || r.bytes > 0) }
	sends := func(r iperf3Row) bool { return r.label == "sender" && r.bytes > 0 }
	return t.d.atServer() && !t.roles && slices.ContainsFunc(t.rows, sends) && !slices.ContainsFunc(t.rows, receives)
}

// total puts a row that is of all streams of its direction into the document.
func (t *iperf3Test) total(row *iperf3Row, sum *iperf3Sum) {
	e := &t.d.End
	sent, received, both := &e.Sent, &e.Received, &e.Sum
	if row.role == "RX-C" || row.role == "TX-S" {
		sent, received, both = &e.OtherSent, &e.OtherReceived, &e.OtherSum
	}
	switch row.label {
	case "sender":
		*sent = sum
		t.d.senders = append(t.d.senders, row.rounding)
	case "receiver":
		*received = sum
		t.d.receivers = append(t.d.receivers, row.rounding)
	default:
		*both = sum
		t.d.receivers = append(t.d.receivers, row.rounding)
		t.received(sum)
	}
	if n, ok := t.reordered[cmp.Or(row.role, "-")]; ok && row.label != "sender" {
		sum.OutOfOrder = &n
	}
}

// received makes of the row at the end of an old server the receiver's, with the bytes of
// its intervals: the row has the losses, and 0 bytes.
func (t *iperf3Test) received(sum *iperf3Sum) {
	if !t.d.atServer() || t.reverse || sum.Bytes > 0 {
		return
	}
	got := *sum
	for i := range t.d.Intervals {
		if v := t.d.Intervals[i].Sum; v != nil && !v.Omitted {
			got.Bytes += v.Bytes
		}
	}
	if got.Seconds > 0 {
		got.Bps = got.Bytes * 8 / got.Seconds
	}
	t.d.computed, t.d.End.Received, t.d.End.Sum = true, &got, nil
}

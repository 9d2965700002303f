package trial

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// acknowledged adds to own what the other end received in a protocol in which it does not
// report it: over TCP the bytes that its kernel acknowledged; over UDP it is unknown.
func acknowledged(own *measure.End, r *measure.Result) {
	for _, f := range slices.Clone(own.Flows) {
		if f.Role != measure.Sender {
			continue
		}
		if option.OverUDP(r.Options, r.Test) {
			r.Findings.Add(finding.ReceivedNotReported, measure.Where(f.Direction), nil)
			continue
		}
		r.Findings.Add(finding.ReceivedIsAcknowledged, measure.Where(f.Direction), nil)
		own.Flows = append(own.Flows, receivedOf(f))
	}
}

// receivedOf is the count of a receiver that has all of what the sender of f counted.
func receivedOf(f measure.FlowEnd) measure.FlowEnd {
	f.Role, f.Path, f.Acknowledged = measure.Receiver, "", true
	f.Streams, f.Samples = slices.Clone(f.Streams), slices.Clone(f.Samples)
	asReceived(f.Samples)
	for i := range f.Streams {
		s := &f.Streams[i]
		s.ReceivedBytes, s.SentBytes, s.TCP = s.SentBytes, 0, nil
		s.Samples = slices.Clone(s.Samples)
		asReceived(s.Samples)
	}
	return f
}

func asReceived(samples []measure.Sample) {
	for i := range samples {
		samples[i].ReceivedBytes, samples[i].SentBytes = samples[i].SentBytes, 0
	}
}

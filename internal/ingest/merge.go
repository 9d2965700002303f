package ingest

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// merge makes one result from the client's and the server's files of one run. It takes from
// each end what that end counted: the receiver's bytes and losses, the sender's bytes and
// retransmits. What neither file has is absent.
func merge(client, server *measure.Result) *measure.Result {
	r := *client
	o, trial := *client.Origin, *client.Trial
	r.Origin, r.Trial = &o, &trial
	o.End = ""
	o.Run = cmp.Or(client.Origin.Run, server.Origin.Run)
	o.Other = &measure.OtherEnd{File: server.Origin.File, SHA256: server.Origin.SHA256, Record: server.Origin.Record, Line: server.Origin.Line}
	o.ToolVersion = cmp.Or(o.ToolVersion, server.Origin.ToolVersion)
	o.Missing = mergedMissing(client, server)
	if isMissing(client, finding.TimeOfFile) && !isMissing(server, finding.TimeOfFile) {
		r.StartedAt = server.StartedAt
	}
	r.Path.Client, r.Path.Server = mergedEndpoint(client.Path.Client, server.Path.Client), mergedEndpoint(server.Path.Server, client.Path.Server)
	r.Hosts.Client, r.Hosts.Server = cmp.Or(client.Hosts.Client, server.Hosts.Client), cmp.Or(server.Hosts.Server, client.Hosts.Server)
	r.Options.Streams = cmp.Or(r.Options.Streams, server.Options.Streams)
	r.Options.Duration = cmp.Or(r.Options.Duration, server.Options.Duration)
	r.Options.Port = cmp.Or(r.Options.Port, server.Options.Port)
	r.Error = cmp.Or(r.Error, server.Error)
	r.Findings = slices.Clone(client.Findings)
	for _, f := range server.Findings {
		r.Findings.AddOnce(f)
	}
	mergeFigures(&r, client, server)
	trial.Levels = mergedLevels(client, server)
	trial.Pattern, trial.Label = measure.JoinLevels(trial.Levels), labelOf(&r)
	trial.Round = max(client.Trial.Round, server.Trial.Round)
	return &r
}

// mergedMissing is what neither file has, and what one does not have and the other cannot
// provide. Samples are checked separately.
func mergedMissing(client, server *measure.Result) (out measure.Findings) {
	for _, f := range slices.Concat(client.Origin.Missing, server.Origin.Missing) {
		both := slices.ContainsFunc(client.Origin.Missing, f.Equal) && slices.ContainsFunc(server.Origin.Missing, f.Equal)
		if f.Code == finding.NoIntervals || f.Code == finding.IntervalsOfSender {
			continue
		}
		if both || f.Code == finding.RoundedFigures {
			out.AddOnce(f)
		}
	}
	return out
}

func mergedEndpoint(own, seen measure.Endpoint) measure.Endpoint {
	own.Name, own.Address, own.Label = cmp.Or(own.Name, seen.Name), cmp.Or(own.Address, seen.Address), cmp.Or(own.Label, seen.Label)
	return own
}

// mergedLevels are the levels of both; they do not contradict each other.
func mergedLevels(client, server *measure.Result) []measure.Level {
	out := slices.Clone(client.Trial.Levels)
	for _, l := range server.Trial.Levels {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

func mergeFigures(r, client, server *measure.Result) {
	cost := cmp.Or(client.Summary.CPUSecPerGB, server.Summary.CPUSecPerGB)
	var flows []measure.Flow
	for _, f := range client.Flows {
		i := slices.IndexFunc(server.Flows, func(g measure.Flow) bool { return g.Direction == f.Direction })
		if i < 0 {
			flows = append(flows, f)
			continue
		}
		sender, receiver := f, server.Flows[i]
		senderOf, receiverOf := client, server
		if f.Direction == measure.Reverse {
			sender, receiver, senderOf, receiverOf = receiver, sender, server, client
		}
		flows = append(flows, mergeFlow(r, sender, receiver, isMissing(senderOf, finding.GoodputOfSender), isMissing(receiverOf, finding.GoodputOfSender)))
	}
	if len(flows) == 0 {
		flows = server.Flows
	}
	if len(flows) > 0 {
		duration, rate := r.Summary.DurationNs, r.Summary.ConnectionsPerSecond
		setFlows(r, flows...)
		r.Summary.DurationNs, r.Summary.ConnectionsPerSecond = cmp.Or(r.Summary.DurationNs, duration), rate
		sampled(r)
	}
	r.Summary.CPUSecPerGB = cost
	if r.Test == measure.TestConnect {
		mergeConnect(r, client, server)
	}
}

// mergeFlow merges one direction. blindSender and blindReceiver: the goodput in that end's
// file is the sender's figure; in the receiver's file if its program has no count of its own.
func mergeFlow(r *measure.Result, sender, receiver measure.Flow, blindSender, blindReceiver bool) measure.Flow {
	out := receiver
	from, own := sender.Summary, &out.Summary
	if blindReceiver && (!blindSender || own.GoodputBps == 0) {
		*own = from
		from = receiver.Summary
	}
	own.SentBytes = cmp.Or(sender.Summary.SentBytes, own.SentBytes)
	own.ReceivedBytes = cmp.Or(receiver.Summary.ReceivedBytes, own.ReceivedBytes, from.ReceivedBytes)
	own.Retransmits = cmp.Or(sender.Summary.Retransmits, own.Retransmits)
	own.DurationNs = cmp.Or(own.DurationNs, from.DurationNs)
	if own.PacketsSent == 0 && own.LossRatio == nil {
		own.PacketsSent, own.PacketsReceived, own.PacketsLost = from.PacketsSent, from.PacketsReceived, from.PacketsLost
		own.PacketsReordered, own.LossRatio, own.JitterNs = from.PacketsReordered, from.LossRatio, from.JitterNs
	}
	own.PacketsPerSecond = cmp.Or(own.PacketsPerSecond, from.PacketsPerSecond)
	if len(out.Samples) == 0 || !received(out) && received(sender) {
		out.Samples = sender.Samples
	}
	out.Streams = mergeStreams(sender.Streams, receiver.Streams)
	const more = 1.05 // clocks and moments of two programs differ
	if s := out.Summary; s.SentBytes > 0 && float64(s.ReceivedBytes) > more*float64(s.SentBytes) {
		r.Findings.AddOnce(measure.NewFinding(finding.ReceivedExceedsSent, measure.Where(out.Direction), measure.Figures{
			"sent_bytes": s.SentBytes, "received_bytes": s.ReceivedBytes,
		}))
	}
	return out
}

// received reports whether the samples of a flow are the receiver's.
func received(f measure.Flow) bool {
	return slices.ContainsFunc(f.Samples, func(s measure.Sample) bool { return s.ReceivedBytes != 0 })
}

// mergeStreams combines the sender's streams with the receiver's counts. Both ends list them in
// the order of opening.
func mergeStreams(sender, receiver []measure.Stream) []measure.Stream {
	if len(sender) != len(receiver) {
		if len(sender) > len(receiver) {
			return sender
		}
		return receiver
	}
	out := slices.Clone(sender)
	for i := range out {
		out[i].SentBytes = cmp.Or(out[i].SentBytes, receiver[i].SentBytes)
		out[i].ReceivedBytes = cmp.Or(receiver[i].ReceivedBytes, out[i].ReceivedBytes)
		out[i].TCP = cmp.Or(out[i].TCP, receiver[i].TCP)
	}
	return out
}

// sampled is what is missing from the samples of all directions.
func sampled(r *measure.Result) {
	for _, f := range r.Flows {
		switch {
		case len(f.Samples) == 0:
			missing(r, finding.NoIntervals)
		case !received(f):
			missing(r, finding.IntervalsOfSender)
		}
	}
}

// mergeConnect uses the server's count of connections, as soku's own test does.
func mergeConnect(r, client, server *measure.Result) {
	if client.Connect == nil || server.Connect == nil {
		return
	}
	c := *client.Connect
	c.AcceptedPerSecond = server.Connect.AcceptedPerSecond
	r.Connect = &c
	r.Summary.ConnectionsPerSecond = cmp.Or(server.Summary.ConnectionsPerSecond, client.Summary.ConnectionsPerSecond)
}

package measure

import "slices"

// WithoutSeries is r without what is large and in no metric ([metric.Definition]): samples,
// streams, rows and points over time, the [Series] of hosts, histograms that are in no
// [metric.Distribution], and members that this version does not know. It is for those who hold many
// results at a time. What is left is shared with r.
func (r *Result) WithoutSeries() *Result {
	out := *r
	out.unknown = nil
	out.Flows = slices.Clone(r.Flows)
	for i := range out.Flows {
		out.Flows[i].Samples, out.Flows[i].Streams = nil, nil
	}
	out.Hosts = Hosts{r.Hosts.Client.withoutSeries(), r.Hosts.Server.withoutSeries()}
	out.Latency = r.Latency.withoutSeries()
	out.Copy = r.Copy.withoutSeries()
	if r.UnderLoad != nil {
		out.UnderLoad = &UnderLoad{r.UnderLoad.Before.withoutSeries(), r.UnderLoad.During.withoutSeries(), r.UnderLoad.After.withoutSeries()}
	}
	return &out
}

func (c *Copy) withoutSeries() *Copy {
	if c == nil {
		return nil
	}
	out := *c
	out.Stages = slices.Clone(c.Stages)
	for i := range out.Stages {
		s := &out.Stages[i]
		s.Source, s.Sink = s.Source.withoutSeries(), s.Sink.withoutSeries()
	}
	return &out
}

func (w *CopyWork) withoutSeries() *CopyWork {
	if w == nil {
		return nil
	}
	out := *w
	out.Samples = nil
	return &out
}

func (l *Latency) withoutSeries() *Latency {
	if l == nil {
		return nil
	}
	out := *l
	out.Rows, out.Series, out.Flows, out.Application = nil, nil, nil, nil
	out.Arrivals, out.OneWay, out.Split = nil, nil, nil
	return &out
}

func (h *Host) withoutSeries() *Host {
	if h == nil || h.Series == nil {
		return h
	}
	out := *h
	out.Series = nil
	return &out
}

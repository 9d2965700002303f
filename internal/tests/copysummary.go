package tests

import (
	"strconv"

	"soku/internal/measure"
	"soku/internal/text"
)

func copyColumns() []Column {
	return []Column{
		{"live.copy.stage", 9, func(c *text.Catalogue, p measure.Progress) string { return stageText(c, p.Copy) }},
		rateColumn("live.rate"), bytesColumn("live.moved"),
		{"live.copy.files", 9, func(_ *text.Catalogue, p measure.Progress) string {
			if p.Copy == nil {
				return ""
			}
			return strconv.FormatInt(p.Copy.Files, 10)
		}},
		{"live.copy.done", 7, func(c *text.Catalogue, p measure.Progress) string {
			if p.Copy == nil {
				return ""
			}
			return c.Sentence("live.copy.share", text.Args{"Ratio": p.Copy.DoneRatio})
		}},
	}
}

func stageText(c *text.Catalogue, p *measure.CopyProgress) string {
	if p == nil {
		return ""
	}
	return stageName(c, p.Stage)
}

// stageName is a stage for people; of one that this version does not know nothing.
func stageName(c *text.Catalogue, stage string) string {
	switch stage {
	case measure.StageRead, measure.StageNetwork, measure.StageWrite, measure.StageAll:
		return c.Sentence("copy.stage."+stage, nil)
	}
	return ""
}

func copySummary(out *text.Lines, r *measure.Result) {
	c := r.Copy
	if c == nil {
		return
	}
	if s := c.Stage(); s != nil && s.DurationNs > 0 {
		out.Row("label.goodput", "summary.copy.rate", text.Args{"Rate": s.Bps(), "Bytes": s.Bytes, "Duration": s.DurationNs, "Files": s.Files,
			"PerSecond": float64(s.Files) * 1e9 / float64(s.DurationNs), "Sync": syncOf(c)})
	}
	label := "label.stages"
	for _, s := range c.Stages {
		if s.DurationNs > 0 && len(c.Stages) > 1 && s.Stage != measure.StageAll {
			out.Row(label, "summary.copy."+s.Stage, text.Args{"Rate": s.Bps(), "Duration": s.DurationNs})
			label = ""
		}
	}
	placeSummary(out, "label.source", c.Source)
	placeSummary(out, "label.sink", c.Sink)
	if s := c.Stage(); s != nil {
		workSummary(out, "label.reading", s.DurationNs, s.Source, "")
		workSummary(out, "label.writing", s.DurationNs, s.Sink, syncOf(c))
	}
	if len(c.Cuts) > 0 {
		all := cutsOf(c)
		out.Row("label.cuts", "summary.copy.cuts", text.Args{"Cuts": len(c.Cuts), "Duration": all.ns, "Longest": all.longest, "Resent": all.resent})
	}
	if c.Checksum != "" && c.Verified > 0 {
		out.Row("label.verified", "summary.copy.verified", text.Args{"Files": c.Verified, "Method": c.Checksum})
	}
}

func syncOf(c *measure.Copy) string {
	if c.Sink == nil {
		return ""
	}
	return c.Sink.Sync
}

func placeSummary(out *text.Lines, label string, p *measure.CopyPlace) {
	if p == nil || p.FileSystem == "" && p.Device == "" {
		return
	}
	args := text.Args{"FileSystem": p.FileSystem, "Device": p.Device, "Direct": p.Direct, "Known": p.CachedRatio != nil, "Cached": 0.0}
	if p.CachedRatio != nil {
		args["Cached"] = *p.CachedRatio
	}
	out.Row(label, "summary.copy.place", args)
}

// workSummary says which share of the stage the loops of an end spent on what.
func workSummary(out *text.Lines, label string, ns int64, w *measure.CopyWork, sync string) {
	if w == nil || ns <= 0 || w.Streams <= 0 {
		return
	}
	whole := float64(ns) * float64(w.Streams)
	flush := whole
	if sync == "end" { // once, for all streams
		flush = float64(ns)
	}
	out.Row(label, "summary.copy.work", text.Args{
		"File": float64(w.FileNs) / whole, "Read": float64(w.ReadNs) / whole, "Write": float64(w.WriteNs) / whole,
		"Sync": float64(w.SyncNs) / flush, "Hash": float64(w.HashNs) / whole, "Network": float64(w.NetworkNs) / whole,
	})
}

package tests

import (
	"context"
	"net"

	"soku/internal/engine"
	"soku/internal/engine/filecopy"
	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/sock"
	"soku/internal/text"
	"soku/internal/wire"
)

func init() {
	register(Descriptor{
		Test: measure.TestCopy, Before: prepareCopy, Serverless: copyServerless, Finish: finishCopy,
		Serve: serveCopy, Admit: admitCopy,
		Limit:   limitStreams,
		Args:    copyArgs,
		Summary: copySummary,
		Live:    func(View) []Column { return copyColumns() },
	})
}

// prepareCopy makes the files of a copy, or lists those of a folder, and returns the
// descriptor of a trial that copies them.
func prepareCopy(ctx context.Context, o measure.Options) (*Descriptor, func(), error) {
	set, err := filecopy.Prepare(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	d := *Of(measure.TestCopy)
	d.Serverless = func(ctx context.Context, a Serverless) (ServerlessResult, error) { return copyLocally(ctx, set, a) }
	d.Open = func(ctx context.Context, s wire.Session, _ measure.Options) (ClientEnd, error) {
		conns, err := s.TCP(ctx)
		return ClientEnd{Conns: flows.Conns{TCP: conns}, Run: func(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
			if r, can := s.(wire.Resumer); can {
				f.Reconnect = r.Reconnect()
			}
			c, err := copyFrom(ctx, set, conns, o, f)
			return &measure.End{Copy: c}, err
		}}, err
	}
	return &d, set.Close, nil
}

// copyServerless is what a trial has in place of copyLocally until its files are prepared.
func copyServerless(context.Context, Serverless) (ServerlessResult, error) {
	return ServerlessResult{}, measure.Fail(measure.KindInternal, "copy.not_prepared", nil)
}

// copyFrom runs the client's end over connections.
func copyFrom(ctx context.Context, set *filecopy.Set, conns []*net.TCPConn, o measure.Options, f engine.Flow) (*measure.Copy, error) {
	if o.Direction != measure.Reverse {
		return filecopy.Source(ctx, set, conns, o, f)
	}
	root, err := filecopy.SinkRoot(o)
	if err != nil {
		return &measure.Copy{}, err
	}
	if root != nil {
		defer func() { _ = root.Close() }()
	}
	return filecopy.Sink(ctx, root, conns, o, f)
}

// admitCopy refuses copies that the server has no folder for.
func admitCopy(e Engines, o measure.Options) error {
	if e.CopyRoot == nil && filecopy.OptionsOf(o).Stage != measure.StageNetwork {
		return measure.Fail(measure.KindRefused, "copy.no_root", nil)
	}
	return nil
}

// serveCopy runs the server's end.
func serveCopy(ctx context.Context, e ServerEnd) (*measure.End, error) {
	f := engine.Flow{Observe: e.Observe, Limit: e.Limit, FarOptions: true, Reconnect: e.Reconnect}
	if e.Options.Direction != measure.Reverse {
		c, err := filecopy.Sink(ctx, e.Engines.CopyRoot, e.Conns.TCP, e.Options, f)
		return &measure.End{Copy: c}, err
	}
	set, err := filecopy.PrepareServed(ctx, e.Engines.CopyRoot, e.Options, e.Limit)
	if err != nil {
		return &measure.End{}, err
	}
	defer set.Close()
	c, err := filecopy.Source(ctx, set, e.Conns.TCP, e.Options, f)
	return &measure.End{Copy: c}, err
}

func copyLocally(ctx context.Context, set *filecopy.Set, a Serverless) (found ServerlessResult, err error) {
	if err := a.Begin(); err != nil {
		return found, err
	}
	began := sock.Now()
	found.End.Copy, err = filecopy.Local(ctx, set, a.Options, a.Observe)
	found.Duration = measure.Duration(sock.Since(began))
	return found, err
}

// finishCopy adds what makes the figures of a copy less certain.
func finishCopy(r *measure.Result) {
	c := r.Copy
	if c == nil {
		return
	}
	own := filecopy.OptionsOf(r.Options)
	if s := c.Source; s != nil && own.Cache == "cold" && (!s.Direct || filecopy.InMemory(s.FileSystem)) && s.CachedRatio != nil && *s.CachedRatio > cachedMost {
		r.Findings.Add(finding.CopyCached, "", measure.Figures{"ratio": *s.CachedRatio, "file_system": s.FileSystem})
	}
	if len(c.Cuts) > 0 {
		all := cutsOf(c)
		r.Findings.Add(finding.CopyCut, "", measure.Figures{"cuts": len(c.Cuts), "cut_ns": all.ns, "longest_ns": all.longest, "resent_bytes": all.resent})
	}
	if c.Skipped > 0 {
		r.Findings.Add(finding.CopySkipped, "", measure.Figures{"files": c.Skipped})
	}
}

// cutSums are all cuts of a copy together.
type cutSums struct{ ns, longest, resent int64 }

func cutsOf(c *measure.Copy) (all cutSums) {
	for _, s := range c.Stages {
		all.ns += c.CutNs(s.Stage)
	}
	for _, cut := range c.Cuts {
		all.longest, all.resent = max(all.longest, cut.DurationNs), all.resent+cut.ResentBytes
	}
	return all
}

// cachedMost is the share of the files that may be in the page cache of a copy that is to
// read from the disk.
const cachedMost = 0.02

func copyArgs(o measure.Options) text.Args {
	own := filecopy.OptionsOf(o)
	return text.Args{"Files": own.Files, "FileSize": own.FileSize, "Folder": own.Folder, "To": own.To, "Stage": own.Stage, "Sync": own.Sync, "Direct": own.Direct}
}

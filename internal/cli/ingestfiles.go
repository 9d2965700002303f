package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/text"
)

// ingestTaker puts the files of one command into a campaign.
type ingestTaker struct {
	sys     *System
	request *ingest.Request
	intake  *ingest.Intake
	ends    *ingest.Ends
	out     *ingestReport
	fileOf  map[*measure.Result]int // of what waits for its other end: index in out.Files
	several bool                    // files
}

// take reads one file after another. One that cannot be read is reported; the
// other files are still ingested.
func (t *ingestTaker) take(ctx context.Context, paths []string) error {
	t.several = len(paths) > 1
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.out.Files = append(t.out.Files, ingestFile{File: path, Results: []ingestResult{}})
		err := t.file(ctx, len(t.out.Files)-1)
		if measure.KindOf(err) == measure.KindStore {
			return err
		}
		if err != nil {
			t.refuse(len(t.out.Files)-1, err)
		}
	}
	if err := t.join(ctx); err != nil {
		return err
	}
	return t.failure()
}

func (t *ingestTaker) file(ctx context.Context, index int) error {
	file := &t.out.Files[index]
	data, modified, err := readBounded(t.sys, file.File)
	if err != nil {
		return err
	}
	s, err := ingest.NewSource(file.File, data, modified)
	if err != nil {
		return err
	}
	file.SHA256 = s.SHA256
	results, err := t.request.Read(s)
	if err == nil {
		err = t.intake.Check(results)
	}
	if err != nil {
		return err
	}
	for _, r := range results {
		if t.ends.Hold(r) {
			t.fileOf[r] = index
			continue
		}
		if err := t.add(ctx, file, r); err != nil {
			return err
		}
	}
	return nil
}

// join puts in what waited for the other end of its run.
func (t *ingestTaker) join(ctx context.Context) error {
	for _, j := range t.ends.Join() {
		index := t.fileOf[j.Of]
		if j.Err != nil {
			t.refuse(index, j.Err)
			continue
		}
		if j.Other != nil {
			t.out.Files[t.fileOf[j.Other]].Joined++
		}
		if err := t.add(ctx, &t.out.Files[index], j.Result); err != nil {
			return err
		}
	}
	return nil
}

func (t *ingestTaker) add(ctx context.Context, file *ingestFile, r *measure.Result) error {
	taken, added, err := t.intake.Add(ctx, r)
	if err != nil {
		return err
	}
	if added {
		t.out.New++
	} else {
		t.out.Known++
	}
	o, other := taken.Origin, ""
	if o.Other != nil {
		other = o.Other.File
	}
	file.Results = append(file.Results, ingestResult{
		ID: taken.ID, Known: !added, Other: other, Line: o.Line, Format: o.Format, Tool: strings.TrimSpace(o.Tool + " " + o.ToolVersion), Test: taken.Test, Label: taken.Label,
		Pattern: taken.Pattern, Levels: taken.Levels, Round: taken.Round, Headline: headline(text.ForPrograms(), taken.Entry), Missing: o.Missing,
		line: text.Headline(taken.Test, taken.ErrorKind, taken.Figures),
	})
	return nil
}

// refuse says what is wrong with a file, once.
func (t *ingestTaker) refuse(index int, err error) {
	file := &t.out.Files[index]
	if file.Error != nil {
		return
	}
	file.Error = measure.AsError(err, measure.KindFile)
	t.out.Unread++
	if t.several {
		printError(t.sys.Catalogue, t.sys.Stderr, err)
	}
}

// failure is what is wrong with all files together.
func (t *ingestTaker) failure() error {
	var first *measure.Error
	for _, file := range t.out.Files {
		if first == nil {
			first = file.Error
		}
	}
	files := len(t.out.Files)
	switch {
	case first == nil:
		return nil
	case !t.several:
		return first
	case t.out.Unread == files:
		return measure.Fail(first.Kind, "cli.ingest.none_read", measure.Figures{"files": files})
	}
	return measure.Fail(measure.KindIncomplete, "cli.ingest.some_unread", measure.Figures{"unread": t.out.Unread, "files": files})
}

// readBounded reads a file that may be of any size, or no file at all.
func readBounded(sys *System, path string) (data []byte, modified time.Time, err error) {
	wrong := func(err error) error {
		kind := measure.KindFile
		if errors.Is(err, fs.ErrPermission) {
			kind = measure.KindPermission
		}
		return measure.Fail(kind, "cli.ingest.file", measure.Figures{"file": path, "cause": err})
	}
	f, err := sys.Open(path)
	if err != nil {
		return nil, modified, wrong(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, modified, wrong(err)
	}
	if info.IsDir() {
		return nil, modified, measure.Fail(measure.KindFile, "cli.ingest.folder", measure.Figures{"file": path})
	}
	if data, err = io.ReadAll(io.LimitReader(f, ingest.MaxFileBytes+1)); err != nil {
		return nil, modified, wrong(err)
	}
	return data, info.ModTime(), nil
}

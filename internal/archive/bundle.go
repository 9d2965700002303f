package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"soku/internal/measure"
	"soku/internal/store"
)

// Files of a bundle that a merge reads. The others, such as the report, are for people.
const (
	BundleCampaign = "campaign.json"  // a [store.Campaign]
	BundleResults  = "results.ndjson" // a result a line
)

// Bounds of a bundle from outside, in bytes without compression where nothing else is said.
const (
	mostEntries   = 20_000
	mostDirectory = 4 << 20 // of the list of entries
	mostCampaign  = 4 << 20
	mostResult    = 256 << 20 // as in a journal
	mostResults   = 64 << 30
	mostRatio     = 2000 // of what compression saved; text of zeros has 1,000
)

// Bundle is a zip file of a campaign with its results, as [Archive.Merge] reads it, and of other
// files by their names.
func Bundle(ctx context.Context, s store.Store, c store.Campaign, names []string, files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := writeCampaign(ctx, z, s, c); err != nil {
		return nil, err
	}
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func writeCampaign(ctx context.Context, z *zip.Writer, s store.Store, c store.Campaign) error {
	w, err := z.Create(BundleCampaign)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(c); err != nil {
		return err
	}
	if w, err = z.Create(BundleResults); err != nil {
		return err
	}
	lines := json.NewEncoder(w)
	for r, err := range s.Results(ctx, store.Query{Campaign: c.ID, OldestFirst: true}, store.Whole) {
		if err == nil {
			err = lines.Encode(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bundle merges a bundle. It reads two entries by their names, and writes no file.
func (m *merging) bundle(ctx context.Context, file string) error {
	f, err := m.system.Open(file)
	if err != nil {
		return placeFailure(file, err)
	}
	defer func() { _ = f.Close() }()
	z, err := readZip(f)
	if err != nil {
		return placeFailure(file, err)
	}
	c, err := campaignOf(z)
	if err != nil {
		return placeFailure(file, err)
	}
	if err := m.merger.Campaign(ctx, c); err != nil {
		return err
	}
	err = resultsOf(ctx, z, func(r *measure.Result) error {
		if r.Trial == nil || r.Trial.Campaign != c.ID {
			return placeFailure(file, measure.Fail(measure.KindFile, "cli.merge.bundle_other", measure.Figures{"result": r.ID, "campaign": c.ID}))
		}
		return m.merger.Result(ctx, r)
	})
	if err != nil {
		return err
	}
	return m.merger.Flush(ctx)
}

// bounded is a file of which a limited number of bytes is read.
type bounded struct {
	io.ReaderAt
	left int
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, tooLarge()
	}
	return b.ReaderAt.ReadAt(p, at)
}

func tooLarge() error {
	return measure.Fail(measure.KindFile, "cli.merge.bundle_large", measure.Figures{"entries": mostEntries})
}

// readZip reads the list of entries.
func readZip(f io.Reader) (*zip.Reader, error) {
	at, ok := f.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, errors.ErrUnsupported
	}
	size, err := at.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	b := &bounded{at, mostDirectory}
	z, err := zip.NewReader(b, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // a name leads nowhere: nothing is unpacked
		if b.left < 0 {
			return nil, tooLarge()
		}
		return nil, err
	}
	if len(z.File) > mostEntries {
		return nil, tooLarge()
	}
	b.left = int(^uint(0) >> 1) // each entry has a bound of its own
	return z, nil
}

// entry is a part of a bundle up to a number of bytes, an error beyond.
func entry(z *zip.Reader, name string, most int64) (io.ReadCloser, error) {
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		if f.UncompressedSize64 > uint64(most) || f.UncompressedSize64/mostRatio > f.CompressedSize64 {
			return nil, tooLarge()
		}
		return f.Open() // it fails at the end of the size that it states
	}
	return nil, measure.Fail(measure.KindFile, "cli.merge.bundle_entry", measure.Figures{"name": name})
}

func campaignOf(z *zip.Reader) (c store.Campaign, err error) {
	in, err := entry(z, BundleCampaign, mostCampaign)
	if err != nil {
		return c, err
	}
	defer func() { _ = in.Close() }()
	b, err := io.ReadAll(in)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil && c.ID == "" {
		err = measure.Fail(measure.KindFile, "cli.merge.bundle_entry", measure.Figures{"name": BundleCampaign})
	}
	return c, err
}

// resultsOf calls visit with each result. It reads until ctx ends.
func resultsOf(ctx context.Context, z *zip.Reader, visit func(*measure.Result) error) error {
	in, err := entry(z, BundleResults, mostResults)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	lines := bufio.NewScanner(reader{ctx, in})
	lines.Buffer(nil, mostResult)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r measure.Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if err := visit(&r); err != nil {
			return err
		}
	}
	return lines.Err()
}

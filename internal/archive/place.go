package archive

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/store"
)

// Names in a data folder.
const (
	StoreName    = "soku.db"
	JournalsName = "campaigns"
)

// System opens the places that are merged.
type System struct {
	Stat         func(string) (fs.FileInfo, error)
	Open         func(string) (fs.File, error)
	OpenStore    func(ctx context.Context, address string) (store.Store, error)
	OpenJournals func(address string) journal.Backend
}

// Places are files of stores, of journals and of bundles.
type Places struct{ Stores, Journals, Bundles []string }

// Places finds the stores and journals that paths are or have: a file, a bundle, a data folder, its
// folder of campaigns, or the folder of one of them. The store that is merged into, own, is an
// error of kind usage.
func (s System) Places(own string, paths []string) (p Places, err error) {
	here, _ := s.Stat(own) // nil if there is no such file
	for _, path := range paths {
		info, err := s.Stat(path)
		if err != nil {
			return p, placeFailure(path, err)
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = s.filesOf(path); err != nil {
				return p, err
			}
		}
		for _, file := range files {
			is, head, err := s.head(file)
			switch {
			case err != nil:
				return p, placeFailure(file, err)
			case here != nil && os.SameFile(here, is):
				return p, measure.Fail(measure.KindUsage, "cli.merge.itself", measure.Figures{"place": file})
			case strings.HasPrefix(head, "SQLite format 3"):
				p.Stores = append(p.Stores, file)
			case strings.HasPrefix(head, "PK"):
				p.Bundles = append(p.Bundles, file)
			default:
				p.Journals = append(p.Journals, file)
			}
		}
	}
	return p, nil
}

func placeFailure(path string, cause error) error {
	return measure.Fail(measure.KindFile, "cli.merge.place", measure.Figures{"place": path, "cause": cause})
}

// filesOf returns the store and the journals of a folder.
func (s System) filesOf(dir string) (files []string, err error) {
	candidates := []string{filepath.Join(dir, StoreName), journal.File(dir)}
	for _, parent := range []string{filepath.Join(dir, JournalsName), dir} {
		ids, err := s.OpenJournals(parent).IDs()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			candidates = append(candidates, journal.File(filepath.Join(parent, id)))
		}
	}
	for _, file := range candidates {
		if _, err := s.Stat(file); err == nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, measure.Fail(measure.KindNotFound, "cli.merge.empty", measure.Figures{"place": dir})
	}
	return files, nil
}

// head is how a file begins. A pipe or a device is an error: a file is read several times, and from
// its beginning to its end.
func (s System) head(path string) (fs.FileInfo, string, error) {
	info, err := s.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = measure.Fail(measure.KindFile, "cli.merge.no_file", nil)
	}
	if err != nil {
		return nil, "", err
	}
	file, err := s.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 16)
	n, _ := io.ReadFull(file, head)
	return info, string(head[:n]), nil
}

// read has a file read until ctx ends.
func (s System) read(ctx context.Context, path string, use func(io.Reader) error) error {
	f, err := s.Open(path)
	if err != nil {
		return placeFailure(path, err)
	}
	defer func() { _ = f.Close() }()
	return use(reader{ctx, f})
}

// reader is a reader that fails with the cause of ctx when that has ended.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(b)
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// Limits of a folder that is ingested.
const (
	mostFolderFiles = 100_000
	mostFolderDepth = 16
)

// noPattern is the value of --path-pattern for folders that are no levels.
const noPattern = "none"

// ingestPath is a file of a command.
type ingestPath struct {
	path  string
	found bool  // in a folder that was given, and not given itself
	err   error // why this folder cannot be read, or nil
}

// ingestPaths are the files of the arguments, and those in folders among them in the order of their names.
// Hidden files and links are left out.
func ingestPaths(sys *System, args []string) ([]ingestPath, error) {
	var out []ingestPath
	for _, arg := range args {
		info, err := sys.Stat(arg)
		if err != nil || !info.IsDir() {
			out = append(out, ingestPath{path: arg}) // reading it says what is wrong
			continue
		}
		before := len(out)
		if out, err = folderPaths(sys, arg, mostFolderDepth, out); err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, measure.Fail(measure.KindFile, "cli.ingest.folder_empty", measure.Figures{"file": arg})
		}
	}
	return out, nil
}

// folderPaths adds the files of a folder and of those in it, and the folders that cannot be read.
func folderPaths(sys *System, folder string, depth int, out []ingestPath) ([]ingestPath, error) {
	entries, err := folderEntries(sys, folder)
	if err != nil {
		err = measure.Fail(measure.KindFile, "cli.ingest.file", measure.Figures{"file": folder, "cause": err})
		return append(out, ingestPath{path: folder, err: err}), nil //nolint:nilerr // it is reported with those of files
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && depth == 1:
			return nil, measure.Fail(measure.KindFile, "cli.ingest.folder_deep", measure.Figures{"file": path, "limit": mostFolderDepth})
		case e.IsDir():
			if out, err = folderPaths(sys, path, depth-1, out); err != nil {
				return nil, err
			}
		case e.Type().IsRegular():
			out = append(out, ingestPath{path: path, found: true})
		}
		if len(out) > mostFolderFiles {
			return nil, measure.Fail(measure.KindFile, "cli.ingest.folder_large", measure.Figures{"file": folder, "limit": mostFolderFiles})
		}
	}
	return out, nil
}

// folderEntries are what lies in a folder, in the order of the names, and at most one more than may be ingested.
func folderEntries(sys *System, folder string) ([]fs.DirEntry, error) {
	f, err := sys.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	lister, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	entries, err := lister.ReadDir(mostFolderFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// isForeign reports whether an error says that a file is not the output of a program that soku knows, as other
// files in a folder are.
func isForeign(err error) bool {
	var e *measure.Error
	if !errors.As(err, &e) || e.Cause == nil {
		return false
	}
	return slices.Contains([]string{
		"ingest.format.undetected", "ingest.format.program", "ingest.file.zero_bytes", "ingest.file.empty", "ingest.file.encoding",
	}, e.Cause.Code)
}

// chooseFactors asks for the factors of files that lie in several folders, where neither the command line nor a
// mapping says what the folders stand for. Without a terminal that is an error: they would become repeats of one
// pattern. Files that cannot be read are not considered.
func (t *ingestTaker) chooseFactors(ctx context.Context, paths []ingestPath) error {
	q := t.request
	if q.Path != nil || q.Mapping != nil && len(q.Mapping.Results) > 0 || !severalFolders(paths) {
		return nil
	}
	var all, readable []string
	for _, p := range paths {
		if p.err == nil {
			all = append(all, p.path)
		}
	}
	if folders, err := ingest.FoldersOf(all); err == nil && folders == nil {
		return nil // fewer files have no other folders
	}
	for _, path := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, _, err := t.read(path); err == nil {
			readable = append(readable, path)
		}
	}
	folders, err := ingest.FoldersOf(readable)
	if err != nil || folders == nil {
		return err
	}
	names := folders.Suggested()
	if !t.sys.StdinTerminal() {
		return measure.Fail(measure.KindUsage, "cli.ingest.folders", measure.Figures{"folders": firstOf(folders.Levels()[0]), "pattern": folders.Pattern(names)})
	}
	a, c := asking{sys: t.sys, in: bufio.NewReader(t.sys.Stdin), ended: "cli.ingest.ended"}, t.sys.Catalogue
	for i, levels := range folders.Levels() {
		question := printable.Line(c.Sentence("ingest.folders", text.Args{"Folders": firstOf(levels), "Name": names[i]}))
		err := a.put(ctx, question, func(answer string) error {
			given := slices.Clone(names)
			clear(given[i+1:]) // they are asked for next
			switch answer {
			case "":
			case "-":
				given[i] = ""
			default:
				given[i] = answer
			}
			if err := checkFactors(folders, given[i], given); err != nil {
				return err
			}
			names[i] = given[i]
			return nil
		})
		if err != nil {
			return err
		}
	}
	pattern := folders.Pattern(names)
	if pattern == "" {
		return nil
	}
	fmt.Fprintln(t.sys.Stderr, printable.Line(c.Sentence("ingest.pattern", text.Args{"Pattern": pattern})))
	q.Path, err = ingest.ParsePathPattern(pattern)
	return err
}

// checkFactors sees that a name is one for a factor, and that a pattern with these names can be read.
func checkFactors(folders *ingest.Folders, name string, names []string) error {
	if strings.ContainsAny(name, "{}/") {
		return measure.Fail(measure.KindUsage, "cli.ingest.factor_name", measure.Figures{"text": name})
	}
	pattern := folders.Pattern(names)
	if pattern == "" {
		return nil
	}
	_, err := ingest.ParsePathPattern(pattern)
	return err
}

// firstOf are the first names of a list, with dots for the others.
func firstOf(names []string) []string {
	const most = 6
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), "...")
}

// levelsText is levels as --factor takes them.
func levelsText(levels []measure.Level) string {
	var out []string
	for _, l := range levels {
		out = append(out, l.Factor+"="+l.Value)
	}
	return strings.Join(out, " ")
}

func severalFolders(paths []ingestPath) bool {
	return slices.ContainsFunc(paths, func(p ingestPath) bool { return filepath.Dir(p.path) != filepath.Dir(paths[0].path) })
}

// replaces decides whether a result takes the place of the one in the campaign that has other levels. A person
// at the terminal is asked once, for all results of the command.
func (t *ingestTaker) replaces(ctx context.Context, old *ingest.Taken, r *measure.Result) (bool, error) {
	if t.replace || t.asked || !t.sys.StdinTerminal() {
		return t.replace, nil
	}
	t.asked = true
	question := t.sys.Catalogue.Sentence("ingest.replace", text.Args{"File": r.Origin.File, "Old": levelsText(old.Levels), "New": levelsText(r.Trial.Levels)})
	agreed, err := confirmed(ctx, t.sys, printable.Line(question))
	t.replace = agreed
	return agreed, err
}

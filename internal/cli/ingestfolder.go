package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
		out = append(out, ingestPath{path: folder, err: measure.Fail(measure.KindFile, "cli.ingest.file", measure.Figures{"file": folder, "cause": err})})
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

// chooseFactors asks for the factors of files that lie in several folders, or in another one than results of the
// campaign that they would be repeats of, where neither the command line nor a mapping says what the folders stand
// for. Without a terminal that is an error. Files that cannot be read are not considered. It returns the paths, with
// those before them that are to be ingested again, so that their results have the factors, too.
func (t *ingestTaker) chooseFactors(ctx context.Context, paths []ingestPath) ([]ingestPath, error) {
	q := t.request
	before := slices.Sorted(maps.Keys(t.intake.Alike(nil)))
	if q.Path != nil && len(before) > 0 {
		_, results, err := t.readAll(ctx, readablePaths(paths))
		return paths, cmp.Or(err, t.intake.Deeper(results))
	}
	if q.Path != nil || q.Mapping != nil && len(q.Mapping.Results) > 0 || !severalFolders(paths) && len(before) == 0 {
		return paths, nil
	}
	all := readablePaths(paths)
	if folders, err := ingest.FoldersOf(append(before, all...)); err == nil && folders == nil {
		return paths, nil // fewer files have no other folders
	}
	readable, results, err := t.readAll(ctx, all)
	if err != nil {
		return nil, err
	}
	folders, earlier, err := t.foldersOf(readable, results)
	if err != nil || folders == nil {
		return paths, err
	}
	names := folders.Suggested()
	if !t.sys.StdinTerminal() {
		code := "cli.ingest.folders"
		if len(earlier) > 0 {
			code = "cli.ingest.folders_before"
		}
		return nil, measure.Fail(measure.KindUsage, code, measure.Figures{"folders": firstOf(folders.Levels()[0]), "pattern": folders.Pattern(names)})
	}
	pattern, err := t.askFactors(ctx, folders, names)
	if err != nil || pattern == "" {
		return paths, err
	}
	if q.Path, err = ingest.ParsePathPattern(pattern); err != nil {
		return nil, err
	}
	return append(t.again(earlier), paths...), nil
}

func readablePaths(paths []ingestPath) (out []string) {
	for _, p := range paths {
		if p.err == nil {
			out = append(out, p.path)
		}
	}
	return out
}

// readAll reads files, without those that cannot be read, and their results without series.
func (t *ingestTaker) readAll(ctx context.Context, paths []string) (readable []string, results []*measure.Result, err error) {
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if r, _, err := t.read(path); err == nil {
			readable = append(readable, path)
			for _, one := range r {
				results = append(results, one.WithoutSeries())
			}
		}
	}
	return readable, results, nil
}

// foldersOf are the folders of files, or nil if no question about them is open. earlier are files of the campaign,
// with their SHA-256, where these are in folders among them: they lie in one folder, as otherwise it was decided
// before that folders are repeats.
func (t *ingestTaker) foldersOf(files []string, results []*measure.Result) (folders *ingest.Folders, earlier map[string]string, err error) {
	folders, err = ingest.FoldersOf(files)
	earlier = t.intake.Alike(results)
	before := slices.Sorted(maps.Keys(earlier))
	if of, wrong := ingest.FoldersOf(before); err != nil || of != nil || wrong != nil {
		return folders, nil, err
	}
	if of, wrong := ingest.FoldersOf(append(before, files...)); wrong == nil && of != nil && len(before) > 0 {
		return of, earlier, nil
	}
	return folders, nil, t.intake.Deeper(results)
}

// askFactors asks for the names of the factors and returns the path pattern, or an empty one without factors.
func (t *ingestTaker) askFactors(ctx context.Context, folders *ingest.Folders, names []string) (string, error) {
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
			return "", err
		}
	}
	pattern := folders.Pattern(names)
	if pattern != "" {
		fmt.Fprintln(t.sys.Stderr, printable.Line(c.Sentence("ingest.pattern", text.Args{"Pattern": pattern})))
	}
	return pattern, nil
}

// again are the files of the campaign that are as they were: their results are replaced by those with the factors.
func (t *ingestTaker) again(earlier map[string]string) (out []ingestPath) {
	for _, file := range slices.Sorted(maps.Keys(earlier)) {
		if _, sha256, err := t.read(file); err == nil && sha256 == earlier[file] {
			out = append(out, ingestPath{path: file})
		}
	}
	t.replace = t.replace || len(out) > 0
	if gone := len(earlier) - len(out); gone > 0 {
		fmt.Fprintln(t.sys.Stderr, printable.Line(t.sys.Catalogue.Sentence("ingest.gone", text.Args{"Files": gone})))
	}
	return out
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

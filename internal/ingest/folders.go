package ingest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Folders are the folders that files lie in, by which the files differ. Where nothing says what they stand for,
// they may be levels of factors, such as D2/ and D4/, or repeats.
type Folders struct {
	parts [][]string // different names of each level below the common folder, in order of the paths
	named []int      // the parts that may be a factor
}

// repeatFolder is the name of a folder of a repeat.
var repeatFolder = regexp.MustCompile(`(?i)^(run|round|repeat|rep|trial|iteration)[-_ ]?[0-9]+$`)

// endFolders are names of folders of one end of runs.
var endFolders = []string{"client", "server", "clients", "servers", "sender", "receiver"}

// FoldersOf are the folders of these files that may be levels of factors, or nil if there are none. Folders of
// repeats, such as run1, and of the two ends of runs are not. It is an error of kind usage if the files
// lie at different depths below their common folder, so that no pattern fits all.
func FoldersOf(paths []string) (*Folders, error) {
	var all [][]string
	for _, path := range paths {
		all = append(all, foldersOf(path))
	}
	if len(all) == 0 {
		return nil, nil
	}
	common := 0
	for common < len(all[0]) && !slices.ContainsFunc(all, func(p []string) bool { return common >= len(p) || p[common] != all[0][common] }) {
		common++
	}
	f := &Folders{parts: make([][]string, len(all[0])-common)}
	seen := make([]map[string]bool, len(f.parts))
	for n := range seen {
		seen[n] = map[string]bool{}
	}
	for i, parts := range all {
		if len(parts) != len(all[0]) {
			return nil, measure.Fail(measure.KindUsage, "ingest.folders.depth", measure.Figures{"file": short(paths[0]), "other": short(paths[i])})
		}
		for n, name := range parts[common:] {
			if !seen[n][name] {
				seen[n][name] = true
				f.parts[n] = append(f.parts[n], name)
			}
		}
	}
	for n, names := range f.parts {
		isRepeat := !slices.ContainsFunc(names, func(name string) bool { return !repeatFolder.MatchString(name) })
		isEnd := !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(endFolders, strings.ToLower(name)) })
		if len(names) > 1 && !isRepeat && !isEnd {
			f.named = append(f.named, n)
		}
	}
	if len(f.named) == 0 {
		return nil, nil
	}
	return f, nil
}

// deeper returns an error of kind usage if a file that would be a repeat of earlier ones lies deeper than all of
// these below a common folder, or the other way round: the folders that one has more may be levels of a factor.
// Folders that the pattern reads do not count; p is nil without a pattern. Paths without a common folder are not
// compared, as they may have been named from different folders.
func deeper(p *PathPattern, earlier []string, file string) error {
	var wrong error
	for _, other := range earlier {
		deep, inDeep := p.unread(file)
		flat, inFlat := p.unread(other)
		if inDeep && inFlat && len(deep) == len(flat) {
			return nil
		}
		below := other // the file that is not as deep
		if len(deep) < len(flat) {
			deep, flat, below = flat, deep, file
		}
		common := commonParts(deep, foldersOf(below))
		if wrong != nil || !inDeep || !inFlat || common == 0 || !slices.ContainsFunc(deep[common:], isLevel) {
			continue
		}
		rest, repeats, others := "*", "none", ""
		if p != nil {
			rest = p.text
			repeats = strings.Repeat("*/", len(deep)-common) + rest
		}
		if common < len(flat) {
			others = patternOf(flat[common:]) + rest
		}
		wrong = measure.Fail(measure.KindUsage, "ingest.folders.deeper", measure.Figures{
			"file": short(file), "other": short(other), "folders": strings.Join(deep[common:], "/") + "/",
			"levels": patternOf(deep[common:]) + rest, "others": others, "repeats": repeats,
		})
	}
	return wrong
}

// foldersOf are the folders of a path, from the outer to the inner ones.
func foldersOf(path string) []string {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	return parts[:len(parts)-1]
}

// commonParts is with how many equal names two paths begin.
func commonParts(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// patternOf is the beginning of a path pattern with a factor in place of each folder that may be a level.
func patternOf(folders []string) string {
	f := Folders{parts: make([][]string, len(folders))}
	for n, name := range folders {
		if isLevel(name) {
			f.named = append(f.named, n)
		}
	}
	return strings.TrimSuffix(f.Pattern(f.Suggested()), "*")
}

// isLevel reports whether a folder's name is not one of a repeat or of an end of a run.
func isLevel(name string) bool {
	return !repeatFolder.MatchString(name) && !slices.Contains(endFolders, strings.ToLower(name))
}

// Levels are the names of the folders of each possible factor, from the outer to the inner ones.
func (f *Folders) Levels() (out [][]string) {
	for _, n := range f.named {
		out = append(out, f.parts[n])
	}
	return out
}

// Pattern is the path pattern with a factor of each name in place of the folders; an empty name stands for
// folders that are no factor. It is empty if all names are.
func (f *Folders) Pattern(names []string) string {
	out := make([]string, len(f.parts))
	for n := range out {
		out[n] = "*"
	}
	for i, n := range f.named {
		if names[i] != "" {
			out[n] = "{" + names[i] + "}"
		}
	}
	if !slices.ContainsFunc(out, func(part string) bool { return part != "*" }) {
		return ""
	}
	return strings.Join(append(out, "*"), "/")
}

// Suggested are names for the factors of [Folders.Pattern].
func (f *Folders) Suggested() []string {
	if len(f.named) == 1 {
		return []string{"folder"}
	}
	var out []string
	for i := range f.named {
		out = append(out, "folder"+strconv.Itoa(i+1))
	}
	return out
}

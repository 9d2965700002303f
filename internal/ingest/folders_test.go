package ingest

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestFoldersThatDifferMayBeFactors(t *testing.T) {
	for paths, want := range map[string]string{
		"D2/run1.json D4/run1.json":                       "{folder}/*",
		"/x/D2/run1.json /x/D4/run1.json /x/D4/run2.json": "{folder}/*",
		"D2/a/1.json D2/b/1.json D4/a/1.json":             "{folder1}/{folder2}/*",
		"D2/run1/x.json D2/run2/x.json D4/run1/x.json":    "{folder}/*/*",
		`r\D2\x.json r\D4\x.json`:                         "{folder}/*",
		"a/same/x.json b/same/x.json":                     "{folder}/*/*",
		"run1/x.json run2/x.json":                         "",
		"round-1/x.json Round_2/x.json":                   "",
		"client/x.json server/x.json":                     "",
		"x.json y.json":                                   "",
		"x.json":                                          "",
		"":                                                "",
		"1/x.json 4/x.json":                               "{folder}/*",
	} {
		f, err := FoldersOf(strings.Fields(paths))
		if err != nil {
			t.Errorf("%q: %v", paths, err)
			continue
		}
		got := ""
		if f != nil {
			got = f.Pattern(f.Suggested())
			if _, err := ParsePathPattern(got); err != nil {
				t.Errorf("%q: %v", paths, err)
			}
			if empty := f.Pattern(make([]string, len(f.Levels()))); empty != "" {
				t.Errorf("%q: %q without names", paths, empty)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", paths, got, want)
		}
	}
	if _, err := FoldersOf([]string{"a/x.json", "a/b/x.json"}); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "different depths") {
		t.Error(err)
	}
}

func TestVeryManyFoldersAreComparedInOnePass(t *testing.T) {
	paths := make([]string, 100_000)
	for i := range paths {
		paths[i] = fmt.Sprintf("a/%d/x.json", i)
	}
	f, err := FoldersOf(paths)
	if err != nil || len(f.Levels()) != 1 || len(f.Levels()[0]) != len(paths) || f.Levels()[0][1] != "1" {
		t.Errorf("%+v, %v", f, err)
	}
}

func FuzzFolders(f *testing.F) {
	f.Add("D2/run1.json\nD4/run1.json")
	f.Add(`r\D2\x.json` + "\n" + `r\D4\x.json`)
	f.Fuzz(func(t *testing.T, text string) {
		folders, err := FoldersOf(strings.Split(text, "\n"))
		if err != nil {
			if measure.KindOf(err) != measure.KindUsage {
				t.Fatal(err)
			}
			return
		}
		if folders == nil {
			return
		}
		names := folders.Suggested()
		if len(names) != len(folders.Levels()) {
			t.Fatalf("%d names of %d factors", len(names), len(folders.Levels()))
		}
		if len(names) > maxFactors { // a pattern of more is refused with its results
			return
		}
		if _, err := ParsePathPattern(folders.Pattern(names)); err != nil {
			t.Fatal(err)
		}
	})
}

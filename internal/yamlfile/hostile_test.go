package yamlfile_test

import (
	"runtime"
	"strings"
	"testing"

	"soku/internal/yamlfile"
)

// A file of 64 KiB must not take memory or time beyond its size, however it is written. Bytes
// that were allocated stand for the time, too: they are the same in every run.
func TestHostileTextIsCheap(t *testing.T) {
	const most = 100 << 20 // bytes allocated, a few hundred for each of the file
	for name, part := range map[string]string{
		"brackets":                       "[",
		"braces":                         "{a: ",
		"brackets that close in quotes":  strings.Repeat("[", 60) + `"` + strings.Repeat("]", 60) + `",`,
		"brackets that close in comment": strings.Repeat("[", 60) + " # " + strings.Repeat("]", 60) + "\n    ",
		"other brackets that close":      "[}",
		"tags":                           "!a ",
		"anchors":                        "&a ",
		"tags and anchors":               "&a !b ",
		"aliases":                        "*a ",
		"keys on a line":                 "a: ",
		"explicit keys on a line":        "? a: ",
		"merges on a line":               "<<: ",
		"quotes on a line":               "'a' ",
		"lists on a line":                "- ",
		"empty lists":                    "-\n",
		"documents":                      "---\n",
		"comments":                       "#\n",
	} {
		for _, begin := range []string{"", "a: [", "a:\n  - "} {
			text := []byte(begin + strings.Repeat(part, (menu.MaxBytes-8)/len(part)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := yamlfile.Parse("m.yaml", text, menu)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
				t.Errorf("%s after %q: %d MiB were allocated (%.80v)", name, begin, grown>>20, err)
			}
		}
	}
}

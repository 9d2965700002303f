package main

import (
	"os"
	"testing"

	"soku/test/tier"
)

// The bench must not change the machine for other programs.
func TestTheCongestionControlsOfTheMachineAreRestored(t *testing.T) {
	tier.NeedsRoot(t, "changes of the system's congestion control")
	read := func() (texts [2]string) {
		for i, file := range []string{congestionFile, allowedFile} {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Skip(err)
			}
			texts[i] = string(b)
		}
		return texts
	}
	before := read()
	restore, note := useCubic()
	if during := read(); note == "" && during[0] != "cubic\n" {
		t.Errorf("the system's is %q", during[0])
	}
	restore()
	if after := read(); after != before {
		t.Errorf("it was %q and is %q", before, after)
	}
}

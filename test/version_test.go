package test

import (
	"os"
	"regexp"
	"testing"

	"soku/internal/version"
)

func TestTheNewestVersionOfTheChangelogIsThatOfTheProgram(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindSubmatch(text)
	if m == nil || string(m[1]) != version.Release {
		t.Errorf("CHANGELOG.md begins with %q, the program is %s", m, version.Release)
	}
}

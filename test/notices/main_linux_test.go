package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/notices"
)

func TestTheNoticesAreThoseOfTheModulesInTheProgram(t *testing.T) {
	const root = "../.."
	want, err := collect(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"==== soku, LICENSE", "the Go standard library", "modernc.org/sqlite v", "github.com/spf13/cobra v", "golang.org/x/sys v"} {
		if !strings.Contains(string(want), module) {
			t.Errorf("%s has no license", module)
		}
	}
	text, err := notices.Text()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join(root, plainFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, want) || !bytes.Equal(plain, want) {
		t.Errorf("the modules of the program have changed: run make notices")
	}
}

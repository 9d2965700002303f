package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/store"
	"soku/test/freeport"
)

// No server listens: a command that measures first fails with "refused".
func TestPlacesToWriteAreTriedBeforeAnythingIsMeasured(t *testing.T) {
	closed := net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.One(t)))
	dir := t.TempDir()
	file, plan := filepath.Join(dir, "file"), filepath.Join(dir, "plan.yaml")
	for name, text := range map[string]string{
		file: "a file, and no folder", plan: fmt.Sprintf("campaign: a\ntests: {tcp: {test: tcp, duration: 100ms}}\nendpoints: {b: {address: %q}}\nto: b\n", closed),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	below := filepath.Join(file, "below")
	for _, c := range []struct {
		line    string
		dataDir string // instead of one that can be written
	}{
		{"tcp " + closed + " -o " + below, ""},
		{"tcp " + closed + " -o " + dir, ""},
		{"tcp " + closed + " --no-save -o " + filepath.Join(dir, "none", "below"), ""},
		{"ping 127.0.0.1 -o " + below, ""},
		{"tcp " + closed + " --store " + below, ""},
		{"tcp " + closed, below},
		{"floor --quick", below},
		{"run --no-preflight " + plan, below},
		{"run --no-preflight --report " + below + ".html " + plan, ""},
		{"versus tcp_" + closed + " tcp_" + closed + "_-P_2", below},
		{"new -o " + filepath.Join(dir, "none", "plan.yaml"), ""},
	} {
		args := strings.Fields(c.line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ") // within an argument
		}
		sys, out, errs := fakeSystem(t, args...)
		if c.dataDir != "" {
			sys.DataDir = c.dataDir
		}
		sys.StdinTerminal = func() bool { return true }
		sys.Stdin = strings.NewReader("Why?\nvm2\ntcp\n\n\n") // answers to the questions of soku new
		if code := Run(sys); code != 7 || out.Len() > 0 || !strings.Contains(errs.String(), dir) || strings.Contains(errs.String(), "refused") || strings.Contains(errs.String(), sys.Catalogue.Sentence("new.keys", nil)) {
			t.Errorf("%s: status %d, %s%s", c.line, code, out, errs)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestARunOpensAndTriesEachPlaceOnce(t *testing.T) {
	closed := net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.One(t)))
	dir := t.TempDir()
	plan, other := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "other.db")
	if err := os.WriteFile(plan, fmt.Appendf(nil, "campaign: a\ntests: {tcp: {test: tcp, duration: 100ms}}\nendpoints: {b: {address: %q}}\nto: b\nrounds: 1\n", closed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", other} {
		sys, _, errs := fakeSystem(t, "run", "--no-preflight", "--patience", "0", "--store", file, plan)
		open, try := sys.OpenStore, sys.TryWrite
		var opened, tried []string
		sys.OpenStore = func(ctx context.Context, address string) (store.Store, error) {
			opened = append(opened, address)
			return open(ctx, address)
		}
		sys.TryWrite = func(name string) error {
			tried = append(tried, name)
			return try(name)
		}
		want := []string{storeFile(sys, "")}
		if file != "" {
			want = append(want, file)
		}
		if Run(sys); !slices.Equal(opened, []string{storeFile(sys, file)}) || !slices.Equal(tried, want) {
			t.Errorf("--store %q: opened %q, tried %q; %s", file, opened, tried, errs)
		}
	}
}

func TestWhatStoresNothingNeedsNoStore(t *testing.T) {
	sys, out, errs := fakeSystem(t, "tcp", startServer(t, nil), "-t", "100ms", "--no-save")
	sys.DataDir = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(sys.DataDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), "counted at the receiver") {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/server"
)

// A folder without a lock is what a copy leaves that is killed as it begins.
func TestAServerThatDoesNotStartRemovesNothing(t *testing.T) {
	root := t.TempDir()
	left := filepath.Join(root, ".soku-copy-0")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := soku(t, "server", "--copy-root", root, "--allow", "ten"); code != 2 {
		t.Fatalf("status %d: %s", code, errs)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
}

// A server without options says that it serves anyone, for how long, and how to limit that.
func TestAServerSaysWhoCanUseIt(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for args, want := range map[string]string{
		"":                                    "anyone who reaches a port can make this host send and receive, for at most 1h0m0s; to limit that: --allow, --token-file, --max-rate\n",
		"--max-duration 0 --allow 10.0.0.0/8": "clients in 10.0.0.0/8 can make this host send and receive; to limit that: --token-file, --max-rate, --max-duration\n",
		"--max-duration 60s --max-rate 1G --allow 127.0.0.0/8 --allow ::1 --token-file " + token: "clients in 127.0.0.0/8, ::1 that have the token can make this host send and receive, at most 1.000 Gbit/s a test and direction, for at most 1m0s\n",
		"--copy-max 5GB --copy-root " + root:                                                     "for at most 1h0m0s, and write at most 5.000 GB in " + root + "; to limit that: --allow",
		"--copy-max 0 --copy-root " + root:                                                       "and write in " + root + "; to limit that: --allow, --token-file, --max-rate, --copy-max\n",
	} {
		sys, _, errs := fakeSystem(t, append([]string{"server", "--listen", "127.0.0.1:0"}, strings.Fields(args)...)...)
		interrupts := make(chan os.Signal, 1)
		interrupts <- os.Interrupt
		sys.Interrupts = interrupts
		if code := Run(sys); !strings.Contains(errs.String(), want) {
			t.Errorf("%q: status %d, %s, want %s", args, code, errs, want)
		}
	}
}

// Only what the disk has free bounds copies without --copy-max, and no copy takes all of it.
func TestCopiesMayTakeATenthOfTheDiskByDefault(t *testing.T) {
	var cfg server.Config
	if err := cfg.OpenCopyRoot(t.TempDir(), server.CopyMaxTenth); err != nil {
		t.Fatal(err)
	}
	defer cfg.CloseCopyRoot()
	free, known := cfg.CopyRoot.Free()
	if tenth := measure.Size(free / 10); known && (cfg.CopyRoot.Most() < tenth*9/10 || cfg.CopyRoot.Most() > tenth*11/10) || !known && cfg.CopyRoot.Most() != 0 {
		t.Errorf("%d of %d", cfg.CopyRoot.Most(), free)
	}
}

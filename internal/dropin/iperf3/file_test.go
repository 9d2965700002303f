package iperf3

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/sock"
)

// aFile has a little over 3 MB, which is not a multiple of the block size.
func aFile(t *testing.T) (name string, contents []byte) {
	t.Helper()
	contents = make([]byte, 3_000_123)
	sock.Incompressible(contents)
	name = filepath.Join(t.TempDir(), "sent")
	if err := os.WriteFile(name, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, contents
}

func arrived(t *testing.T, name string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d arrived: %v", len(got), len(want), err)
	}
}

func TestAFileIsSentAndReceivedInBothRoles(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	file, contents := aFile(t)
	t.Run("client", func(t *testing.T) {
		t.Parallel()
		kept := filepath.Join(t.TempDir(), "kept")
		port, _ := realServer(t, "-F", kept)
		mine := ours(t, "-c", "127.0.0.1", "-p", port, "-F", file, "-J")
		if mine.code != 0 {
			t.Fatalf("%+v", mine)
		}
		arrived(t, kept, contents)
		port, _ = realServer(t, "-F", kept)
		theirs := execute(t, program, "-c", "127.0.0.1", "-p", port, "-F", file, "-J")
		sameShape(t, parsed(t, theirs.stdout), parsed(t, mine.stdout))
		d := value(items(parsed(t, mine.stdout), "end", "streams")[0], "diskfile")
		if integral(d, "sent") != int64(len(contents)) || integral(d, "size") != int64(len(contents)) || integral(d, "percent_sent") != 100 || wording(d, "filename") != file {
			t.Errorf("%v", d)
		}
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		kept := filepath.Join(t.TempDir(), "kept")
		s := startOurs(t, "-1", "-F", kept)
		if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-F", file); out.code != 0 {
			t.Fatalf("%+v", out)
		}
		if got := s.result(t); !strings.Contains(got.stdout, "        Sent 2.86 MBytes / 2.86 MBytes (100%) of "+kept+"\n") {
			t.Errorf("%s%s", got.stdout, got.stderr)
		}
		arrived(t, kept, contents)
	})
	t.Run("reverse", func(t *testing.T) {
		t.Parallel()
		kept := filepath.Join(t.TempDir(), "kept")
		s := startOurs(t, "-1", "-F", file)
		out := ours(t, "-c", "127.0.0.1", "-p", s.port, "-R", "-t", "1", "-F", kept)
		if got := s.result(t); out.code != 0 || got.code != 0 || got.stderr != "" {
			t.Fatalf("%+v %+v", out, got)
		}
		arrived(t, kept, contents)
	})
	t.Run("over UDP", func(t *testing.T) {
		t.Parallel()
		s := startOurs(t, "-1", "-F", filepath.Join(t.TempDir(), "kept"))
		if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-u"); out.code != 1 {
			t.Errorf("%+v", out)
		}
		s.result(t)
	})
	if out := ours(t, "-c", "127.0.0.1", "-p", startOurs(t).port, "-F", "/nonexistent/file"); out.code != 1 || !strings.Contains(out.stderr, "open the contents of a stream") {
		t.Errorf("%+v", out)
	}
}

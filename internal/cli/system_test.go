package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDataFolderNeverDependsOnTheCurrentFolder(t *testing.T) {
	if filepath.Separator != '/' {
		t.SkipNow()
	}
	for name, c := range map[string]struct {
		env  map[string]string
		goos string
		home string // of the user database
		want string
	}{
		"asked for":                     {map[string]string{"SOKU_DATA": "here", "HOME": "/home/a", "STATE_DIRECTORY": "/var/lib/a"}, "linux", "/root", "here"},
		"HOME":                          {map[string]string{"HOME": "/home/a"}, "linux", "/root", "/home/a/.local/share/soku"},
		"HOME of macOS":                 {map[string]string{"HOME": "/home/a"}, "darwin", "/root", "/home/a/Library/Application Support/soku"},
		"XDG_DATA_HOME":                 {map[string]string{"HOME": "/home/a", "XDG_DATA_HOME": "/data"}, "linux", "/root", "/data/soku"},
		"relative XDG_DATA_HOME":        {map[string]string{"HOME": "/home/a", "XDG_DATA_HOME": "data"}, "linux", "/root", "/home/a/.local/share/soku"},
		"no environment":                {nil, "linux", "/root", "/root/.local/share/soku"},
		"relative HOME":                 {map[string]string{"HOME": "."}, "linux", "/root", "/root/.local/share/soku"},
		"no environment of macOS":       {nil, "darwin", "/var/root", "/var/root/Library/Application Support/soku"},
		"LocalAppData":                  {map[string]string{"LocalAppData": "/local"}, "windows", "", "/local/soku"},
		"no environment of Windows":     {nil, "windows", "/users/a", "/users/a/AppData/Local/soku"},
		"service":                       {map[string]string{"HOME": "/", "STATE_DIRECTORY": "/var/lib/soku"}, "linux", "/root", "/var/lib/soku"},
		"service with several folders":  {map[string]string{"STATE_DIRECTORY": "/var/lib/soku:/var/lib/more"}, "linux", "/root", "/var/lib/soku"},
		"user without an entry":         {nil, "linux", "", ""},
		"relative in the user database": {nil, "linux", "root", ""},
	} {
		got := dataDir(func(key string) string { return c.env[key] }, c.goos, func() string { return c.home })
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWithoutADataFolderNothingIsWrittenToTheCurrentOne(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte("campaign: a\ntests: [{test: tcp}]\nendpoints: {a: {}, b: {address: 127.0.0.1}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(line string) (out string, code int) {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ") // within an argument
		}
		sys, stdout, stderr := fakeSystem(t, args...)
		sys.DataDir = ""
		code = Run(sys)
		return stdout.String() + stderr.String(), code
	}
	for _, line := range []string{
		"ls", "show last", "tcp 127.0.0.1", "report last", "compare a b", "run " + plan, "merge --from .",
		"floor", "floor --show", "doctor --undo", "rm last", "versus tcp_127.0.0.1 tcp_127.0.0.1_-P_2",
	} {
		if out, code := run(line); code != 2 || !strings.Contains(out, "SOKU_DATA") {
			t.Errorf("%s: status %d: %s", line, code, out)
		}
	}
	store := filepath.Join(t.TempDir(), "soku.db")
	for _, line := range []string{"ls --store " + store, "catalog search ec2", "plan " + plan, "tcp --no-save -t 50ms " + startServer(t, nil)} {
		if out, code := run(line); code != 0 && !strings.HasPrefix(line, "plan") {
			t.Errorf("%s: status %d: %s", line, code, out)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("the current folder has %v, %v", left, err)
	}
}

func TestAFileThatIsReplacedKeepsItsMode(t *testing.T) {
	if filepath.Separator != '/' {
		t.SkipNow()
	}
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o600, 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if err := writeWhole(name, []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v: %v", info.Mode(), mode, err)
		}
	}
}

// A file that is renamed before its content is on disk may be empty after a loss of power.
func TestAFileIsOnDiskBeforeItReplacesAnother(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	usual := syncFile
	t.Cleanup(func() { syncFile = usual })
	syncFile = func(f *os.File) error {
		now, _ := os.ReadFile(name)
		seen = append(seen, string(now))
		return usual(f)
	}
	if err := writeWhole(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if want := "old new"; strings.Join(seen, " ") != want { // the file, then the folder
		t.Errorf("the file had %q when something was synced", seen)
	}
	syncFile = func(*os.File) error { return os.ErrInvalid }
	if err := writeWhole(name, []byte("newer"), 0o600); err == nil {
		t.Error("no error")
	}
	if got, _ := os.ReadFile(name); string(got) != "new" {
		t.Errorf("the file has %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}

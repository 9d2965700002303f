package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestALineThatWasNotWrittenWholeIsWrittenOver(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	fix(t, s, folder, receive)
	name := filepath.Join(folder, RecordFile)
	whole, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(whole, strings.TrimSuffix(string(whole), "}\n")+strings.Repeat(" ", 1000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	fix(t, s, folder, three)
	if fates := undo(t, s, folder, "boot"); len(fates) != 2 || !restored(t, root) {
		t.Errorf("%+v", fates)
	}
}

func TestARecordIsOfOneProcessAtATime(t *testing.T) {
	folder := t.TempDir()
	record(t, folder)
	if _, err := OpenRecord(folder); measure.KindOf(err) != measure.KindRefused {
		t.Errorf("the second: %v", err)
	}
}

func TestARecordThatIsALinkIsNotFollowed(t *testing.T) {
	folder, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("without an end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(folder, RecordFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRecord(folder); measure.KindOf(err) != measure.KindStore {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(secret); string(b) != "without an end" {
		t.Errorf("the file has %q", b)
	}
}

// root does not apply a record that another user wrote, as below a home folder that sudo keeps.
func TestARecordOfAnotherUserIsNotApplied(t *testing.T) {
	for name, change := range map[string]func(file string) error{
		"others may write to it": func(file string) error { return os.Chmod(file, 0o622) },
		"of another user": func(file string) error {
			if os.Geteuid() != 0 {
				return os.Chmod(file, 0o602)
			}
			return os.Chown(file, 65534, 65534)
		},
	} {
		root, folder := kernel(t), t.TempDir()
		s := systemSettings{string(root)}
		fix(t, s, folder, receive)
		if err := change(filepath.Join(folder, RecordFile)); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRecord(folder)
		if measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "another user") || r != nil {
			t.Errorf("%s: %v", name, err)
		}
		if restored(t, root) || !HasRecord(folder) {
			t.Errorf("%s: the record was applied", name)
		}
	}
}

// Any user who can write to the folder may have written the record: it is refused if it names a
// setting that soku does not change, or an invalid value.
func TestARecordOfOtherSettingsIsRefused(t *testing.T) {
	line := func(change string) string { return `{"v":1,"at":"2026-11-26T03:00:00Z",` + change + "}\n" }
	good := line(`"kind":"sysctl","key":"net.core.rmem_max","was":"1","to":"2"`)
	if e, _, err := parseRecord([]byte(good)); err != nil || len(e) != 1 {
		t.Fatalf("%v %v", e, err)
	}
	for _, bad := range []string{
		line(`"kind":"sysctl","key":"kernel.core_pattern","was":"|/tmp/x","to":"core"`),
		line(`"kind":"sysctl","key":"net.core.rmem_max","was":"1\n2","to":"2"`),
		line(`"kind":"sysctl","key":"net.core.rmem_max","was":"","to":"2"`),
		line(`"kind":"sysctl","key":"net.core.rmem_max","was":"` + strings.Repeat("1", 300) + `","to":"2"`),
		line(`"kind":"rps","device":"../../../etc","key":"rx-0","was":"0","to":"1"`),
		line(`"kind":"rps","device":"eth0","key":"../../x","was":"0","to":"1"`),
		line(`"kind":"governor","key":"policy0/../x","was":"powersave","to":"performance"`),
		line(`"kind":"irq","key":"1/../2","was":"0","to":"1"`),
		line(`"kind":"offload","device":"eth0","key":"ntuple","was":"off","to":"on"`),
		line(`"kind":"file","key":"/etc/passwd","was":"0","to":"1"`),
		strings.Replace(good, `"v":1`, `"v":2`, 1), "no JSON\n", "\n", "[]\n",
	} {
		if e, _, err := parseRecord([]byte(bad)); err == nil {
			t.Errorf("%s is %+v", bad, e)
		}
		folder := t.TempDir()
		_ = os.WriteFile(filepath.Join(folder, RecordFile), []byte(good+bad), 0o600)
		_, err := OpenRecord(folder)
		var e *measure.Error
		if !errors.As(err, &e) || e.Kind != measure.KindFile || e.Figures["line"] != 2.0 {
			t.Errorf("%s: %v", bad, err)
		}
		if b, _ := os.ReadFile(filepath.Join(folder, RecordFile)); string(b) != good+bad {
			t.Errorf("the record was changed to %q", b)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"v":1,"at":"2026-11-26T03:00:00Z","kind":"rps","device":"eth0","key":"rx-0","was":"0","to":"3"}` + "\n"))
	f.Add([]byte("{}\n{\"v\":1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, _, err := parseRecord(b)
		if err != nil {
			return
		}
		for _, e := range entries {
			file := e.file()
			if file != filepath.Clean(file) && file != "" || file != "" && !strings.HasPrefix(file, "/proc/sys/net/") && !strings.HasPrefix(file, "/proc/irq/") &&
				!strings.HasPrefix(file, "/sys/class/net/") && !strings.HasPrefix(file, cpufreq+"policy") {
				t.Errorf("%q is a setting that soku changes", file)
			}
		}
	})
}

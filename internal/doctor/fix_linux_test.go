package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"soku/internal/measure"
	"soku/test/cable"
)

var (
	receive  = Change{Kind: KindSysctl, Key: "net.core.rmem_max", Was: "212992", To: "16777216"}
	three    = Change{Kind: KindSysctl, Key: "net.ipv4.tcp_rmem", Was: "4096 131072 6291456", To: "4096 131072 67108864"}
	steering = Change{Kind: KindSteering, Device: "eth0", Key: "rx-0", Was: "0", To: "3"}
)

// kernel is a root with the settings of these changes, as the kernel writes them.
func kernel(t *testing.T) files {
	return plant(t, map[string]string{
		"proc/sys/net/core/rmem_max": "212992\n", "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
		"sys/class/net/eth0/queues/rx-0/rps_cpus": "00000000,00000000\n", "proc/sys/net/core/wmem_max": "1\n",
	})
}

// restored reports whether all settings of a kernel are as they were in the beginning.
func restored(t *testing.T, root files) bool {
	t.Helper()
	s := systemSettings{string(root)}
	for _, c := range []Change{receive, three, steering} {
		if now, err := s.Read(c); err != nil || !c.same(now, c.Was) {
			return false
		}
	}
	return true
}

func record(t *testing.T, folder string) *Record {
	t.Helper()
	r, err := OpenRecord(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// fix makes changes and gives the record back; fates are those of an undo.
func fix(t *testing.T, s Settings, folder string, changes ...Change) (results []Result) {
	t.Helper()
	r := record(t, folder)
	defer r.Close()
	if err := Fix(t.Context(), s, r, "boot", changes, func(res Result) { results = append(results, res) }); err != nil {
		t.Fatal(err)
	}
	return results
}

func undo(t *testing.T, s Settings, folder, boot string) (fates []Undone) {
	t.Helper()
	r := record(t, folder)
	defer r.Close()
	if err := Undo(t.Context(), s, r, boot, func(u Undone) { fates = append(fates, u) }); err != nil {
		t.Fatal(err)
	}
	return fates
}

func TestChangesAreMadeAndUndoneInReverse(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	for _, r := range fix(t, s, folder, receive, three, steering) {
		if now, err := s.Read(r.Change); r.Err != nil || err != nil || !r.same(now, r.To) {
			t.Errorf("%s: %v, %q", r.Name(), r.Err, now)
		}
	}
	if restored(t, root) || !HasRecord(folder) {
		t.Fatal("nothing changed")
	}
	fates := undo(t, s, folder, "boot")
	var order []string
	for _, u := range fates {
		order = append(order, u.Key+" "+string(u.Fate))
	}
	if want := []string{"rx-0 restored", "net.ipv4.tcp_rmem restored", "net.core.rmem_max restored"}; !reflect.DeepEqual(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	if !restored(t, root) || HasRecord(folder) {
		t.Errorf("restored %v, record %v", restored(t, root), HasRecord(folder))
	}
}

// The same setting, changed twice, has its first value again.
func TestChangesOfOneSettingAreUndoneOneByOne(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	fix(t, s, folder, receive)
	more := receive
	more.To = "33554432"
	if r := fix(t, s, folder, more); r[0].Was != "16777216" {
		t.Errorf("the old value is %q, not the one that the setting had", r[0].Was)
	}
	if undo(t, s, folder, "boot"); !restored(t, root) {
		t.Error("not restored")
	}
}

func TestAChangeIsRecordedBeforeItIsMadeAndReadBack(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := &wrapped{Settings: systemSettings{string(root)}, write: func(c Change, _ string) error {
		b, err := os.ReadFile(filepath.Join(folder, RecordFile))
		if err != nil || !strings.Contains(string(b), `"was":"212992","to":"16777216"`) || !strings.HasSuffix(string(b), "\n") {
			t.Errorf("the record is %q (%v) when %s is changed", b, err, c.Name())
		}
		return nil // and the kernel does not take it
	}}
	r := fix(t, s, folder, receive)
	var e *measure.Error
	if !errors.As(r[0].Err, &e) || e.Code != "doctor.change.not_taken" {
		t.Errorf("a change that was not taken: %v", r[0].Err)
	}
	if fates := undo(t, s, folder, "boot"); len(fates) > 0 || HasRecord(folder) {
		t.Errorf("a change that was not taken is undone: %+v", fates)
	}
}

type wrapped struct {
	Settings
	read  func(Change) error
	write func(Change, string) error
}

func (w *wrapped) Read(c Change) (string, error) {
	if w.read != nil {
		if err := w.read(c); err != nil {
			return "", err
		}
	}
	return w.Settings.Read(c)
}

func (w *wrapped) Write(c Change, value string) error { return w.write(c, value) }

func TestWhatHasItsValueIsNotChangedAndWhatFailsDoesNotStopTheOthers(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	already, absent := receive, Change{Kind: KindSysctl, Key: "net.core.somaxconn", Was: "128", To: "1024"}
	already.To = "212992"
	r := fix(t, s, folder, already, absent, three)
	if r[0].Err != nil || r[1].Err == nil || r[2].Err != nil {
		t.Errorf("%+v", r)
	}
	b, _ := os.ReadFile(filepath.Join(folder, RecordFile))
	if strings.Count(string(b), "\n") != 1 || !strings.Contains(string(b), "tcp_rmem") {
		t.Errorf("record %s", b)
	}
}

func TestWhatSomebodyChangedMeanwhileIsLeft(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	fix(t, s, folder, receive, three)
	if err := s.Write(receive, "5000000"); err != nil {
		t.Fatal(err)
	}
	fates := undo(t, s, folder, "boot")
	if len(fates) != 2 || fates[0].Fate != Restored || fates[1].Fate != Left || fates[1].Value != "5000000" {
		t.Errorf("%+v", fates)
	}
	if now, _ := s.Read(receive); now != "5000000" {
		t.Errorf("it is %q", now)
	}
}

func TestARestartUndoesChangesByItself(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	fix(t, s, folder, receive)
	if fates := undo(t, s, folder, "another boot"); len(fates) != 1 || fates[0].Fate != Restarted {
		t.Errorf("%+v", fates)
	}
	if now, _ := s.Read(receive); now != receive.To || HasRecord(folder) {
		t.Errorf("it is %q, record %v", now, HasRecord(folder))
	}
}

func TestWhatCannotBeRestoredStaysInTheRecord(t *testing.T) {
	root, folder := kernel(t), t.TempDir()
	s := systemSettings{string(root)}
	fix(t, s, folder, receive, three)
	broken := &wrapped{Settings: s, write: s.Write, read: func(c Change) error {
		if c.Key == receive.Key {
			return os.ErrPermission
		}
		return nil
	}}
	if fates := undo(t, broken, folder, "boot"); len(fates) != 2 || fates[0].Fate != Restored || fates[1].Fate != Failed || !HasRecord(folder) {
		t.Errorf("%+v, record %v", fates, HasRecord(folder))
	}
	if fates := undo(t, s, folder, "boot"); len(fates) != 1 || !restored(t, root) || HasRecord(folder) {
		t.Errorf("the second time: %+v", fates)
	}
}

// killing kills the process at a step: before each read, before each write and after it.
type killing struct {
	Settings
	steps int
}

func (k *killing) step() {
	if k.steps--; k.steps == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (k *killing) Read(c Change) (string, error) {
	k.step()
	return k.Settings.Read(c)
}

func (k *killing) Write(c Change, value string) error {
	k.step()
	err := k.Settings.Write(c, value)
	k.step()
	return err
}

const killEnv = "SOKU_DOCTOR_TEST_KILL" // fix or undo, steps, root and folder

// TestKilledHelper is the process that is killed.
func TestKilledHelper(t *testing.T) {
	what := strings.Split(os.Getenv(killEnv), "|")
	if len(what) != 4 {
		t.Skip("tier: it is a part of another test")
	}
	steps, _ := strconv.Atoi(what[1])
	s := &killing{systemSettings{what[2]}, steps}
	r, err := OpenRecord(what[3])
	if err != nil {
		t.Fatal(err)
	}
	if what[0] == "fix" {
		err = Fix(t.Context(), s, r, "boot", []Change{receive, three}, func(Result) {})
	} else {
		err = Undo(t.Context(), s, r, "boot", func(Undone) {})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// killed runs the helper, and reports whether it was killed.
func killed(t *testing.T, what string, steps int, root files, folder string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHelper$")
	cmd.Env = append(os.Environ(), killEnv+"="+strings.Join([]string{what, strconv.Itoa(steps), string(root), folder}, "|"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%s at step %d: %v: %s", what, steps, err, out)
	}
	return false
}

func TestAKillAtAnyMomentLeavesWhatUndoRestores(t *testing.T) {
	for _, what := range []string{"fix", "undo"} {
		steps := 1
		for ; ; steps++ {
			root, folder := kernel(t), t.TempDir()
			s := systemSettings{string(root)}
			if what == "undo" {
				fix(t, s, folder, receive, three)
			}
			dead := killed(t, what, steps, root, folder)
			undo(t, s, folder, "boot")
			if !restored(t, root) || HasRecord(folder) {
				t.Errorf("%s killed at step %d: restored %v, record %v", what, steps, restored(t, root), HasRecord(folder))
			}
			if !dead {
				break
			}
		}
		if steps != 9 { // two changes of a read, a write and a read back
			t.Errorf("%s was killed at %d moments", what, steps-1)
		}
	}
}

func TestOffloadsOfAnInterfaceAreChangedAndRestored(t *testing.T) {
	a, _ := cable.Pair(t)
	c := Change{Kind: KindOffload, Device: a.Device, Key: "tso", Was: "off", To: "on"}
	s, folder := SystemSettings(), t.TempDir()
	a.Link(t, func(netlink.Link) error {
		if err := s.Write(c, "off"); err != nil {
			return err
		}
		if r := fix(t, s, folder, c); r[0].Err != nil {
			return r[0].Err
		}
		if now, err := s.Read(c); now != "on" {
			t.Errorf("it is %q (%v)", now, err)
		}
		fates := undo(t, s, folder, "boot")
		if now, err := s.Read(c); now != "off" || len(fates) != 1 {
			t.Errorf("it is %q (%v) afterwards: %+v", now, err, fates)
		}
		return nil
	})
}

// Every change that a check offers is one that a record may have.
func TestEveryChangeThatIsOfferedCanBeUndone(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range troubles {
		s := healthy()
		c.spoil(s)
		for _, f := range Examine(Checks, s).Findings {
			for _, change := range f.Changes {
				kinds[change.Kind] = true
				if err := change.check(); err != nil {
					t.Errorf("%s: %v", change.Command(), err)
				}
			}
		}
	}
	if len(kinds) != 6 {
		t.Errorf("changes of the kinds %v only", kinds)
	}
}

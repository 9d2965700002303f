package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"soku/internal/doctor"
	"soku/internal/measure"
	"soku/test/output"
)

// settings are those of a system in memory, by the names of the changes.
type settings map[string]string

func (s settings) Read(c doctor.Change) (string, error) {
	v, there := s[c.Name()]
	if !there {
		return "", os.ErrNotExist
	}
	return v, nil
}

func (s settings) Write(c doctor.Change, value string) error {
	s[c.Name()] = value
	return nil
}

var shortBuffer = doctor.Change{Kind: doctor.KindSysctl, Key: "net.core.rmem_max", Was: "212992", To: "16777216"}

// patient is what was found on a host with a short buffer, and the system that has it.
func patient(t *testing.T) (*doctor.Document, settings, *System, *bytes.Buffer, *output.Buffer) {
	d := &doctor.Document{Ends: []doctor.End{{Where: measure.AtClient, Findings: []doctor.Finding{{
		Code: "udp_receive_buffer", Severity: doctor.Problem, Changes: []doctor.Change{shortBuffer},
	}}}}}
	kernel := settings{"net.core.rmem_max": "212992"}
	sys, out, errs := fakeSystem(t)
	sys.Settings, sys.Root = kernel, true
	return d, kernel, sys, out, errs
}

func TestDoctorChangesNothingWithoutConsent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*System)
		kind   measure.Kind
		says   string
	}{
		"not root":    {func(s *System) { s.Root = false }, measure.KindPermission, ""},
		"no terminal": {func(*System) {}, measure.KindUsage, ""},
		"no": {func(s *System) {
			s.StdinTerminal, s.Stdin = func() bool { return true }, strings.NewReader("n\n")
		}, "", "nothing is changed"},
		"end of input": {func(s *System) { s.StdinTerminal = func() bool { return true } }, "", "nothing is changed"},
	} {
		d, kernel, sys, out, errs := patient(t)
		c.change(sys)
		mended, err := fixDoctor(t.Context(), sys, d, false)
		if len(mended) > 0 || kernel["net.core.rmem_max"] != "212992" || doctor.HasRecord(sys.DataDir) {
			t.Errorf("%s: changed %v", name, kernel)
		}
		if c.kind == "" && err != nil || c.kind != "" && measure.KindOf(err) != c.kind || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: %v, %s", name, err, errs)
		}
		if !strings.Contains(out.String(), `change      sysctl -w net.core.rmem_max="16777216" (now 212992)`) {
			t.Errorf("%s: the commands are not listed: %s", name, out)
		}
	}
}

func TestDoctorMendsAfterAYesAndRestores(t *testing.T) {
	for name, change := range map[string]func(*System) bool{
		"yes": func(*System) bool { return true },
		"asked": func(s *System) bool {
			s.StdinTerminal, s.Stdin = func() bool { return true }, strings.NewReader("y\n")
			return false
		},
	} {
		d, kernel, sys, out, errs := patient(t)
		mended, err := fixDoctor(t.Context(), sys, d, change(sys))
		if err != nil || kernel["net.core.rmem_max"] != "16777216" || d.Problems(mended) != 0 || d.Problems(nil) != 1 {
			t.Fatalf("%s: %v, %v, %s", name, err, kernel, errs)
		}
		for _, want := range []string{"changed     net.core.rmem_max is 16777216, was 212992\n", "soku doctor --undo restores them\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in %s", name, want, out)
			}
		}
		out.Reset()
		if err := undoDoctor(t.Context(), sys); err != nil || kernel["net.core.rmem_max"] != "212992" || out.String() != "restored    net.core.rmem_max is 212992 again\n" {
			t.Errorf("%s: %v, %v, %s", name, err, kernel, out)
		}
		if err := undoDoctor(t.Context(), sys); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("%s: a second time: %v", name, err)
		}
	}
}

func TestDoctorSaysWhatItLeaves(t *testing.T) {
	d, kernel, sys, out, _ := patient(t)
	if _, err := fixDoctor(t.Context(), sys, d, true); err != nil {
		t.Fatal(err)
	}
	kernel["net.core.rmem_max"] = "9"
	out.Reset()
	if err := undoDoctor(t.Context(), sys); err != nil || kernel["net.core.rmem_max"] != "9" || !strings.Contains(out.String(), "left        net.core.rmem_max is 9, and soku had set 16777216") {
		t.Errorf("%v, %v, %s", err, kernel, out)
	}
}

func TestDoctorThatCannotChangeSaysSo(t *testing.T) {
	d, kernel, sys, out, _ := patient(t)
	delete(kernel, "net.core.rmem_max")
	mended, err := fixDoctor(t.Context(), sys, d, true)
	if measure.KindOf(err) != measure.KindIncomplete || d.Problems(mended) != 1 || !strings.Contains(out.String(), "failed      sysctl -w net.core.rmem_max") {
		t.Errorf("%v, %s", err, out)
	}
	if doctor.HasRecord(sys.DataDir) {
		t.Error("a record without changes stays")
	}
}

func TestDoctorWithoutAChangeHasNothingToAsk(t *testing.T) {
	_, _, sys, out, _ := patient(t)
	if _, err := fixDoctor(t.Context(), sys, &doctor.Document{}, false); err != nil || !strings.Contains(out.String(), "soku itself can fix none of these") {
		t.Errorf("%v, %s", err, out)
	}
}

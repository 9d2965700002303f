package measure

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"testing"

	"soku/internal/text/messages"
)

func TestAFailureCarriesItsEnglishSentences(t *testing.T) {
	e := Fail(KindUsage, "option.rate.unit", Figures{"text": "5 parsecs"})
	if e.Error() != `rate "5 parsecs": unknown unit; write for example 50M, 1.5G or 800kbit/s` || KindOf(e) != KindUsage {
		t.Errorf("%q of kind %s", e, KindOf(e))
	}
	if e := Fail(KindUsage, "option.unknown_test", Figures{"test": netip.MustParseAddr("10.0.0.4"), "tests": []string{"tcp"}}); e.Message != `unknown test "10.0.0.4"` {
		t.Errorf("%q", e)
	}
	for _, tests := range []any{[]string{"tcp", "udp"}, []Test{"tcp", "udp"}} {
		if e := Fail(KindUsage, "option.unknown_test", Figures{"test": Test("x"), "tests": tests}); e.Hint != "tests are tcp, udp" {
			t.Errorf("%T: %q", tests, e.Hint)
		}
	}
}

// A document keeps code and figures, so that the sentence can be made again in another
// language, and a program that groups failures reads no sentences.
func TestAFailureIsReadFromADocumentAsItWasWritten(t *testing.T) {
	inner := Fail(KindUsage, "option.duration.negative", Figures{"text": "-1s"})
	e := Fail(KindFile, "option.unknown_test", Figures{"test": "x", "tests": []string{"tcp"}, "cause": inner})
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again Error
	mustUnmarshal(t, b, &again)
	message, hint := again.Sentences(messages.English())
	if message != e.Message || hint != e.Hint || again.Cause == nil || again.Cause.Code != inner.Code {
		t.Errorf("%s is read as %q, %q, %+v", b, message, hint, again.Cause)
	}
}

func TestACauseIsFoundInAFailure(t *testing.T) {
	file := &fs.PathError{Op: "open", Path: "plan", Err: fs.ErrNotExist}
	inner := Fail(KindFile, "option.duration.negative", Figures{"text": "-1s", "cause": file})
	e := Fail(KindStore, "option.unknown_test", Figures{"test": "x", "tests": []string{"tcp"}, "cause": inner})
	if !errors.Is(e, fs.ErrNotExist) || e.Cause != inner || inner.Cause != nil {
		t.Errorf("%+v", e)
	}
	var found *fs.PathError
	if !errors.As(e, &found) || found != file || inner.Figures["cause"] != file.Error() {
		t.Errorf("%+v", inner)
	}
}

// Text of another program or another version stays as it is.
func TestSentencesOfOthersAreKept(t *testing.T) {
	for name, e := range map[string]Error{
		"no code":                         {Message: "busy", Hint: "wait"},
		"a code of a later version":       {Code: "later.code", Message: "busy", Hint: "wait"},
		"figures of a later version":      {Code: "option.rate.unit", Figures: Figures{"later": 1.0}, Message: "busy", Hint: "wait"},
		"a code that is no code, no hint": {Code: "hint", Message: "busy", Hint: "wait"},
	} {
		message, hint := e.Sentences(messages.English())
		if message != "busy" || hint != "wait" && name != "figures of a later version" {
			t.Errorf("%s: %q, %q", name, message, hint)
		}
	}
}

func TestAHintMayBeOfItsOwnCode(t *testing.T) {
	e := Fail(KindUsage, "option.duration.negative", Figures{"text": "-1s"}).WithHintCode("see_help", Figures{"command": "soku tcp"})
	if e.Error() != `duration "-1s": negative; see: soku tcp --help` || e.Figures["text"] != "-1s" {
		t.Errorf("%+v", e)
	}
}

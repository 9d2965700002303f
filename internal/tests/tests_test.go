package tests

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestEveryTestHasADescriptorAndItsSentences(t *testing.T) {
	for _, test := range measure.Tests() {
		d := Of(test)
		if d == nil || d.Summary == nil {
			t.Errorf("%s: no descriptor, or one without a summary", test)
			continue
		}
		for _, key := range []string{"help." + string(test) + ".short", "help." + string(test) + ".long", "help." + string(test) + ".example", "summary.test." + string(test), "plan.test." + string(test)} {
			if !text.English().Has(key) {
				t.Errorf("%s: there is no message %s", test, key)
			}
		}
	}
	if len(descriptors) != len(measure.Tests()) {
		t.Errorf("%d descriptors, %d tests", len(descriptors), len(measure.Tests()))
	}
}

// A document may lack any part: it may be of a trial that failed, or damaged.
func TestASummaryOfAnEmptyResultDoesNotFail(t *testing.T) {
	for test, d := range descriptors {
		var lines text.Lines
		d.Summary(&lines, &measure.Result{Test: test})
		if d.Table != nil {
			d.Table(text.English(), &measure.Result{Test: test})
		}
		if d.Live == nil {
			continue
		}
		for _, sender := range []bool{false, true} {
			for _, c := range d.Live(View{Sender: sender}) {
				if c.Cell(text.English(), measure.Progress{}); !text.English().Has(c.Head) {
					t.Errorf("%s: there is no heading %s", test, c.Head)
				}
			}
		}
	}
}

func TestATestIsRegisteredOnceAndOnlyWhereAnEngineDeclaresIt(t *testing.T) {
	for _, name := range []measure.Test{measure.TestTCP, "undeclared"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was registered", name)
				}
			}()
			register(Descriptor{Test: name})
		}()
	}
}

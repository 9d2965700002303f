package option

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestPinsAreReadForEachEnd(t *testing.T) {
	auto, off := Pinning{On: true}, Pinning{}
	list := func(cpus ...int) Pinning { return Pinning{On: true, CPUs: cpus} }
	for text, want := range map[string][2]Pinning{
		"": {off, off}, "off": {off, off}, "auto": {auto, auto},
		"2,3": {list(2, 3), list(2, 3)}, "8, 0-3": {list(0, 1, 2, 3, 8), list(0, 1, 2, 3, 8)},
		"1/auto": {list(1), auto}, "auto/off": {auto, off}, "2/3": {list(2), list(3)}, "/1": {off, list(1)}, "1023": {list(1023), list(1023)},
	} {
		client, server, err := ParsePin(text)
		if err != nil || !reflect.DeepEqual([2]Pinning{client, server}, want) {
			t.Errorf("%q: %+v, %+v, %v; want %+v", text, client, server, err, want)
		}
	}
}

func TestAnInvalidPinIsRefusedWithAHint(t *testing.T) {
	for _, text := range []string{"x", "1,", "3-1", "1024", "-1", "1,1", "0-3,2", "1/2/3", "1/x", "99999999999999999999", strings.Repeat("1,", 600)} {
		o := Defaults(measure.TestTCP)
		o.Pin = text
		if _, err := Effective(o, measure.TestTCP); measure.KindOf(err) != measure.KindUsage || !strings.HasPrefix(err.Error(), "pin: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestProcessorsAreWrittenAsTheyAreRead(t *testing.T) {
	for text, cpus := range map[string][]int{"": nil, "4": {4, 4}, "0-2,8": {8, 1, 0, 2}, "0,2": {2, 0}} {
		if got := FormatCPUs(cpus); got != text {
			t.Errorf("%v: %q, want %q", cpus, got, text)
		}
	}
}

func FuzzParsePin(f *testing.F) {
	for _, text := range []string{"auto", "2,3", "0-3,8/auto", "off/1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		client, server, err := ParsePin(text)
		if err != nil {
			if measure.KindOf(err) != measure.KindUsage {
				t.Errorf("%v", err)
			}
			return
		}
		for _, p := range []Pinning{client, server} {
			if !slices.IsSorted(p.CPUs) || len(slices.Compact(slices.Clone(p.CPUs))) != len(p.CPUs) || len(p.CPUs) > mostCPU+1 {
				t.Errorf("%q gives %v", text, p.CPUs)
			}
			if len(p.CPUs) == 0 {
				continue
			}
			if again, _, err := ParsePin(FormatCPUs(p.CPUs)); err != nil || !slices.Equal(again.CPUs, p.CPUs) {
				t.Errorf("%q gives %v and these %v, %v", text, p.CPUs, again.CPUs, err)
			}
		}
	})
}

package lab

import (
	"errors"
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
)

func FuzzParse(f *testing.F) {
	for _, name := range exampleFiles(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("lab: x\nipv6: true\nhosts: {a: {addresses: {v: auto}, police: 1M}, b: }\nlinks: [{from: a, to: b, parallel: 3}]\nroutes: [{on: a, to: b, via: b}]"))
	f.Add([]byte("lab: x\nhosts: {a: {server: true, disk: {read: 200M, write: 60M}}, b: {disk: }}\nlinks: [{from: a, to: b}]"))
	f.Add([]byte("lab: &x [*x]\n<<: {}\n? {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		top, err := Parse("f.yaml", data)
		if err != nil {
			var e *measure.Error
			if !errors.As(err, &e) || e.Kind != measure.KindFile || !strings.HasPrefix(e.Message, "f.yaml:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		first, last := top.Nodes[0].Name, top.Nodes[len(top.Nodes)-1].Name
		if tr, err := top.Truth(first, last, ""); err == nil && (tr.RTTNs < 0 || tr.FlowCapBps > tr.CapBps || tr.LossRatio < 0 || tr.LossRatio >= 1 || tr.MTU < 576) {
			t.Fatalf("%s to %s: %+v", first, last, tr)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"schema":"soku.lab/1","name":"x","processes":[{"pid":2}],"lines":[{"delay_ns":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := decodeState(data); err == nil {
			for _, p := range s.Processes {
				if p.PID <= 1 {
					t.Fatalf("process %d would be killed", p.PID)
				}
			}
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(emptyRecord(0))
	f.Add(emptyRecord(1))
	full := make([]byte, recordBytes(1)-recordHeader)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = decodeRecord(data)
		// What follows the first bytes is one counter like another.
		for _, d := range []int{recordHeader, recordHeader + int(countCounters)*8} {
			whole := append(emptyRecord(1), full...)
			copy(whole[d:], data)
			got, err := decodeRecord(whole)
			if err != nil || len(got) != 1 || got[0].P50Ns > got[0].P99Ns || got[0].P99Ns > got[0].MaxNs {
				t.Fatalf("%+v, %v", got, err)
			}
		}
	})
}

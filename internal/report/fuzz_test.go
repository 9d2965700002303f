package report

import (
	"bytes"
	"testing"

	"soku/internal/measure"
)

// FuzzReport writes every form of a report on whatever document parses.
func FuzzReport(f *testing.F) {
	for _, r := range campaignWithFailure().Results[:6] {
		r.Flows = nil
		b, err := r.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"schema":"soku.result/1","test":"tcp","flows":[{"samples":[{"end_ns":-5},{"start_ns":3}]}],"summary":{"goodput_bps":-1e300}}`))
	f.Add([]byte(`{"schema":"soku.result/1","test":"udp","flows":[{"samples":[{"end_ns":9223372036854775807,"received_bytes":9223372036854775807}]}],"summary":{"goodput_bps":1.7e308,"jitter_ns":1.7e308,"loss_ratio":-3}}`))
	f.Add([]byte(`{"schema":"soku.result/1","test":"x","latency":{"series":[{"at_ns":-9223372036854775808}]}}`))
	f.Add([]byte(`{"schema":"soku.result/1","test":"copy","copy":{"stages":[{"stage":"all","duration_ns":1,"source":{"samples":[{"start_ns":9,"end_ns":-5,"file_bytes":-1},{"end_ns":9223372036854775807,"file_bytes":9223372036854775807,"device":{"reads":-9223372036854775808}}]}}]},"summary":{"goodput_bps":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r measure.Result
		if r.UnmarshalJSON(b) != nil {
			return
		}
		other := tcpTrial("other", 1, 5)
		other.Test = r.Test
		report, err := Build(Input{Results: []*measure.Result{&r, other}})
		if err != nil {
			t.Fatal(err)
		}
		for name, write := range forms(report) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if bytes.Contains(out.Bytes(), []byte("NaN")) && !bytes.Contains(b, []byte("NaN")) {
				t.Fatalf("%s has a figure that is none: %s", name, out.Bytes())
			}
		}
	})
}

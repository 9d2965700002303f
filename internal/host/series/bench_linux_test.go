package series

import "testing"

// A reading of this host takes less than a thousandth of the 100 ms between two, and allocates
// nothing.
func BenchmarkReading(b *testing.B) {
	r := newReader(hostSources("lo"), processorTime)
	r.requests <- true
	<-r.results
	b.ReportAllocs()
	for b.Loop() {
		r.requests <- true
		<-r.results
	}
	r.close()
}

func BenchmarkSource(b *testing.B) {
	for _, open := range hostSources("lo") {
		s := open()
		if s.Columns == nil {
			continue
		}
		row := make([]int64, len(s.Columns))
		b.Run(s.Columns[0].Key, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Read(row)
			}
		})
		s.free()
	}
}

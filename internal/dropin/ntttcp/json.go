package ntttcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is one member of an object.
type member struct {
	name  string
	value any // a string, an object or a list of objects
}

// object is a JSON object that keeps the order of its members.
type object []member

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// metric is a value with its unit.
func metric(unit, format string, args ...any) object {
	return object{{"metric", unit}, {"value", fmt.Sprintf(format, args...)}}
}

// json is the document of -j.
func (f *figures) json(hostname string) ([]byte, error) {
	var parameters object
	for _, p := range f.o.parameters() {
		parameters = append(parameters, member{p.json, p.value})
	}
	o := object{{"computername", hostname}, {"version", reported}, {"parameters", parameters}}
	if f.o.Verbose {
		o = append(o, member{"threads", f.jsonThreads()})
	}
	o = append(o, f.jsonTotals()...)
	if f.o.ShowRetransmits {
		all := []object{metric("retrans_segs", "%d", f.retransmitted())}
		for _, r := range f.resent() {
			all = append(all, metric(r.name, "%.2f", r.perSecond))
		}
		o = append(o, member{"tcp_retransmits", all})
	}
	if f.hasRTT() {
		o = append(o, member{"tcpAverageRtt metric", fmt.Sprintf("%d us", f.rttUs)})
	}
	o = append(o, member{"os", description()})
	b, err := json.MarshalIndent(object{{f.root(), o}}, "", "    ")
	return append(b, '\n'), err
}

func (f *figures) jsonThreads() []object {
	out := []object{}
	for i, bytes := range f.threads {
		rates := f.rates(bytes)
		out = append(out, object{
			{"index", fmt.Sprint(i)},
			{"realTime", metric("s", "%.3f", f.seconds)},
			{"throughputs", []object{
				metric(rates[0].metric, "%s", rates[0].value),
				metric(rates[1].metric, "%s bps", rates[1].value), // the unit is ntttcp's
				metric(rates[2].metric, "%s", rates[2].value),
			}},
			{"avgBytesPerCompl", metric("B", "%.3f", 0.0)},
		})
	}
	return out
}

func (f *figures) jsonTotals() object {
	var rates []object
	for _, r := range f.rates(f.bytes())[1:] {
		rates = append(rates, metric(r.metric, "%s", r.value))
	}
	rates = append(rates, metric("buffer/s", "%.3f", 0.0))
	return object{
		{"totalBytes", metric("MB", "%.6f", float64(f.bytes())/1e6)},
		{"realTime", metric("s", "%.6f", f.seconds)},
		{"avgBytesPerCompl", metric("B", "%.3f", 0.0)},
		{"threadsAvgBytesPerCompl", metric("B", "%.3f", 0.0)},
		{"avgFrameSize", metric("B", "%.3f", 0.0)},
		{"throughputs", rates},
		{"totalBuffers", "0.000"},
		{"avgPacketsPerInterrupt", metric("packets/interrupt", "%.3f", f.packetsPerInterrupt())},
		{"interrupt", metric("count/sec", "%.3f", f.perSecond(f.from.interrupts, f.to.interrupts))},
		{"interruptTotal", metric("count", "%d", f.interrupts())},
		{"dpcs", metric("count/sec", "%.3f", 0.0)},
		{"avgPacketsPerDpc", metric("packets/dpc", "%.3f", 0.0)},
		{"cycles", metric("cycles/byte", "%.3f", f.cycles())},
		{"packetsSent", fmt.Sprint(f.packetsSent())},
		{"packetsReceived", fmt.Sprint(f.packetsReceived())},
		{"packets_retransmitted", fmt.Sprint(f.retransmitted())},
		{"errors", "0"},
		{"cpu", metric("%", "%.3f", f.busy())},
		{"bufferCount", "0"},
		{"bufferLen", "0"},
		{"io", "0"},
	}
}

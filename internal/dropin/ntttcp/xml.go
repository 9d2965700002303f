package ntttcp

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// reported is the version in the document: that of ntttcp for Windows.
const reported = "5.33-linux"

// xmlValue is an element with its unit.
type xmlValue struct {
	Metric string `xml:"metric,attr,omitempty"`
	Value  string `xml:",chardata"`
}

type xmlThread struct {
	Index      int        `xml:"index,attr"`
	Realtime   xmlValue   `xml:"realtime"`
	Throughput []xmlValue `xml:"throughput"`
	AvgBytes   xmlValue   `xml:"avg_bytes_per_compl"`
}

// xmlReport has the elements in ntttcp's order. Elements of the Windows tool have the
// constant values that ntttcp writes.
type xmlReport struct {
	XMLName    xml.Name
	Computer   string       `xml:"computername,attr"`
	Version    string       `xml:"version,attr"`
	Parameters xmlElements  `xml:"parameters"`
	Threads    []xmlThread  `xml:"thread"`
	Totals     []xmlElement `xml:",any"`
}

// xmlElement is one element of any name.
type xmlElement struct {
	XMLName xml.Name
	Metric  string `xml:"metric,attr,omitempty"`
	Value   string `xml:",chardata"`
}

type xmlElements struct {
	All []xmlElement `xml:",any"`
}

func (e *xmlElements) add(name, metric, format string, args ...any) {
	e.All = append(e.All, xmlElement{xml.Name{Local: name}, metric, fmt.Sprintf(format, args...)})
}

// root is the name of the document's outermost element.
func (f *figures) root() string {
	if f.o.Sender {
		return "ntttcps"
	}
	return "ntttcpr"
}

// xml is the document of -x.
func (f *figures) xml(hostname string) ([]byte, error) {
	d := xmlReport{XMLName: xml.Name{Local: f.root()}, Computer: hostname, Version: reported}
	for _, p := range f.o.parameters() {
		d.Parameters.add(p.xml, "", "%s", p.value)
	}
	for i, bytes := range f.threads {
		if !f.o.Verbose {
			break
		}
		t := xmlThread{Index: i, Realtime: xmlValue{"s", thousandths(f.seconds)}, AvgBytes: xmlValue{"B", "0.000"}}
		for _, r := range f.rates(bytes)[:3] {
			t.Throughput = append(t.Throughput, xmlValue{r.metric, r.value})
		}
		d.Threads = append(d.Threads, t)
	}
	d.Totals = f.xmlTotals()
	b, err := xml.MarshalIndent(d, "", "\t")
	return append(b, '\n'), err
}

func (f *figures) xmlTotals() []xmlElement {
	var e xmlElements
	if f.o.Sender {
		e.add("conns_tested", "", "%d", f.connections)
	}
	e.add("total_bytes", "MB", "%.6f", float64(f.bytes())/1e6)
	e.add("realtime", "s", "%.6f", f.seconds)
	e.add("avg_bytes_per_compl", "B", "%.3f", 0.0)
	e.add("threads_avg_bytes_per_compl", "B", "%.3f", 0.0)
	e.add("avg_frame_size", "B", "%.3f", 0.0)
	for _, r := range f.rates(f.bytes())[1:] {
		e.add("throughput", r.metric, "%s", r.value)
	}
	e.add("total_buffers", "", "%.3f", 0.0)
	e.add("throughput", "buffers/s", "%.3f", 0.0)
	e.add("avg_packets_per_interrupt", "packets/interrupt", "%.3f", f.packetsPerInterrupt())
	e.add("interrupts", "count/sec", "%.3f", f.perSecond(f.from.interrupts, f.to.interrupts))
	e.add("total_interrupts", "count", "%d", f.interrupts())
	e.add("dpcs", "count/sec", "%.3f", 0.0)
	e.add("avg_packets_per_dpc", "packets/dpc", "%.3f", 0.0)
	e.add("packets_sent", "", "%d", f.packetsSent())
	e.add("packets_received", "", "%d", f.packetsReceived())
	e.add("packets_retransmitted", "", "%d", f.retransmitted())
	for _, name := range []string{"errors", "bufferCount", "bufferLen"} {
		e.add(name, "", "0")
	}
	if f.o.ShowRetransmits {
		e.add("tcp_retransmits", "retrans_segs", "%d", f.retransmitted())
		for _, r := range f.resent() {
			e.add("tcp_retransmits", r.name, "%.2f", r.perSecond)
		}
	}
	e.add("cpu_cores", "cpu cores", "%d", f.to.totals.CPUs)
	e.add("cpu_speed", "MHz", "%.3f", f.mhz)
	for _, s := range f.shares() {
		e.add(s.on, "%", "%.2f", s.share)
	}
	e.add("cycles_per_byte", "cycles/byte", "%.2f", f.cycles())
	e.add("cpu_busy_all", "%", "%.2f", f.busy())
	e.add("io", "", "0")
	if f.hasRTT() {
		e.add("tcp_average_rtt", "us", "%d", f.rttUs)
	}
	e.add("os", "", "%s", description())
	return e.All
}

// hasRTT reports whether reports have the round trip.
func (f *figures) hasRTT() bool {
	return f.o.Verbose && f.o.Sender && !f.o.UDP && f.rttUs >= 0
}

// rated is a rate in one of ntttcp's units.
type rated struct{ metric, value string }

// rates are those of bytes: KB/s, MB/s, mbps and Bps.
func (f *figures) rates(bytes int64) []rated {
	perSecond := 0.0
	if f.seconds > 0 {
		perSecond = float64(bytes) / f.seconds
	}
	return []rated{
		{"KB/s", thousandths(perSecond / 1e3)}, {"MB/s", thousandths(perSecond / 1e6)},
		{"mbps", thousandths(perSecond * 8 / 1e6)}, {"Bps", thousandths(perSecond)},
	}
}

func thousandths(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// parameter is an option in reports.
type parameter struct{ xml, json, value string }

// parameters are the options in effect, and those of ntttcp for Windows that ntttcp for
// Linux does not have.
func (o *Options) parameters() []parameter {
	number := strconv.Itoa
	truth := func(b bool) string { return strings.ToUpper(strconv.FormatBool(b)[:1]) + strconv.FormatBool(b)[1:] }
	return []parameter{
		{"send_socket_buff", "sendSocketBuff", number(o.SendBuffer())},
		{"recv_socket_buff", "recvSocketBuff", number(o.ReceiveBuffer())},
		{"port", "port", number(o.Port)},
		{"sync_port", "syncPort", number(o.Port - 1)},
		{"no_sync", "noSync", truth(o.NoSync)},
		{"wait_timeout_milliseconds", "waitTimeoutMilliseconds", "0"},
		{"async", "async", "False"},
		{"verbose", "verbose", truth(o.Verbose)},
		{"wsa", "wsa", "False"},
		{"use_ipv6", "useIpv6", truth(o.IPv6)},
		{"udp", "udp", truth(o.UDP)},
		{"verify_data", "verifyData", "False"},
		{"wait_all", "waitAll", "False"},
		{"run_time", "runTime", number(o.Duration)},
		{"warmup_time", "warmupTime", number(o.Warmup)},
		{"cooldown_time", "cooldownTime", number(o.Cooldown)},
		{"dash_n_timeout", "dashNTimeout", "0"},
		{"bind_sender", "bindSender", "False"},
		{"sender_name", "senderName", "NA"},
		{"max_active_threads", "maxActiveThreads", "0"},
		{"tp", "tp", "False"},
		{"no_stdio_buffer", "noStdioBuffer", "False"},
		{"throughput_Bpms", "throughputBpms", "0"},
		{"cpu_burn", "cpuBurn", "0"},
		{"latency_measurement", "latencyMeasurement", "False"},
		{"use_io_compl_ports", "useIOComplPorts", "NA"},
		{"cpu_from_idle_flag", "cpuFromIdleFlag", "False"},
		{"get_estats", "getEstats", "False"},
		{"qos_flag", "qosFlag", "False"},
		{"jitter_measurement", "jitterMeasurement", "False"},
		{"packet_spacing", "packetSpacing", "0"},
	}
}

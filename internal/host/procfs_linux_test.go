package host

import (
	"strings"
	"testing"
)

func TestStatCountsBusyTimeWithoutIdleIowaitAndSteal(t *testing.T) {
	const text = "cpu  100 10 50 9000 70 3 7 20 5 1\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
	got, ok := parseStat(text)
	want := processors{busyNs: (100 + 10 + 50 + 3 + 7) * 1e7, softirqNs: 7e7, stealNs: 20e7}
	if !ok || got != want {
		t.Fatalf("got %+v %v, want %+v", got, ok, want)
	}
}

func TestStatThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8 9", "cpu a b c d e f g h i j",
		"cpu -1 2 3 4 5 6 7 8 9", "cpu 99999999999999999999 2 3 4 5 6 7 8 9",
		"cpu 9223372036854775807 2 3 4 5 6 7 8 9",
	} {
		if p, ok := parseStat(text); ok {
			t.Errorf("parseStat(%q) = %+v", text, p)
		}
	}
}

const netDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: 341619047   19533    1    2    3     4          5         6  1734821   16297    7    8    9     0       0          0
eth0:1:5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
short: 1 2 3
words: a b c d e f g h i j k l m n o p
`

func TestNetDevFindsTheInterfaceByItsWholeName(t *testing.T) {
	for name, want := range map[string]traffic{
		"lo":     {rxBytes: 3193, txBytes: 3193},
		"eth0":   {rxBytes: 341619047, txBytes: 1734821, rxDropped: 2, txDropped: 8},
		"eth0:1": {rxBytes: 5, rxDropped: 8, txBytes: 13, txDropped: 16},
	} {
		if got, ok := parseNetDev(netDev, name); !ok || got != want {
			t.Errorf("%s: got %+v %v, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"eth", "th0", "", "face |bytes", "short", "words", "eth1"} {
		if got, ok := parseNetDev(netDev, name); ok {
			t.Errorf("%q: got %+v, want nothing", name, got)
		}
	}
}

const snmp = `Ip: Forwarding DefaultTTL
Ip: 2 64
Tcp: RtoAlgorithm RtoMin RetransSegs InErrs
Tcp: 1 200 42 -1
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors
Udp: 47 0 0 48 9
UdpLite: InDatagrams RcvbufErrors
UdpLite: 1 5
Short: a b c
Short: 1
Bad: a
Bad: x
Alone: a
`

func TestSNMPPairsNamesWithValuesOfTheSameProtocol(t *testing.T) {
	for _, c := range []struct {
		protocol, counter string
		want              int64
		ok                bool
	}{
		{"Tcp", "RetransSegs", 42, true}, {"Tcp", "InErrs", -1, true}, {"Udp", "RcvbufErrors", 9, true},
		{"UdpLite", "RcvbufErrors", 5, true}, {"Udp", "RetransSegs", 0, false}, {"Short", "c", 0, false},
		{"Bad", "a", 0, false}, {"Alone", "a", 0, false}, {"None", "a", 0, false},
	} {
		if got, ok := parseSNMP(snmp, c.protocol, c.counter); got != c.want || ok != c.ok {
			t.Errorf("%s %s: got %d %v, want %d %v", c.protocol, c.counter, got, ok, c.want, c.ok)
		}
	}
}

func TestSNMP6IsANameAndAValueALine(t *testing.T) {
	const text = "Udp6InErrors   \t3\nUdp6RcvbufErrors                \t12\nbroken\nUdp6Bad x\n"
	if got, ok := parseSNMP6(text, "Udp6RcvbufErrors"); got != 12 || !ok {
		t.Errorf("got %d %v, want 12", got, ok)
	}
	for _, name := range []string{"broken", "Udp6Bad", "Udp6", ""} {
		if got, ok := parseSNMP6(text, name); ok {
			t.Errorf("%q: got %d, want nothing", name, got)
		}
	}
}

func TestDistributionIsThePrettyName(t *testing.T) {
	for text, want := range map[string]string{
		"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME=Alpine": "Alpine", "NAME=x": "", "": "",
	} {
		if got := distribution(text); got != want {
			t.Errorf("distribution(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestHypervisorIsNamedByFirmware(t *testing.T) {
	for _, c := range []struct{ kind, vendor, product, want string }{
		{"", "Amazon EC2", "m7i.large", "ec2"}, {"", "Microsoft Corporation", "Virtual Machine", "hyperv"},
		{"", "Google", "Google Compute Engine", "gce"}, {"", "QEMU", "Standard PC", "kvm"}, {"xen", "", "", "xen"},
		{"", "Dell Inc.", "PowerEdge", ""}, {"", "Microsoft Corporation", "Surface", ""}, {"", "", "", ""},
	} {
		if got := hypervisor(c.kind, c.vendor, c.product); got != c.want {
			t.Errorf("hypervisor(%q, %q, %q) = %q, want %q", c.kind, c.vendor, c.product, got, c.want)
		}
	}
	if got := modelName("processor\t: 0\nmodel name\t: Some CPU @ 2.1 GHz: fast\nflags\t: fpu\n\nmodel name\t: Other\n"); got != "Some CPU @ 2.1 GHz: fast" {
		t.Errorf("the first processor is %q", got)
	}
	if got := modelName("Processor : x\nCPU part : 0xd40\n"); got != "" {
		t.Errorf("a processor without a name is %q", got)
	}
	if !hasHypervisorFlag("model name\t: X\nflags\t\t: fpu hypervisor lahf_lm\n") {
		t.Error("the hypervisor flag was not seen")
	}
	for _, text := range []string{"", "flags : fpu myhypervisor", "bugs : hypervisor", "flags"} {
		if hasHypervisorFlag(text) {
			t.Errorf("%q was taken for a guest", text)
		}
	}
}

func FuzzProcTexts(f *testing.F) {
	f.Add(netDev, "eth0")
	f.Add(snmp, "Udp")
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\n", "RcvbufErrors")
	f.Fuzz(func(t *testing.T, text, name string) {
		if p, ok := parseStat(text); ok && (p.busyNs < 0 || p.stealNs < 0 || p.softirqNs > p.busyNs) {
			t.Errorf("parseStat: %+v", p)
		}
		if _, ok := parseNetDev(text, name); ok && !strings.Contains(text, name) {
			t.Error("an interface was found that is not there")
		}
		parseSNMP(text, name, "RcvbufErrors")
		parseSNMP(text, "Udp", name)
		parseSNMP6(text, name)
		parseTotals(text)
		parseMHz(text)
		parseInterrupts(text, name)
		distribution(text)
		hasHypervisorFlag(text)
	})
}

package ntttcp

import (
	"reflect"
	"strings"
	"testing"

	"soku/internal/measure"
)

func parse(t *testing.T, line string) (*Options, []string) {
	t.Helper()
	o, notes, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return o, notes
}

func TestOptionsAreParsedAsNtttcpParsesThem(t *testing.T) {
	for line, change := range map[string]func(*Options){
		"-r":                       func(o *Options) { o.Receiver = true },
		"-s 10.0.0.4":              func(o *Options) { o.Sender, o.Address = true, "10.0.0.4" },
		"-s10.0.0.4 -t 10":         func(o *Options) { o.Sender, o.Address, o.Duration = true, "10.0.0.4", 10 },
		"-s vm2 -VQN":              func(o *Options) { o.Sender, o.Address, o.Verbose, o.Quiet, o.NoSync = true, "vm2", true, true, true },
		"-r -m 8,*,192.0.2.1":      func(o *Options) { o.Receiver, o.Ports, o.Threads, o.Address = true, 8, 1, "192.0.2.1" },
		"-s -m 8,3,192.0.2.1 -n 4": func(o *Options) { o.Sender, o.Ports, o.Threads, o.CPU, o.Address = true, 8, 4, 3, "192.0.2.1" },
		"-s h -P64 -n16 -l 10 -f26001 -p7": func(o *Options) {
			o.Sender, o.Address, o.Ports, o.Threads, o.Connections, o.SourcePort, o.Port = true, "h", 64, 16, 10, 26001, 7
		},
		"-s h -f -W 1 -C 2":        func(o *Options) { o.Sender, o.Address, o.SourcePort, o.Warmup, o.Cooldown = true, "h", 25001, 1, 2 },
		"-s h -b 64k -B 1.5G":      func(o *Options) { o.Sender, o.Address, o.Buffer, o.Bandwidth = true, "h", 65536, 1_500_000_000 },
		"-s h --fq-rate-limit=10G": func(o *Options) { o.Sender, o.Address, o.FQRate = true, "h", 10_000_000_000 },
		"-r -6 -x -j out.json -O -H -M -e": func(o *Options) {
			o.Receiver, o.IPv6, o.Address, o.Hold, o.Multi, o.Epoll = true, true, "::", true, true, true
			o.XMLFile, o.JSONFile, o.ConsoleFile = usualXML, "out.json", usualConsole
		},
		"-s ::1 -6 -L --show-tcp --show-nic eth0 --show-dev-interrupts mlx --no-delay": func(o *Options) {
			o.Sender, o.Address, o.IPv6, o.Last, o.NoDelay = true, "::1", true, true, true
			o.ShowRetransmits, o.ShowPackets, o.ShowInterrupts = true, "eth0", "mlx"
		},
		// A common test suite gives a name of several words without quotes.
		"-r192.0.2.1 -P 4 --show-dev-interrupts Hypervisor callback interrupts -V": func(o *Options) {
			o.Receiver, o.Address, o.Ports, o.ShowInterrupts, o.Verbose = true, "192.0.2.1", 4, "Hypervisor", true
		},
		"-s h -- -r": func(o *Options) { o.Sender, o.Address = true, "h" },
	} {
		want := defaults()
		change(want)
		if got, _ := parse(t, line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", line, got, want)
		}
	}
}

func TestAdjustedValuesAreReported(t *testing.T) {
	for line, is := range map[string]func(*Options) bool{
		"":                     func(o *Options) bool { return o.Receiver },
		"-r -P 1000":           func(o *Options) bool { return o.Ports == portsMost },
		"-s h -n 0":            func(o *Options) bool { return o.Threads == 1 },
		"-s h -u":              func(o *Options) bool { return o.SendBuffer() == udpMost },
		"-s h -b 16M":          func(o *Options) bool { return o.Buffer == bufferMost },
		"-s h -f 80":           func(o *Options) bool { return o.SourcePort == usualSource },
		"-s h -e -H":           func(o *Options) bool { return !o.Epoll && !o.Hold },
		"-r -B 1G -f":          func(o *Options) bool { return o.Bandwidth == 0 && o.SourcePort == 0 },
		"-s h -B 1G --fq-r 1G": func(o *Options) bool { return o.FQRate == 0 },
		"-r -t 0":              func(o *Options) bool { return o.Cycle() == 0 },
		"-s h stray":           func(o *Options) bool { return o.Sender && o.Address == "h" },
	} {
		if o, notes := parse(t, line); !is(o) || len(notes) == 0 {
			t.Errorf("%q: %+v with notes %q", line, o, notes)
		}
	}
}

func TestInconsistentOptionsAreRefused(t *testing.T) {
	for _, line := range []string{
		"-r -s", "-s h -M", "-r -L", "-r -a 10.0.0.1", "-r -M -N", "-s h -L -N", "-r -u --no-delay", "-s h -u --fq-rate-limit 1G",
		"-s 10.0.0.1 -6", "-s ::1", "-s h -a nowhere", "-r -p 65530", "-r -p 1", "-r -p 0 -N", "-s h -f 65500", "-s h -P 512 -n 25600 -l 1000",
		"-z", "--none", "--show", "-t", "-t x", "-t -1", "-t 1000000", "-b 1e", "-b nan", "-b 0x10", "-B -5", "-m 0,*,h", "-m x", "-m 1,*,h,i", "-m 1,x,h",
		"--no-delay=1", "--fq-rate-limit",
	} {
		o, _, err := Parse(strings.Fields(line))
		if measure.KindOf(err) != measure.KindUsage || err == nil {
			t.Errorf("%s: %+v, %v", line, o, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-s 10.0.0.4 -P 64 -n 16 -l 10 -f25001 -6 -V")
	f.Add("-r -m 8,0,192.168.1.1 --show-tcp-retrans --show-nic-packets eth0 --no-delay")
	f.Add("-b 1.5G -B 10g --fq-rate-limit=1k -t0 -x -j")
	f.Fuzz(func(t *testing.T, line string) {
		o, _, err := Parse(strings.Fields(line))
		if err != nil {
			if measure.KindOf(err) != measure.KindUsage {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		if o.Help {
			return
		}
		if o.Ports < 1 || o.Port+o.Ports > 65536 || o.Receiver == o.Sender || o.Cycle() < 0 || o.Buffer < 0 || o.Buffer > bufferMost {
			t.Fatalf("%q: %+v", line, o)
		}
		if o.Sender && (o.Total() < 1 || o.Total() > allMost) {
			t.Fatalf("%q makes %d connections", line, o.Total())
		}
	})
}

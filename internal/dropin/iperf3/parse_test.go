package iperf3

import (
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// helpOption finds the options of a line of iperf3's help.
var helpOption = regexp.MustCompile(`^\s+(?:-(\w), )?--([a-z0-9-]+)([=< \[])?(\S*)`)

// listed are the options in the help of a real iperf3, by their side.
func listed(help string) (all []flagOption) {
	where := both
	for line := range strings.Lines(help) {
		switch {
		case strings.HasPrefix(line, "Server specific"):
			where = serverOnly
		case strings.HasPrefix(line, "Client specific"):
			where = clientOnly
		}
		if m := helpOption.FindStringSubmatch(line); m != nil {
			all = append(all, flagOption{short: m[1], long: m[2], side: where})
		}
	}
	return all
}

func TestEveryIperf3OptionIsKnown(t *testing.T) {
	// Options that the newest version lists and the installed one does not.
	newer := "  -m, --mptcp\n      --json-stream\n      --json-stream-full-output\n      --cntl-ka[=#/#/#]\n" +
		"Server specific:\n      --server-max-duration #\n      --use-pkcs1-padding\nClient specific:\n      --skip-rx-copy\n      --gsro\n"
	for name, help := range map[string]string{"installed": realHelp(t), "newer": newer} {
		found := listed(help)
		if name == "installed" && len(found) < 50 {
			t.Fatalf("only %d options found in the help of iperf3", len(found))
		}
		for _, f := range found {
			o, err := (&parser{all: options()}).find(f.long)
			if err != nil || o.long != f.long {
				t.Errorf("%s: --%s is not known", name, f.long)
				continue
			}
			if o.short != f.short {
				t.Errorf("--%s has the letter %q, iperf3's %q", f.long, o.short, f.short)
			}
			// The roles and the address families are listed under one side and apply to both.
			roles := f.long == "server" || f.long == "client" || strings.HasPrefix(f.long, "version")
			if o.side != f.side && !roles && o.side != infoOnly {
				t.Errorf("--%s is for side %d, iperf3's for %d", f.long, o.side, f.side)
			}
		}
	}
}

func realHelp(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: apt-get install iperf3")
	}
	cmd := exec.Command(path, "--help")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOptionNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range options() {
		for _, name := range []string{"--" + o.long, "-" + o.short} {
			if name != "-" && seen[name] {
				t.Errorf("%s is twice", name)
			}
			seen[name] = true
		}
		if o.set == nil && (o.what == "" || o.refusal == "") {
			t.Errorf("--%s is not supported and nothing says why", o.long)
		}
	}
}

func TestOptionsAreParsedAsByGetopt(t *testing.T) {
	client := func(change func(*Settings)) *Settings {
		s := defaults()
		s.Role, s.Host, s.Length = Client, "h", usualBlock
		change(s)
		return s
	}
	for line, want := range map[string]*Settings{
		"-c h":                        client(func(s *Settings) {}),
		"-ch -P4 -t 5":                client(func(s *Settings) { s.TimeGiven = true; s.Streams, s.Time = 4, 5 }),
		"--client=h --parallel 4":     client(func(s *Settings) { s.Streams = 4 }),
		"-c h -uR -b 10M":             client(func(s *Settings) { s.UDP, s.Reverse, s.Rate, s.Length = true, true, 10_000_000, 0 }),
		"-c h -u":                     client(func(s *Settings) { s.UDP, s.Rate, s.Length = true, 1<<20, 0 }),
		"-c h -u -b 0 -l 1k":          client(func(s *Settings) { s.UDP, s.Length = true, 1024 }),
		"-c h --bandwidth 1.5g":       client(func(s *Settings) { s.Rate = 1_500_000_000 }),
		"-c h --rev --get":            client(func(s *Settings) { s.Reverse, s.GetServerOutput = true, true }),
		"-c h -n 1M":                  client(func(s *Settings) { s.Bytes, s.Time = 1<<20, 0 }),
		"-c h -k 10 -l 100":           client(func(s *Settings) { s.Blocks, s.Length, s.Time = 10, 100, 0 }),
		"-c h -t 10s -i 0":            client(func(s *Settings) { s.TimeGiven = true; s.Interval = 0 }),
		"-c h -t inf":                 client(func(s *Settings) { s.TimeGiven = true; s.Time = 0 }),
		"-c h -t Infinity":            client(func(s *Settings) { s.TimeGiven = true; s.Time = 0 }),
		"-c h --pacing-timer 0":       client(func(s *Settings) { s.PacingTimer = -1 }),
		"-c h -S 0x20":                client(func(s *Settings) { s.TOS = 32 }),
		"-c h -S 064":                 client(func(s *Settings) { s.TOS = 52 }),
		"-c h --dscp AF41":            client(func(s *Settings) { s.TOS = 0x88 }),
		"-c h --dscp 46":              client(func(s *Settings) { s.TOS = 184 }),
		"-c h%eth1 -B 10.0.0.1":       client(func(s *Settings) { s.Device, s.Bind = "eth1", "10.0.0.1" }),
		"-c fe80::1%eth1 -6":          client(func(s *Settings) { s.Host, s.IPVersion = "fe80::1%eth1", 6 }),
		"-c h --timestamps -J -w 64K": client(func(s *Settings) { s.Timestamps, s.JSON, s.Window = "%c ", true, 65536 }),
		"-c h --timestamps=%s: -O 2":  client(func(s *Settings) { s.Timestamps, s.Omit = "%s:", 2 }),
		"-c h --json-stream -A 1":     client(func(s *Settings) { s.JSON, s.Stream, s.Affinity = true, true, 1 }),
		"-c h --cntl-ka=/2 --cport 9": client(func(s *Settings) { s.KeepAlive, s.ClientPort = &keepAlive{Interval: 2}, 9 }),
		"-c h --cntl-ka -b 1M/5":      client(func(s *Settings) { s.KeepAlive, s.Rate, s.Burst = &keepAlive{}, 1_000_000, 5 }),
		"-c h --fq-rate 1G -R --rcv-timeout 500 --snd-timeout 70 --pacing-timer 1K": client(func(s *Settings) {
			s.FQRate, s.Reverse, s.RcvTimeout, s.SndTimeout, s.PacingTimer = 1e9, true, 500, 70, 1024
		}),
		"-c h -m":                       client(func(s *Settings) { s.Multipath = true }),
		"-c h -u -m":                    client(func(s *Settings) { s.Multipath = true }),
		"-c h -L 0xfffff":               client(func(s *Settings) { s.FlowLabel = 0xfffff }),
		"-c h -u --dont-fragment -b 0":  client(func(s *Settings) { s.UDP, s.DontFragment, s.Length = true, true, 0 }),
		"-c h -C cubic -M 1000 -N -T x": client(func(s *Settings) { s.Congestion, s.MSS, s.NoDelay, s.Title = "cubic", 1000, true, "x" }),
	} {
		got, err := Parse(strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
	s, err := Parse(strings.Fields("-s -1 -p 6000 --server-bitrate-limit 10M"))
	if err != nil || s.Role != Server || !s.OneOff || s.Port != 6000 || s.RateLimit != 10_000_000 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestWrongCommandLinesAreRefusedInIperf3sWords(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "must either be a client (-c) or server (-s)",
		"-s -c h":                         "cannot be both server and client",
		"-s -R":                           "client only; -R is",
		"-c h -1":                         "server only; -1 is",
		"-c h -P 129":                     "invalid number of parallel streams (min = 1, max = 128)",
		"-c h -P x":                       "invalid number of parallel streams",
		"-c h -p 0":                       "port number must be between 1 and 65535 inclusive",
		"-c h -f x":                       "bad format specifier",
		"-c h -i 0.01":                    "invalid report interval (min = 0.1, max = 60 seconds)",
		"-c h -t 90000":                   "test duration valid values are 0 to 86400 seconds",
		"-c h -t 1 -n 1":                  "only one test end condition",
		"-c h -l 2M":                      "block size too large (maximum = 1048576 bytes)",
		"-c h -u -l 15":                   "block size invalid (minimum = 16 bytes, maximum = 65507 bytes)",
		"-c h -b 10X":                     "invalid unit value or suffix: '10X'",
		"-c h -w 1T":                      "socket buffer size too large",
		"-c h -R --bidir":                 "cannot be both reverse and bidirectional",
		"-c h -S 256":                     "bad TOS value",
		"-c h --dscp nothing":             "bad DSCP value",
		"-c h -O 601":                     "bogus value for --omit",
		"-c h -F x -u":                    "cannot transfer file using UDP",
		"-c h -F x --bidir":               "--file with --bidir is not supported",
		"-c h --sctp":                     "--sctp is not supported by soku: soku measures TCP and UDP",
		"-c h -b 1M/0":                    "invalid burst count (maximum = 1000)",
		"-c h -b 1M/1001":                 "invalid burst count (maximum = 1000)",
		"-c h --cntl-ka=5/5/2":            "Keepalive period should be larger than the full retry period",
		"-c h --cntl-ka=x":                "\"x\" is not a number",
		"-c h --rcv-timeout 500":          "client receive timeout is valid only in receiving mode",
		"-c h -R --rcv-timeout 50":        "receive timeout value is incorrect or not in range",
		"-c h --snd-timeout -1":           "send timeout value is incorrect or not in range",
		"-c h --cport 0":                  "port number must be between 1 and 65535 inclusive",
		"-s --server-bitrate-limit 1M/99": "invalid time interval for calculating average data rate",
		"-s -A 1,2":                       "client only; the second processor of -A is",
		"-c h --username x":               "you must specify a username, password, and path",
		"-c h --timestamps=%Q":            `"%Q" is not known`,
		"-c h rest":                       `"rest" belongs to no option`,
		"-c h --zz":                       "unrecognized option '--zz'",
		"-c h --json-s":                   "ambiguous",
		"-c h -y":                         "invalid option -- 'y'",
		"-c":                              "option requires an argument -- 'c'",
		"-c h --reverse=1":                "doesn't allow an argument",
		"--client":                        "requires an argument",
		"-c h --connect-timeout 1G":       "--connect-timeout",
		"-c h -m -u":                      "--mptcp is for TCP only",
		"-c h -L 0":                       "unable to set IPv6 flow label; a label is 1 to 0xfffff",
		"-c h -L 0x100000":                "unable to set IPv6 flow label",
		"-c h --dont-fragment":            "--dont-fragment is for UDP only",
		"-s -L 5":                         "client only; -L is",
	} {
		_, err := Parse(strings.Fields(line))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
		if measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%q: kind %s", line, measure.KindOf(err))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"-c h -P4", "--bitrate=10M -s", "-uRb 1e9k", "--dscp AF11", "-w 1e400", "--", "-l -", "--timestamps=%%%c", "-B fe80::1%x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := Parse(strings.Split(line, " "))
		if err != nil || s.ShowHelp || s.ShowVersion {
			return
		}
		if s.Role == "" || s.Streams < 1 || s.Streams > mostStreams || s.Length < 0 || s.Bytes < 0 || s.Rate < 0 || s.Window < 0 || s.Port < 1 {
			t.Errorf("%q: %+v", line, s)
		}
	})
}

func TestSocketOptionsArePassedToTheTrial(t *testing.T) {
	for line, want := range map[string]measure.Options{
		"-c h -m":                      {Multipath: true},
		"-c h -L 0x7":                  {FlowLabel: 7},
		"-c h -u -L 7 --dont-fragment": {FlowLabel: 7, Own: udp.Options{NoFragment: true}},
	} {
		s, err := Parse(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		test, o := s.options()
		if o, err = option.Effective(o, test); err != nil || o.Multipath != want.Multipath || o.FlowLabel != want.FlowLabel || o.Own != want.Own {
			t.Errorf("%s: %+v, %v", line, o, err)
		}
	}
}

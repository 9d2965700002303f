package ethr

import (
	"strings"
	"testing"
	"time"
)

func words(line string) []string { return strings.Fields(line) }

func TestCommandLinesAreParsedAsEthrParsesThem(t *testing.T) {
	base := Settings{Decimals: 1, Port: 8888, Protocol: "TCP", Test: "b", Duration: 10 * time.Second, Gap: time.Second, Rounds: 1000,
		Warmup: 1, Length: 16000, Connections: 1, Log: "ethrc.log", Host: "h"}
	for line, change := range map[string]func(*Settings){
		"-c h":                 func(*Settings) {},
		"-c h -n 8 -b 10M":     func(s *Settings) { s.Connections, s.Rate = 8, 10_000_000 },
		"-c=h -r --l 1MB -ncs": func(s *Settings) { s.Reverse, s.Length, s.Quiet = true, 1_000_000, true },
		"-c h -t l -i 5":       func(s *Settings) { s.Test, s.Length, s.Rounds = "l", 1, 5 },
		"-c h -p udp -t p -l 100": func(s *Settings) {
			s.Protocol, s.Test, s.Length = "UDP", "p", 1
		},
		"-c h -d 0 -g 500ms -w 0": func(s *Settings) { s.Duration, s.Gap, s.Warmup = 0, 500*time.Millisecond, 0 },
		"-c h -no -dp 2 -tos 8":   func(s *Settings) { s.Log, s.Decimals, s.TOS = "", 2, 8 },
		"-c h -o x -T title -6":   func(s *Settings) { s.Log, s.Title, s.Version = "x", "title", 6 },
		"-c h -4 -6 -port 9999":   func(s *Settings) { s.Port = 9999 },
		"-x h:22":                 func(s *Settings) { s.External, s.Test, s.Port = true, "pi", 22 },
		"-x https://h -t c -n 0":  func(s *Settings) { s.External, s.Test, s.Port, s.Connections = true, "c", 443, 0 },
		"-x http://h:8080/path":   func(s *Settings) { s.External, s.Test, s.Port = true, "pi", 8080 },
		"-c h -p tcp -t pi -w 3":  func(s *Settings) { s.Test, s.Warmup = "pi", 3 },
		"-c h -t tr":              func(s *Settings) { s.Test = "tr" },
		"-c h -cport 9000 -debug": func(s *Settings) { s.LocalPort, s.Debug = 9000, true },
		"-x h -p icmp":            func(s *Settings) { s.External, s.Protocol, s.Test, s.Port = true, "ICMP", "pi", 0 },
		"-x https://h -p icmp -t mtr": func(s *Settings) {
			s.External, s.Protocol, s.Test, s.Port = true, "ICMP", "mtr", 0
		},
		"-c h -p UDP -b 64K -l 1K": func(s *Settings) { s.Protocol, s.Rate, s.Length = "UDP", 64000, 1000 },
	} {
		want := base
		change(&want)
		if got, err := Parse(words(line)); err != nil || got != want {
			t.Errorf("%s: %+v, %v\nwant %+v", line, got, err, want)
		}
	}
	got, err := Parse(words("-s -port 9 -ip 127.0.0.1 -1"))
	if err != nil || !got.Server || got.Port != 9 || got.Bind.String() != "127.0.0.1" || !got.Once || got.Log != "ethrs.log" {
		t.Errorf("a server: %+v, %v", got, err)
	}
}

func TestInvalidOptionsAreRefusedByName(t *testing.T) {
	for line, says := range map[string]string{
		"":                       "neither -s, -c nor -x",
		"-s -c h":                "exclude each other",
		"-s -n 2":                "-n does not go with -s",
		"-s -b 1M":               "-b does not go with -s",
		"-x h:1 -r":              "-r does not go with -x",
		"-x h:1 -port 5":         "-port does not go with -x",
		"-c h -ui":               "-ui does not go with -c",
		"-c h -cport 65536":      "-cport 65536",
		"-c h -cport 65535 -n 2": "not as many ports",
		"-c h -cport 9 -t tr":    "-cport is not for -t tr",
		"-s -cport 9":            "-cport does not go with -s",
		"-c h -p icmp -t pi":     "-p icmp is for -x",
		"-x h -p icmp -t c":      "-t c over -p icmp",
		"-c h -p udp -t mtr":     "-t mtr over -p udp",
		"-x h -t tr":             "names no port",
		"-c h -t x":              "-t x",
		"-c h -p http":           "http",
		"-c h -p udp -t l":       "-t l over -p udp",
		"-x h:1 -t b":            "-t b over -p tcp",
		"-c h -p udp -r":         "-r is for TCP bandwidth only",
		"-c h -t c -b 1M":        "-b is for bandwidth",
		"-c h -l 0":              "-l",
		"-c h -l 1X":             "-l 1X",
		"-c h -p udp -l 65508":   "-l",
		"-c h -t l -l 100KB":     "-l",
		"-c h -d yes":            "-d yes",
		"-c h -d -5s":            "-d -5s",
		"-c h -d 25h":            "-d 25h",
		"-c h -i 0":              "-i 0",
		"-c h -i 5x":             "-i 5x",
		"-c h -n -1":             "-n -1",
		"-c h -tos 256":          "-tos 256",
		"-c h -dp 3":             "-dp 3",
		"-c h:8888":              "-port",
		"-x h":                   "names no port",
		"-x h:99999":             "no port",
		"-c h -6 -ip 10.0.0.1":   "-ip 10.0.0.1",
		"-c h -zz":               "-zz",
		"-c h more":              `"more"`,
		"-c":                     "-c",
	} {
		if s, err := Parse(words(line)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want %q", line, s, err, says)
		}
	}
}

func TestHelpHasEveryOption(t *testing.T) {
	if s, err := Parse([]string{"-h"}); err != nil || !s.Help {
		t.Fatal(s, err)
	}
	var b strings.Builder
	help(&b)
	for _, o := range options() {
		if !strings.Contains(b.String(), "  -"+o.name+" ") {
			t.Errorf("-%s is not in the help", o.name)
		}
	}
}

func TestUnitsAreEthrs(t *testing.T) {
	for text, want := range map[string]uint64{"100": 100, "1.5K": 1500, "16KB": 16000, "2MiB": 2_000_000, " 1g ": 1_000_000_000, "1T": 1e12, "7B": 7} {
		if got, ok := parseUnit(text); !ok || got != want {
			t.Errorf("%s is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "K", "1Q", "-1", "1e30", "nan", "1KBps"} {
		if got, ok := parseUnit(text); ok {
			t.Errorf("%s is %d", text, got)
		}
	}
	for _, c := range []struct {
		n        float64
		decimals int
		want     string
	}{{0, 1, "0"}, {999, 1, "999"}, {0.9, 1, "1"}, {1000, 1, "1K"}, {1234, 1, "1.2K"}, {956_400_000, 1, "956.4M"}, {2.6e9, 2, "2.60G"}, {5e9, 2, "5G"}, {1.5e12, 1, "1.5T"}} {
		if got := unit(c.n, c.decimals); got != c.want {
			t.Errorf("%g is %s, want %s", c.n, got, c.want)
		}
	}
	for d, want := range map[time.Duration]string{7: "7.000ns", 59288: "59.288us", 3469 * time.Microsecond: "3.469ms", 1500 * time.Millisecond: "1.500s", 90 * time.Second: "1m30s"} {
		if got := duration(d); got != want {
			t.Errorf("%d is %s", d, got)
		}
	}
}

func TestPercentilesAreValuesBeforeTheirRank(t *testing.T) {
	var all []time.Duration
	for i := range 1000 {
		all = append(all, time.Duration(1000-i))
	}
	want := trips{500, 1, 500, 900, 950, 990, 999, 999, 1000}
	if got := figures(all); got != want {
		t.Errorf("%+v", got)
	}
	if got := figures([]time.Duration{5}); got != (trips{5, 5, 5, 5, 5, 5, 5, 5, 5}) {
		t.Errorf("of one: %+v", got)
	}
	if got := figures([]time.Duration{30, 10, 20}); got != (trips{20, 10, 10, 20, 20, 20, 20, 20, 30}) {
		t.Errorf("of three: %+v", got)
	}
}

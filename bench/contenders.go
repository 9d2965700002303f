package main

import (
	"fmt"
	"strings"
)

// soku measures with the given test and options. With an amount it has no duration.
func soku(label, test string, options ...string) Contender {
	return Contender{Label: label, Program: "soku", Parse: parseSoku, Build: func(s Site) Commands {
		client := append([]string{"soku", test, s.Host, "-p", fmt.Sprint(s.Port), "--json", "--no-save"}, options...)
		if !has(options, "-n") && !has(options, "-t") {
			client = append(client, "-t", fmt.Sprintf("%ds", s.Seconds))
		}
		return Commands{Server: []string{"soku", "server", "-q", "--listen", fmt.Sprintf("%s:%d", s.Host, s.Port)}, Client: client}
	}}
}

func sokuTCP(label string, streams int, tx, rx string, more ...string) Contender {
	return soku(label, "tcp", append([]string{"-C", "cubic", "-P", fmt.Sprint(streams), "--tx", tx, "--rx", rx}, more...)...)
}

func sokuUDP(options ...string) Contender { return soku(sokuLabel, "udp", options...) }

func has(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func iperf3(label string, options ...string) Contender {
	return Contender{Label: label, Program: "iperf3", Parse: parseIperf3, Build: func(s Site) Commands {
		port := fmt.Sprint(s.Port)
		client := append([]string{"iperf3", "-c", s.Host, "-p", port, "-J"}, options...)
		if !has(options, "-n") && !has(options, "-t") {
			client = append(client, "-t", fmt.Sprint(s.Seconds))
		}
		return Commands{Server: []string{"iperf3", "-s", "-1", "-p", port}, Client: client}
	}}
}

func iperf3TCP(label string, streams int, more ...string) Contender {
	return iperf3(label, append([]string{"-C", "cubic", "-P", fmt.Sprint(streams)}, more...)...)
}

func iperf3UDP(label string, more ...string) Contender {
	return iperf3(label, append([]string{"-u"}, more...)...)
}

// limit runs a reference program, which the bench compiled, at both ends.
func limit(program, server, client string, udp bool) Contender {
	name := "limit-" + program
	return Contender{Label: limitLabel, Program: name, Parse: parseLimit, Build: func(s Site) Commands {
		common := []string{"host=" + s.Host, fmt.Sprintf("port=%d", s.Port), fmt.Sprintf("seconds=%d", s.Seconds)}
		end := func(words string) []string { return append(append([]string{name}, splitWords(words)...), common...) }
		return Commands{Server: end(server), Client: end(client), UDP: udp}
	}}
}

func limitStream(n int, tx, rx string) Contender {
	queue := ""
	if rx == "discard" {
		queue = " queue=8388608" // soku's queues are longer than the kernel's default
	}
	return limit("stream", fmt.Sprintf("role=sink streams=%d rx=%s", n, rx), fmt.Sprintf("role=source streams=%d tx=%s%s", n, tx, queue), false)
}

// limitWide is the limit with discard and fixed windows of 4 MiB.
func limitWide(n int) Contender {
	c := limit("stream", fmt.Sprintf("role=sink streams=%d rx=discard window=4194304", n), fmt.Sprintf("role=source streams=%d tx=tee queue=8388608", n), false)
	c.Label = limitWideLabel
	return c
}

func limitRoundTrip(protocol string, spin bool, more ...string) Contender {
	words := "protocol=" + protocol
	if spin {
		words += " spin=1"
	}
	return limit("roundtrip", "role=echo "+words, strings.Join(append([]string{"role=ask", words}, more...), " "), protocol == "udp")
}

func limitFlood(size int, trains bool) Contender {
	gso, gro := "", ""
	if trains {
		gso, gro = " gso=1", " gro=1"
	}
	return limit("flood", fmt.Sprintf("role=sink size=%d%s", size, gro), fmt.Sprintf("role=source size=%d%s", size, gso), true)
}

func limitConnect(n int) Contender {
	return limit("connect", "role=accept", fmt.Sprintf("role=open threads=%d", n), false)
}

// starting times the client until its first packet several times a run, and does not read its
// output.
func starting(c Contender) Contender {
	c.Start, c.Brief, c.Parse = true, true, parseNothing
	return c
}

// parseNothing has no figures; a program without output has failed.
func parseNothing(client, _ string) (Figures, error) {
	if client == "" {
		return nil, errNoFigure
	}
	return Figures{}, nil
}

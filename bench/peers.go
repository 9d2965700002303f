package main

import (
	"fmt"
	"strings"
)

func splitWords(s string) []string { return strings.Fields(s) }

// peer builds a contender from two command lines, in which HOST, PORT, NEXT (the next port)
// and SECONDS are placeholders.
func peer(label, program string, udp bool, server, client string, parse func(string, string) (Figures, error)) Contender {
	return Contender{Label: label, Program: program, Parse: parse, Build: func(s Site) Commands {
		fill := strings.NewReplacer("HOST", s.Host, "PORT", fmt.Sprint(s.Port), "NEXT", fmt.Sprint(s.Port+1), "SECONDS", fmt.Sprint(s.Seconds))
		return Commands{Server: splitWords(fill.Replace(server)), Client: splitWords(fill.Replace(client)), UDP: udp}
	}}
}

// streamPeers copy payload as applications do. All but nuttcp, netperf and ntttcp select
// cubic themselves; for those the bench sets the system's default.
func streamPeers(n int) []Contender {
	out := []Contender{
		peer("iperf2", "iperf", false, "iperf -s -p PORT -Z cubic", fmt.Sprintf("iperf -c HOST -p PORT -Z cubic -t SECONDS -P %d -y C", n), parseIperf2),
		peer("nuttcp", "nuttcp", false, "nuttcp -S --nofork -PPORT -pNEXT", fmt.Sprintf("nuttcp -PPORT -pNEXT -TSECONDS -N%d -fparse HOST", n), parseNuttcp),
		peer("neper tcp_stream", "tcp_stream", false, "tcp_stream -C PORT -P NEXT --nolog",
			fmt.Sprintf("tcp_stream -c -H HOST -C PORT -P NEXT -F %d -T %d -l SECONDS -B 131072 --nolog", n, n), parseNeper),
		ethr("b", goodput, n),
		peer("ntttcp", "ntttcp", false, fmt.Sprintf("ntttcp -r -m %d,*,HOST -t SECONDS -p PORT", n),
			fmt.Sprintf("ntttcp -s -m %d,*,HOST -t SECONDS -p PORT", n), parseNtttcp),
	}
	if n == 1 {
		out = append(out, netperf("netperf TCP_STREAM", splitWords("-t TCP_STREAM"), splitWords("-K cubic,cubic -o THROUGHPUT"), goodput.Name))
	}
	return out
}

func ethr(test string, m Metric, n int) Contender {
	return peer("ethr", "ethr", false, "ethr -s -port PORT -ip HOST -no",
		fmt.Sprintf("ethr -c HOST -port PORT -d SECONDSs -t %s -n %d -no", test, n), parseEthr(m))
}

// netperf's server serves each client in a child process.
func netperf(label string, options, specific []string, metrics ...string) Contender {
	client := "netperf -H HOST -p PORT -l SECONDS -P 0 " + strings.Join(options, " ") + " -- " + strings.Join(specific, " ")
	c := peer(label, "netperf", false, "netserver -D -L HOST -p PORT", client, parseNetperf(metrics...))
	c.NoCPU = true
	return c
}

func netperfRR(protocol string) Contender {
	test := strings.ToUpper(protocol) + "_RR"
	return netperf("netperf "+test, []string{"-t", test}, splitWords("-r 64,64 -o P50_LATENCY,P99_LATENCY"), p50.Name, p99.Name)
}

func sockperf(protocol string, spin bool) Contender {
	words := ""
	if protocol == "tcp" {
		words += " --tcp"
	}
	if spin {
		words += " --nonblocked"
	}
	return peer("sockperf", "sockperf", protocol == "udp", "sockperf server -i HOST -p PORT"+words,
		"sockperf ping-pong -i HOST -p PORT -t SECONDS -m 64 --full-rtt"+words, parseSockperf)
}

func qperf(protocol string) Contender {
	c := peer("qperf", "qperf", false, "qperf -lp PORT", "qperf HOST -lp PORT -t SECONDS -m 64 "+protocol+"_lat", parseQperf)
	c.NoCPU = true
	return c
}

// irtt sends on a schedule, not after the previous answer.
func irtt() Contender {
	return peer("irtt -i 1ms", "irtt", true, "irtt server -b HOST:PORT -i 0", "irtt client -i 1ms -d SECONDSs -l 64 -q HOST:PORT", parseIrtt)
}

func neperRR(protocol string) Contender {
	program := protocol + "_rr"
	words := ""
	if protocol == "tcp" {
		words = " --no-delay"
	}
	return peer("neper "+program, program, false, program+" -C PORT -P NEXT --nolog"+words,
		program+" -c -H HOST -C PORT -P NEXT -l SECONDS -Q 64 -R 64 -p 50,99,99.9 --nolog"+words, parseNeper)
}

package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// describe describes the machine and the programs.
func describe(ctx context.Context, programs []string) []string {
	out := []string{"measured " + time.Now().UTC().Format("2006-01-02 15:04 UTC"), "machine: " + cpuName() + ", " + plural(runtime.NumCPU(), "core")}
	if text, err := os.ReadFile("/proc/version"); err == nil {
		if f := strings.Fields(string(text)); len(f) > 2 {
			out = append(out, "kernel: "+f[0]+" "+f[2])
		}
	}
	for _, p := range programs {
		if v := version(ctx, p); v != "" {
			out = append(out, p+": "+v)
		}
	}
	return out
}

func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // absent elsewhere: the architecture alone, then
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// version is the first line with a digit in the program's version output.
func version(ctx context.Context, program string) string {
	flag := map[string]string{"netperf": "-V", "nuttcp": "-V", "tcp_stream": "", "tcp_rr": "", "udp_rr": "", "ethr": "", "iperf": "-v", "ntttcp": "-V", "irtt": "version"}
	f, known := flag[program]
	if !known {
		f = "--version"
	}
	if f == "" || strings.HasPrefix(program, "limit-") {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	text, _ := exec.CommandContext(ctx, program, f).CombinedOutput() // some exit with 1 after printing it
	for line := range strings.Lines(string(text)) {
		if strings.ContainsAny(line, "0123456789") {
			line = strings.TrimSpace(line)
			return line[:min(len(line), 60)]
		}
	}
	return ""
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

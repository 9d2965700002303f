// Program record is placed between a client and a server of any protocol and records their
// traffic for tests to replay (see package exchange). Connections to the address of -from
// are forwarded to the same port of -to.
//
//	go run ./test/record -from 127.0.0.2 -to 127.0.0.1 -ports 8888 -o FILE
//
// It ends with Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"soku/test/exchange"
)

func main() {
	from := flag.String("from", "127.0.0.2", "address to listen on")
	to := flag.String("to", "127.0.0.1", "address of the server")
	ports := flag.String("ports", "", "ports, with commas between them and ranges as 5000-5009")
	whole := flag.Int("whole", 4096, "bytes of each direction of a connection that are written down")
	note := flag.String("note", "", "remark in the file")
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if err := record(&exchange.Relay{From: *from, To: *to, Whole: *whole}, *ports, *note, *out); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(r *exchange.Relay, ports, note, out string) error {
	for _, part := range strings.Split(ports, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return err
		}
		b, err := strconv.ParseUint(last, 10, 16)
		if err != nil {
			return err
		}
		for p := a; p <= b; p++ {
			r.Ports = append(r.Ports, int(p))
		}
	}
	if note != "" {
		r.Note("%s", note)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	x, err := r.Run(ctx, func() { fmt.Println("recording") })
	if err != nil {
		return err
	}
	if _, err := x.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

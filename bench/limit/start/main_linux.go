// Command start measures the minimum time of a Go program from exec to a packet: it imports
// little more than the system calls, connects, sends a byte and waits for the end of the
// connection. A Go tool that takes longer spends the difference itself.
//
//	start role=open   host=A port=P
//	start role=accept port=P
package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// argument is the value of key= on the command line.
func argument(key string) string {
	for _, word := range os.Args[1:] {
		if value, found := strings.CutPrefix(word, key+"="); found {
			return value
		}
	}
	return ""
}

func must(doing string, err error) {
	if err != nil {
		_, _ = os.Stderr.WriteString(doing + ": " + err.Error() + "\n")
		os.Exit(1)
	}
}

// address is host= and port=; without host all addresses of this machine.
func address() *syscall.SockaddrInet4 {
	a := &syscall.SockaddrInet4{}
	var err error
	a.Port, err = strconv.Atoi(argument("port"))
	must("port=", err)
	host := argument("host")
	if host == "" {
		return a
	}
	for i, part := range strings.SplitN(host, ".", len(a.Addr)) {
		n, err := strconv.ParseUint(part, 10, 8)
		must("host=, which wants four numbers", err)
		a.Addr[i] = byte(n)
	}
	return a
}

func main() {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must("socket", err)
	var b [1]byte
	if argument("role") == "open" {
		must("connect", syscall.Connect(fd, address()))
		_, err = syscall.Write(fd, b[:])
		must("write", err)
		_, _ = syscall.Read(fd, b[:])
		_, _ = os.Stdout.WriteString("sent a byte\n")
		return
	}
	must("reuse the address", syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	must("bind", syscall.Bind(fd, address()))
	must("listen", syscall.Listen(fd, 16))
	for { // until it is killed
		c, _, err := syscall.Accept(fd)
		must("accept", err)
		_, _ = syscall.Read(c, b[:])
		_ = syscall.Close(c)
	}
}

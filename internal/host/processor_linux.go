package host

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// firstProcessor is the part of /proc/cpuinfo that is about the first processor, and some
// more. No library reads only that; for hundreds of processors the kernel takes
// milliseconds to write all of it.
func firstProcessor() string { return readMost("/proc/cpuinfo", 4096) }

// ProcessorMHz is how fast the first processor runs now, 0 where the system does not
// report it.
func ProcessorMHz() float64 { return parseMHz(firstProcessor()) }

func parseMHz(cpuinfo string) float64 {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "cpu MHz" {
			mhz, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return mhz
		}
	}
	return 0
}

// interruptsMost bounds what is read of the list of interrupts, which has a column
// for each processor.
const interruptsMost = 32 << 20

// Interrupts returns the sum of the interrupts, over all processors, of all lines of the system's
// list of interrupts that contain text, or false if there is no list. The text may be anywhere in
// a line, so a library that splits the list into columns does not help.
func Interrupts(text string) (int64, bool) {
	list := readMost("/proc/interrupts", interruptsMost)
	return parseInterrupts(list, text), list != ""
}

// parseInterrupts adds up the columns of numbers of the lines of /proc/interrupts
// that have wanted in them.
func parseInterrupts(list, wanted string) (total int64) {
	for line := range strings.Lines(list) {
		_, columns, ok := strings.Cut(line, ":")
		if !ok || !strings.Contains(line, wanted) {
			continue
		}
		for _, column := range strings.Fields(columns) {
			n, err := strconv.ParseInt(column, 10, 64)
			if err != nil {
				break // the numbers come first; those in a device's name are none
			}
			total += n
		}
	}
	return total
}

// Uname is what the kernel reports of itself and its host, as uname(1) prints it with
// -snrvm: name, host name, release, version and machine.
func Uname() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad pointer
	text := unix.ByteSliceToString
	return strings.Join([]string{text(u.Sysname[:]), text(u.Nodename[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:])}, " ")
}

func kernelRelease() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:])
}

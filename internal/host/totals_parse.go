package host

import (
	"strconv"
	"strings"
)

// parseTotals reads /proc/stat: a line of all processors, and one for each.
func parseTotals(text string) (t Totals) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu") {
			break
		}
		if fields[0] != "cpu" {
			t.CPUs++
			continue
		}
		// user nice system idle iowait irq softirq steal; guest time is in user and nice.
		var v [8]int64
		for i := range v {
			if i+1 < len(fields) {
				v[i], _ = strconv.ParseInt(fields[i+1], 10, 64)
			}
			t.All += v[i]
		}
		t.User, t.System, t.Idle, t.IOWait, t.Softirq = v[0], v[2], v[3], v[4], v[6]
	}
	return t
}

// parseMHz reads the first processor's clock from /proc/cpuinfo.
func parseMHz(text string) float64 {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "cpu MHz" {
			mhz, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return mhz
		}
	}
	return 0
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

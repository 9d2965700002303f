package series

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"soku/internal/host"
)

// userHZ is the unit of /proc/stat, 1/100 s on every machine that Go runs on (USER_HZ), ns.
const userHZ = 10_000_000

// roots are where the kernel's files are, for everything but tests.
type roots struct{ proc, sys, cgroup string }

var system = roots{"/proc", "/sys", "/sys/fs/cgroup"}

// hostSources are those of this host: of the network namespace of the calling thread, also
// when that ends later.
func hostSources(iface string) []opener { return system.sources(iface, ethtoolOf) }

func (r roots) sources(iface string, driver func(string) opener) []opener {
	net := host.NetworkDir(r.proc)
	of := func(file string, columns []Column, parse func([]byte, []int64)) opener {
		return func() Source { return fileSource(path.Join(net, file), columns, parse) }
	}
	all := []opener{
		r.processors,
		of("snmp", snmpColumns, func(b []byte, row []int64) { parsePairs(b, snmpPairs, row) }),
		of("netstat", netstatColumns, func(b []byte, row []int64) { parsePairs(b, netstatPairs, row) }),
		func() Source { return udpSource(path.Join(net, "snmp"), path.Join(net, "snmp6")) },
		of("softnet_stat", counters("softnet.dropped", "softnet.squeezed"), parseSoftnet),
		of("stat/nf_conntrack", counters("conntrack.dropped", "conntrack.insert_failed"), parseConntrack),
		r.disks, r.throttling, r.threads,
	}
	if iface != "" {
		all = append(all, of("dev", interfaceColumns, func(b []byte, row []int64) { parseInterface(b, iface, row) }), driver(iface))
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		all = append(all, func() Source {
			return fileSource(path.Join(r.proc, "pressure", resource), counters("pressure."+resource+"_ns"), func(b []byte, row []int64) {
				row[0] = parsePressure(b)
			})
		})
	}
	return append(all, r.interrupts)
}

// udpSource adds up IPv4 and IPv6.
func udpSource(four, six string) Source {
	a, b := openFile(four), openFile(six)
	return Source{
		Columns: counters("udp.receive_buffer_errors", "udp.send_buffer_errors"),
		Read: func(row []int64) {
			parsePairs(a.read(), udpPairs, row)
			parseNames(b.read(), udp6Pairs, row)
		},
		Close: func() { a.close(); b.close() }, Seldom: 3,
	}
}

// mostCounted is how many processors are read.
const mostCounted = 512

// cpus are the processors of /proc/stat.
func (r roots) cpus() (ids []int) {
	f := openFile(path.Join(r.proc, "stat"))
	defer f.close()
	for line := range bytes.Lines(f.read()) {
		rest, is := after(line, "cpu")
		if !is {
			break
		}
		if id, ok := number(first(rest)); ok && len(ids) < mostCounted {
			ids = append(ids, int(id))
		}
	}
	return ids
}

// first is the first field of a line that does not begin with a blank.
func first(line []byte) []byte {
	if len(line) == 0 || blank(line[0]) {
		return nil
	}
	field, _ := cutField(line)
	return field
}

func (r roots) processors() Source {
	ids := r.cpus()
	var columns []Column
	for _, id := range ids {
		cpu := "cpu" + strconv.Itoa(id)
		columns = append(columns, counters(cpu+".user_ns", cpu+".system_ns", cpu+".softirq_ns", cpu+".irq_ns", cpu+".steal_ns")...)
	}
	return fileSource(path.Join(r.proc, "stat"), columns, func(b []byte, row []int64) { parseStat(b, userHZ, ids, row) })
}

func (r roots) interrupts() Source {
	ids := r.cpus()
	columns, places := make([]Column, len(ids)), make([]int, len(ids))
	for i, id := range ids {
		columns[i].Key = "cpu" + strconv.Itoa(id) + ".interrupts"
	}
	s := fileSource(path.Join(r.proc, "interrupts"), columns, func(b []byte, row []int64) { parseInterrupts(b, ids, places, row) })
	s.Seldom = 5 // the kernel takes 20 us a processor for it
	return s
}

// mostDisks is how many disks are read; physical ones come first.
const mostDisks = 16

// disks are whole disks: what has a folder in /sys/block.
func (r roots) disks() Source {
	entries, err := os.ReadDir(path.Join(r.sys, "block"))
	if err != nil {
		return none()
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "ram") {
			names = append(names, e.Name())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return loops(a) - loops(b) })
	names = names[:min(len(names), mostDisks)]
	var columns []Column
	for _, name := range names {
		d := "disk." + cleanKey(name) + "."
		columns = append(columns, counters(d+"reads", d+"writes", d+"read_bytes", d+"written_bytes", d+"busy_ns")...)
		columns = append(columns, Column{Key: d + "queue", Gauge: true, Quiet: true})
	}
	return fileSource(path.Join(r.proc, "diskstats"), columns, func(b []byte, row []int64) { parseDisks(b, names, row) })
}

func loops(name string) int {
	if strings.HasPrefix(name, "loop") {
		return 1
	}
	return 0
}

// throttling is the processor quota of the program, as it sees its control groups or, where they are hidden
// from it, as a process above it does ([host.Ancestors]).
func (r roots) throttling() Source {
	s := r.throttlingBelow(r.cgroup)
	if groups, err := os.ReadDir(r.cgroup); err == nil && len(groups) > 0 {
		return s
	}
	for _, id := range host.Ancestors(r.proc) {
		if s := r.throttlingBelow(path.Join(r.proc, id, "root", system.cgroup)); s.Columns != nil {
			return s
		}
	}
	return s
}

// throttlingBelow is the quota of the nearest group above the program that has one, or of its own, with
// control groups mounted at a folder.
func (r roots) throttlingBelow(mount string) Source {
	for line := range strings.Lines(textOf(path.Join(r.proc, "self/cgroup"))) {
		// ID:controllers:path; cgroup v2 has no controllers: cgroups(7).
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		v2, v1 := parts[0] == "0" && parts[1] == "", slices.Contains(strings.Split(parts[1], ","), "cpu")
		var s Source
		switch {
		case v1:
			s = throttlingOf(path.Join(mount, "cpu"), parts[2], v1Names, func(dir string) bool {
				quota := textOf(path.Join(dir, "cpu.cfs_quota_us"))
				return quota != "" && !strings.HasPrefix(quota, "-")
			})
		case v2:
			s = throttlingOf(mount, parts[2], v2Names, func(dir string) bool {
				quota := textOf(path.Join(dir, "cpu.max"))
				return quota != "" && !strings.HasPrefix(quota, "max")
			})
		}
		if s.Columns != nil {
			return s
		}
	}
	return none()
}

var (
	v1Names = []pair{{"", "nr_periods", 0}, {"", "nr_throttled", 1}, {"", "throttled_time", 2}}
	v2Names = []pair{{"", "nr_periods", 0}, {"", "nr_throttled", 1}, {"", "throttled_usec", 2}}
)

// throttlingOf finds the group. In a container the path may be that of the host: its root is
// the container's group then.
func throttlingOf(mount, group string, names []pair, quota func(dir string) bool) Source {
	own := ""
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		full := path.Join(mount, dir)
		if _, err := os.Stat(path.Join(full, "cpu.stat")); err == nil {
			if own == "" {
				own = full
			}
			if quota(full) {
				own = full
				break
			}
		}
		if dir == "/" {
			break
		}
	}
	if own == "" {
		return none()
	}
	return fileSource(path.Join(own, "cpu.stat"), counters("cgroup.periods", "cgroup.throttled_periods", "cgroup.throttled_ns"), func(b []byte, row []int64) {
		parseNames(b, names, row)
		if names[2].name == "throttled_usec" && row[2] != Unknown {
			row[2] *= 1000
		}
	})
}

package series

// The parsers of the kernel's texts. They allocate nothing, and what they do not find they
// leave as it is.

// cutLine is the first line of b without its end, and what follows.
func cutLine(b []byte) (line, rest []byte) {
	for i, c := range b {
		if c == '\n' {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// cutField is the first field of a line and what follows; both are empty at its end.
func cutField(b []byte) (field, rest []byte) {
	i := 0
	for i < len(b) && blank(b[i]) {
		i++
	}
	j := i
	for j < len(b) && !blank(b[j]) {
		j++
	}
	return b[i:j], b[j:]
}

// number parses a field as a decimal number. ok is false if it is none or too large.
func number(field []byte) (n int64, ok bool) {
	if len(field) == 0 || len(field) > 18 {
		return wide(field)
	}
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// wide is a number of 19 or 20 digits: counters of 64 bits that wrap.
func wide(field []byte) (int64, bool) {
	if len(field) == 0 || len(field) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n &^ (1 << 63)), true
}

// hexadecimal is a field of at most 15 hexadecimal digits.
func hexadecimal(field []byte) (n int64, ok bool) {
	if len(field) == 0 || len(field) > 15 {
		return 0, false
	}
	for _, c := range field {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// numbers reads the next fields of a line into out as numbers, and reports whether the line had
// enough fields.
func numbers(line []byte, out []int64) bool {
	for i := range out {
		var field []byte
		field, line = cutField(line)
		n, ok := number(field)
		if !ok {
			return false
		}
		out[i] = n
	}
	return true
}

// after is what follows prefix in line.
func after(line []byte, prefix string) (rest []byte, ok bool) {
	if len(line) < len(prefix) || string(line[:len(prefix)]) != prefix {
		return nil, false
	}
	return line[len(prefix):], true
}

// statColumns is how many columns /proc/stat gives a processor.
const statColumns = 5

// parseStat reads the times of processors from /proc/stat: five values a processor of cpus,
// in its order: user with nice, system, softirq, irq and steal, ns. tick is the unit of the
// file, ns.
func parseStat(b []byte, tick int64, cpus []int, row []int64) {
	place := 0
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		rest, is := after(line, "cpu")
		if !is {
			return // the processors come first
		}
		field, rest := cutField(rest)
		id, ok := number(field)
		if !ok || len(rest) == 0 || blank(line[len("cpu")]) {
			continue // all together
		}
		place = placeOf(cpus, int(id), place)
		var t [8]int64 // user nice system idle iowait irq softirq steal
		if place < 0 || !numbers(rest, t[:]) {
			place = 0
			continue
		}
		out := row[place*statColumns:]
		out[0], out[1], out[2], out[3], out[4] = (t[0]+t[1])*tick, t[2]*tick, t[6]*tick, t[5]*tick, t[7]*tick
		place++
	}
}

// placeOf returns the index of id in ids, which most likely is guess, or -1 if it is not there.
func placeOf(ids []int, id, guess int) int {
	if guess >= 0 && guess < len(ids) && ids[guess] == id {
		return guess
	}
	for i, other := range ids {
		if other == id {
			return i
		}
	}
	return -1
}

// parseInterrupts adds up the interrupts of each processor of cpus from /proc/interrupts.
// columns has room for the processor of each column of the file.
func parseInterrupts(b []byte, cpus []int, columns []int, row []int64) {
	head, b := cutLine(b)
	n := 0
	for n < len(columns) {
		var field []byte
		field, head = cutField(head)
		name, is := after(field, "CPU")
		if !is {
			break
		}
		id, _ := number(name)
		columns[n] = placeOf(cpus, int(id), n)
		n++
	}
	if n == 0 {
		return
	}
	for i := range cpus {
		row[i] = 0
	}
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		_, line = cutField(line) // the name
		for _, place := range columns[:n] {
			var field []byte
			field, line = cutField(line)
			count, ok := number(field)
			if !ok {
				break
			}
			if place >= 0 {
				row[place] += count
			}
		}
	}
}

// parseInterface reads one line of /proc/net/dev: bytes, packets, dropped and errors, first
// sent and then received.
func parseInterface(b []byte, name string, row []int64) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		for len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		rest, is := after(line, name)
		if !is || len(rest) == 0 || rest[0] != ':' {
			continue
		}
		var t [12]int64 // bytes packets errs drop fifo frame compressed multicast, and again
		if numbers(rest[1:], t[:]) {
			row[0], row[1], row[2], row[3] = t[8], t[9], t[11], t[10]
			row[4], row[5], row[6], row[7] = t[0], t[1], t[3], t[2]
		}
		return
	}
}

// parsePairs reads a file of pairs of lines, the names and the values of a protocol
// (/proc/net/snmp and netstat). wanted are names with their protocol, such as
// "Tcp: RetransSegs", for the places of row. What is there is added to what row has, if that
// is known.
func parsePairs(b []byte, wanted []pair, row []int64) {
	for len(b) > 0 {
		var names, values []byte
		names, b = cutLine(b)
		values, b = cutLine(b)
		protocol, names := cutField(names)
		other, values := cutField(values)
		if string(protocol) != string(other) {
			return
		}
		for len(names) > 0 {
			var name, value []byte
			name, names = cutField(names)
			value, values = cutField(values)
			for i := range wanted {
				if w := &wanted[i]; w.name == string(name) && w.protocol == string(protocol) {
					if n, ok := number(value); ok {
						add(row, w.place, n)
					}
				}
			}
		}
	}
}

// pair is one counter of a protocol and where it is added.
type pair struct {
	protocol, name string
	place          int
}

func add(row []int64, place int, n int64) {
	if row[place] == Unknown {
		row[place] = 0
	}
	row[place] += n
}

// parseNames reads a file of lines of a name and a number (/proc/net/snmp6, cpu.stat).
func parseNames(b []byte, wanted []pair, row []int64) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		name, line := cutField(line)
		for i := range wanted {
			if wanted[i].name == string(name) {
				field, _ := cutField(line)
				if n, ok := number(field); ok {
					add(row, wanted[i].place, n)
				}
			}
		}
	}
}

// parseSoftnet adds up /proc/net/softnet_stat: packets dropped, and polls that ended with packets left.
func parseSoftnet(b []byte, row []int64) {
	for len(b) > 0 {
		var line, field []byte
		line, b = cutLine(b)
		_, line = cutField(line)
		field, line = cutField(line)
		dropped, ok := hexadecimal(field)
		field, _ = cutField(line)
		squeezed, too := hexadecimal(field)
		if ok && too {
			add(row, 0, dropped)
			add(row, 1, squeezed)
		}
	}
}

// parseConntrack adds up /proc/net/stat/nf_conntrack, a line of names and one of hexadecimal numbers for each
// processor: packets dropped because a connection could not be tracked, mostly for a full table, and
// connections that could not be inserted into it.
func parseConntrack(b []byte, row []int64) {
	names, b := cutLine(b)
	for len(b) > 0 {
		var values []byte
		values, b = cutLine(b)
		for rest := names; len(rest) > 0; {
			var name, value []byte
			name, rest = cutField(rest)
			value, values = cutField(values)
			n, ok := hexadecimal(value)
			switch {
			case !ok:
			case string(name) == "drop":
				add(row, 0, n)
			case string(name) == "insert_failed":
				add(row, 1, n)
			}
		}
	}
}

// diskColumns is how many columns a disk has.
const diskColumns = 6

// parseDisks reads the lines of disks from /proc/diskstats: reads, writes, bytes read and
// written, busy time in ns, and requests in flight.
func parseDisks(b []byte, disks []string, row []int64) {
	const sector = 512 // whatever the disk's own is: Documentation/admin-guide/iostats.rst
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		_, line = cutField(line)
		_, line = cutField(line)
		name, line := cutField(line)
		for i, disk := range disks {
			if disk != string(name) {
				continue
			}
			var t [10]int64 // reads merged sectors ms, writes merged sectors ms, in flight, ms busy
			if numbers(line, t[:]) {
				out := row[i*diskColumns:]
				out[0], out[1], out[2], out[3], out[4], out[5] = t[0], t[4], t[2]*sector, t[6]*sector, t[9]*1e6, t[8]
			}
		}
	}
}

// parsePressure is the total of the line "some" of a file of /proc/pressure, ns.
func parsePressure(b []byte) int64 {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		line, is := after(line, "some ")
		for is && len(line) > 0 {
			var field []byte
			field, line = cutField(line)
			if us, total := after(field, "total="); total {
				if n, ok := number(us); ok {
					return n * 1000
				}
			}
		}
	}
	return Unknown
}

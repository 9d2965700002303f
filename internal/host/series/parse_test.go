package series

import (
	"slices"
	"testing"
)

func TestTextsOfTheKernelAreRead(t *testing.T) {
	const U = Unknown
	for name, c := range map[string]struct {
		parse func([]byte, []int64)
		text  string
		want  []int64
	}{
		"processors": {func(b []byte, row []int64) { parseStat(b, 10, []int{0, 2}, row) },
			"cpu  110 10 50 9000 70 3 7 20 5 1\ncpu0 60 5 25 4500 35 1 3 10 5 1\ncpu2 50 5 25 4500 35 2 4 11 0 0\nintr 1 2\n",
			[]int64{650, 250, 30, 10, 100, 550, 250, 40, 20, 110}},
		"a processor that is gone": {func(b []byte, row []int64) { parseStat(b, 10, []int{0, 1}, row) },
			"cpu  1 1 1 1 1 1 1 1\ncpu1 1 0 0 0 0 0 0 0\ncpu7 9 9 9 9 9 9 9 9\n", []int64{U, U, U, U, U, 10, 0, 0, 0, 0}},
		"interrupts": {func(b []byte, row []int64) { parseInterrupts(b, []int{0, 3}, make([]int, 2), row) },
			"           CPU0       CPU3\n  1:   5   7  IO-APIC 1-edge i8042\nLOC:  10  20  Local timer interrupts\nERR:          4\n", []int64{19, 27}},
		"an interface": {func(b []byte, row []int64) { parseInterface(b, "eth0", row) },
			"Inter-| Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 0 0 0 0\n eth00: 9 9 9 9 9 9 9 9 9 9 9 9 0 0 0 0\n  eth0:341 19 1 2 3 4 5 6 173 16 7 8 9 0 0 0\n",
			[]int64{173, 16, 8, 7, 341, 19, 2, 1}},
		"protocols": {func(b []byte, row []int64) { parsePairs(b, netstatPairs, row) },
			"TcpExt: TCPSackRecovery TCPTimeouts TCPRenoRecovery ListenDrops\nTcpExt: 3 4 5 6\nIpExt: TCPTimeouts\nIpExt: 99\n", []int64{U, 8, 4, 6, U, U}},
		"names":   {func(b []byte, row []int64) { parseNames(b, udp6Pairs, row) }, "Udp6InErrors 1\nUdp6RcvbufErrors   \t12\n", []int64{12, U}},
		"softnet": {parseSoftnet, "0000a001 00000002 00000003 0\n0000b001 00000010 00000004 0\n", []int64{0x12, 7}},
		"conntrack": {parseConntrack, "entries  clashres found new insert insert_failed drop early_drop icmp_error  expect_new\n" +
			"00040000  00000001 00000000 00000000 00000000 00000003 0000001f 00000009 00000000  00000000\n00040000  00000001 00000000 00000000 00000000 00000001 00000001 00000009 00000000  00000000\n",
			[]int64{0x20, 4}},
		"disks":    {func(b []byte, row []int64) { parseDisks(b, []string{"sda"}, row) }, "   8       0 sda 10 1 80 5 20 2 160 7 3 40 90 0\n   8  1 sda1 9 9 9 9 9 9 9 9 9 9 9 9\n", []int64{10, 20, 80 * 512, 160 * 512, 40e6, 3}},
		"pressure": {func(b []byte, row []int64) { row[0] = parsePressure(b) }, "some avg10=0.00 avg60=1.00 avg300=2.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n", []int64{123000}},
	} {
		row := unknownRow(len(c.want))
		if c.parse([]byte(c.text), row); !slices.Equal(row, c.want) {
			t.Errorf("%s: %v, want %v", name, row, c.want)
		}
		for i := range c.text { // cut off anywhere
			c.parse([]byte(c.text[:i]), unknownRow(len(c.want)))
		}
	}
}

func TestNumbersOfTheKernel(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "007": 7, "999999999999999999": 999999999999999999, "18446744073709551615": 1<<63 - 1} {
		if n, ok := number([]byte(text)); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-1", "x", "1x", "111111111111111111111", "1.5"} {
		if n, ok := number([]byte(text)); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
}

// Names of queues become one: the columns of a driver do not grow with its queues.
func TestStatisticsOfADriverThatTellSomethingHaveColumns(t *testing.T) {
	for name, want := range map[string]string{
		"bw_in_allowance_exceeded": "driver.bw_in_allowance_exceeded", "conntrack_allowance_available": "driver.conntrack_allowance_available",
		"queue_3_tx_queue_stop": "driver.queue_tx_queue_stop", "tx_queue_12_packets": "driver.tx_queue_packets", "rx3_drops": "driver.rx_drops",
		"tx_stop[7]": "driver.tx_stop", "vf_rx_packets": "driver.vf_rx_packets", "rx_out_of_buffer": "driver.rx_out_of_buffer", "rx_queue_0_drops": "driver.rx_queue_drops",
		"rx_csum_good": "", "tx_pause": "", "": "",
	} {
		columns, places := driverColumns([]string{name})
		switch {
		case want == "" && (len(columns) != 0 || places[0] != -1), want != "" && (len(columns) != 1 || columns[0].Key != want || places[0] != 0):
			t.Errorf("%s: %v, %v, want %s", name, columns, places, want)
		case want != "" && columns[0].Gauge != (name == "conntrack_allowance_available"):
			t.Errorf("%s: %+v", name, columns[0])
		}
	}
	var many []string
	for i := range 1000 {
		many = append(many, "rx_"+string(rune('a'+i%26))+string(rune('a'+i/26))+"_drops")
	}
	if columns, _ := driverColumns(many); len(columns) != mostDriver {
		t.Errorf("%d columns", len(columns))
	}
	if columns, places := driverColumns([]string{"rx_queue_0_drops", "x", "rx_queue_1_drops"}); len(columns) != 1 || !slices.Equal(places, []int{0, -1, 0}) {
		t.Errorf("two queues: %v, %v", columns, places)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("cpu  1\ncpu0 1 2 3 4 5 6 7 8\n"), "eth0")
	f.Add([]byte("TcpExt: TCPTimeouts\nTcpExt: 5\n"), "Tcp:")
	f.Add([]byte("           CPU0       CPU3\n  1:   5   7  IO-APIC\n"), "x")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		row := make([]int64, 2*diskColumns)
		parseStat(b, 1e7, []int{0, 1}, row)
		parseInterrupts(b, []int{0, 1}, make([]int, 2), row)
		parseInterface(b, name, row)
		parsePairs(b, netstatPairs, row)
		parseNames(b, udp6Pairs, row)
		parseSoftnet(b, row)
		parseConntrack(b, row)
		parseDisks(b, []string{name, "sda"}, row)
		parsePressure(b)
		columns, _ := driverColumns([]string{name, string(b)})
		for _, c := range columns {
			if len(c.Key) > 64 {
				t.Errorf("key %q", c.Key)
			}
		}
	})
}

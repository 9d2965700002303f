package ingest

import (
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// The formats are those of published outputs of Windows 10 and 11, macOS and Linux.
func TestPingLinesWithoutAReplyCountAsLoss(t *testing.T) {
	for name, c := range map[string]struct {
		text                 string
		target               string
		size                 int64
		sent, received       int64
		times                int64 // in the histogram; 0: there is none
		routersWarn, stdless bool
	}{
		"Windows, general failure": {"\r\nPinging 172.23.192.1 with 32 bytes of data:\r\nPING: transmit failed. General failure.\r\nPING: transmit failed. General failure.\r\n\r\n" +
			"Ping statistics for 172.23.192.1:\r\n    Packets: Sent = 2, Received = 0, Lost = 2 (100% loss),\r\n", "172.23.192.1", 32, 2, 0, 0, false, true},
		"Windows, from an address": {"\nPinging 192.168.1.7 from 192.165.2.5 with 64 bytes of data:\nReply from 192.168.1.7: bytes=64 time=3ms TTL=128\nRequest timed out.\n\n" +
			"Ping statistics for 192.168.1.7:\n    Packets: Sent = 2, Received = 1, Lost = 1 (50% loss),\nApproximate round trip times in milli-seconds:\n    Minimum = 3ms, Maximum = 3ms, Average = 3ms\n", "192.168.1.7", 64, 2, 1, 1, false, true},
		"Windows, TTL expired and one reply": {"\nPinging vm2.example.net [10.0.1.4] with 32 bytes of data:\nReply from 10.0.0.1: TTL expired in transit.\nReply from 10.0.1.4: bytes=32 time=9ms TTL=57\nReply from 10.0.0.1: Destination net unreachable.\n\n" +
			"Ping statistics for 10.0.1.4:\n    Packets: Sent = 3, Received = 3, Lost = 0 (0% loss),\nApproximate round trip times in milli-seconds:\n    Minimum = 9ms, Maximum = 9ms, Average = 9ms\n", "vm2.example.net", 32, 3, 1, 1, true, true},
		"Windows, IPv6": {"\nPinging ::1 with 32 bytes of data:\nReply from ::1: time<1ms \nReply from ::1: time=2ms \n\nPing statistics for ::1:\n    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n" +
			"Approximate round trip times in milli-seconds:\n    Minimum = 0ms, Maximum = 2ms, Average = 1ms\n", "::1", 32, 2, 2, 0, false, true},
		"Windows, Ctrl+Break and on": {"\nPinging 10.0.0.9 with 32 bytes of data:\nReply from 10.0.0.9: bytes=32 time=1ms TTL=64\n\nPing statistics for 10.0.0.9:\n    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),\n" +
			"Approximate round trip times in milli-seconds:\n    Minimum = 1ms, Maximum = 1ms, Average = 1ms\nControl-Break\nReply from 10.0.0.9: bytes=32 time=5ms TTL=64\nRequest timed out.\n\n" +
			"Ping statistics for 10.0.0.9:\n    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\nApproximate round trip times in milli-seconds:\n    Minimum = 1ms, Maximum = 5ms, Average = 3ms\nControl-C\n^C\n", "10.0.0.9", 32, 3, 2, 2, false, true},
		"Japanese, a bare address": {"\n192.168.179.1 に ping を送信しています 32 バイトのデータ:\n192.168.179.1 からの応答: バイト数 =32 時間 =9ms TTL=64\n192.168.179.1 からの応答: バイト数 =32 時間 =3ms TTL=64\n\n" +
			"192.168.179.1 の ping 統計:\n    パケット数: 送信 = 2、受信 = 2、損失 = 0 (0% の損失)、\nラウンド トリップの概算時間 (ミリ秒):\n    最小 = 3ms、最大 = 9ms、平均 = 6ms\n", "192.168.179.1", 32, 2, 2, 2, false, true},
		"Japanese, unreachable": {"\n10.0.0.9 に ping を送信しています 32 バイトのデータ:\n10.0.0.5 からの応答: 宛先ホストに到達できません。\n10.0.0.5 からの応答: 宛先ネットワークに到達できません。\n要求がタイムアウトしました。\n\n" +
			"10.0.0.9 の ping 統計:\n    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、\n", "10.0.0.9", 32, 3, 0, 0, true, true},
		"Japanese, TTL expired":     {"\nvm2.example.net [10.0.1.4]に ping を送信しています 32 バイトのデータ:\n192.168.11.1 からの応答: 転送中に TTL が期限切れになりました。\n\n10.0.1.4 の ping 統計:\n    パケット数: 送信 = 1、受信 = 1、損失 = 0 (0% の損失)、\n", "vm2.example.net", 32, 1, 0, 0, true, true},
		"Japanese, general failure": {"\n10.0.0.9 に ping を送信しています 32 バイトのデータ:\nPING: 転送に失敗しました。一般エラーです。\n\n10.0.0.9 の ping 統計:\n    パケット数: 送信 = 1、受信 = 0、損失 = 1 (100% の損失)、\n", "10.0.0.9", 32, 1, 0, 0, false, true},
		"macOS, a single reply": {"PING 1.1.1.1 (1.1.1.1): 56 data bytes\nRequest timeout for icmp_seq 0\n64 bytes from 1.1.1.1: icmp_seq=1 ttl=57 time=20.732 ms\n\n--- 1.1.1.1 ping statistics ---\n" +
			"2 packets transmitted, 1 packets received, 50.0% packet loss\nround-trip min/avg/max/stddev = 20.732/20.732/20.732/nan ms\n", "1.1.1.1", 56, 2, 1, 1, false, true},
		"macOS, no route": {"PING 10.9.9.9 (10.9.9.9): 56 data bytes\nping: sendto: No route to host\nRequest timeout for icmp_seq 0\n92 bytes from 10.0.0.1: Destination Host Unreachable\nVr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst\n" +
			" 4  5  00 5400 1f2a   0 0000  3f  01 0000 10.0.0.2  10.9.9.9 \n\n--- 10.9.9.9 ping statistics ---\n2 packets transmitted, 0 packets received, 100.0% packet loss\n", "10.9.9.9", 56, 2, 0, 0, false, true},
		"Linux, a name with the word in it": {"PING time.example.net (10.0.0.7) 56(84) bytes of data.\n64 bytes from time.example.net (10.0.0.7): icmp_seq=1 ttl=57 time=12.5 ms\nFrom 10.0.0.1 icmp_seq=2 Destination Host Unreachable\n\n" +
			"--- time.example.net ping statistics ---\n2 packets transmitted, 1 received, +1 errors, 50% packet loss, time 1001ms\nrtt min/avg/max/mdev = 12.500/12.500/12.500/0.000 ms\n", "time.example.net", 56, 2, 1, 1, false, false},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		r := results[0]
		if r.Path.Server.Name != c.target || int64(r.Options.Size) != c.size || r.Latency.Sent != c.sent || r.Latency.Received != c.received || r.Latency.Lost != c.sent-c.received {
			t.Errorf("%s: to %q with %d bytes, %d sent, %d received", name, r.Path.Server.Name, r.Options.Size, r.Latency.Sent, r.Latency.Received)
		}
		times := int64(0)
		if r.Latency.Histogram != nil {
			times = r.Latency.Histogram.Count()
		}
		if times != c.times {
			t.Errorf("%s: %d single times, want %d", name, times, c.times)
		}
		if f := r.Summary.ReportedRTT; (f != nil) != (c.received > 0) || f != nil && (f.StdDev == nil) != c.stdless {
			t.Errorf("%s: reported %+v", name, f)
		}
		if got := len(r.Findings.With(finding.RouterRepliesAreLoss)) == 1; got != c.routersWarn {
			t.Errorf("%s: findings %+v", name, r.Findings)
		}
	}
}

func TestAppendedNTttcpLogsAreSeveralResults(t *testing.T) {
	log, err := os.ReadFile("testdata/ntttcp-windows.xml")
	if err != nil {
		t.Fatal(err)
	}
	alone := one(t, "ntttcp-windows.xml")
	results, err := read(t, Auto, string(log)+strings.ReplaceAll(string(log), `"mbps">1887.437<`, `"mbps">1888.437<`))
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	lines := strings.Count(string(log), "\n")
	for i, bps := range []float64{1887.437e6, 1888.437e6} {
		r := results[i]
		if !close2(r.Summary.GoodputBps, bps) || r.Origin.Record != i+1 || r.Origin.Line != 1+i*lines || r.Options.Streams != alone.Options.Streams {
			t.Errorf("log %d: %v bit/s, record %d, line %d, %d streams", i+1, r.Summary.GoodputBps, r.Origin.Record, r.Origin.Line, r.Options.Streams)
		}
	}
	if _, err := read(t, Auto, string(log)+string(log[:len(log)/2])); measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a second log that is cut off: %v", err)
	}
}

// Packets of less than 16 bytes carry no time stamp, so ping prints no times and no summary of them.
func TestPingOfSmallPacketsHasItsCountsOnly(t *testing.T) {
	for _, file := range []string{"ping-linux-small.txt", "ping-linux-small-q.txt"} {
		r := one(t, file)
		if r.Latency.Sent != 3 || r.Latency.Received != 3 || r.Options.Size != 8 || *r.Summary.LossRatio != 0 || r.Latency.Histogram != nil || r.Summary.ReportedRTT != nil {
			t.Errorf("%s: %+v %+v", file, r.Latency, r.Summary.ReportedRTT)
		}
		if !isMissing(r, finding.NoTimes) || isMissing(r, finding.NoPercentiles) {
			t.Errorf("%s: missing %+v", file, r.Origin.Missing)
		}
	}
	if _, err := read(t, Auto, strings.Replace(text(t, "ping-linux-small.txt"), " 8(36)", " 56(84)", 1)); err != nil {
		t.Errorf("replies without times of larger packets: %v", err)
	}
}

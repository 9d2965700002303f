package doctor

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

// healthy is a host of 8 processors with a card of 25 Gbit/s, on which every check can look and
// finds nothing. 10 Gbit/s with a round trip of 20 ms are wanted.
func healthy() *Subject {
	yes, node := true, 0
	s := &Subject{Wanted: Wanted{RateBps: 10e9, RateFrom: FromAsked, RTTNs: 20e6, RTTFrom: FromAsked, Streams: 4, Port: 7658}}
	s.Facts = measure.Facts{
		Hostname: "vm1", OS: "linux", Arch: "amd64", CPUs: 8, Governor: "performance", Load1: 0.3, Interface: "eth0", MTU: 1500,
		LinkSpeedMbps: 25_000, Driver: "mlx5_core", Qdisc: "mq fq_codel", Congestion: "cubic", ClockSource: "tsc",
		Offloads: map[string]bool{"tso": true, "gso": true, "gro": true, "tx_checksum": true, "rx_checksum": true, "scatter_gather": true, "lro": false},
		Sysctl: map[string]string{
			"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.ipv4.tcp_wmem": "4096 16384 67108864", "net.core.rmem_max": "67108864",
			"net.core.wmem_max": "67108864", "net.core.netdev_max_backlog": "10000", "net.ipv4.ip_local_port_range": "32768 60999",
			"net.core.somaxconn": "4096", "net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_sack": "1",
			"net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_slow_start_after_idle": "0",
		},
	}
	s.Facts.Details = measure.Details{
		NIC: &measure.NIC{
			Bus: "0000:01:00.0", NUMANode: &node, Queues: &measure.Queues{Combined: 8, MaxCombined: 8}, Rings: &measure.Rings{Rx: 1024, Tx: 1024, MaxRx: 8192, MaxTx: 8192},
			RSS: &measure.RSS{Entries: 128, Queues: 8}, RPS: &measure.Steering{Queues: 8, CPUs: "0-7"}, TxQueueLen: 1000,
		},
		TimeSync: &measure.TimeSync{Synchronized: true, MaximumErrorNs: 20e6},
		Limits:   &measure.Limits{CGroup: 2, CPUQuota: 8, MemoryBytes: 16 << 30, OpenFiles: 65536},
		Cloud:    &measure.Cloud{Provider: "azure", Accelerated: &yes},
	}
	s.Sample = &Sample{
		WallNs: 500e6, CPUs: 8, BusyNs: 100e6, StealKnown: true, Traffic: true, SentBytes: 10_000, RecvBytes: 10_000,
		Counters: map[string]int64{"pressure.cpu_ns": 1e6, "pressure.io_ns": 0, "pressure.memory_ns": 0, "driver.tx_timeouts": 0, "interface.sent_bytes": 10_000},
	}
	s.Extra = &Extra{
		Device: "eth0", Unit: "bench.service", Fixed: map[string]bool{}, Duplex: "full", EEE: &EEE{Enabled: true}, Queues: []string{"rx-0"},
		Interrupts: []Interrupt{{24, "0"}, {25, "1"}, {26, "2"}}, Conntrack: &Conntrack{100, 262144}, Firewall: &Firewall{Tables: 1},
		ClockSources: []string{"tsc", "hpet"}, Policies: []Policy{{"policy0", "performance", []string{"performance", "powersave"}}},
	}
	return s
}

func TestAHealthyHostHasNoFindingAndEveryCheckLooks(t *testing.T) {
	end := Examine(Checks, healthy())
	if len(end.Findings) > 0 || len(end.NotLooked) > 0 || len(end.Passed) != len(Checks) {
		t.Errorf("findings %+v, not looked at %v", end.Findings, end.NotLooked)
	}
}

// trouble is a host with something wrong, and what one check then says.
type trouble struct {
	code    string
	spoil   func(*Subject)
	want    Severity // empty: well
	not     Reason
	command string // one of the commands
	undo    string
}

func sysctl(name, value string) func(*Subject) {
	return func(s *Subject) { s.Facts.Sysctl[name] = value }
}

var troubles = []trouble{
	{code: "clock_source", spoil: func(s *Subject) { s.Facts.ClockSource = "hpet" }, want: Warning, command: "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource", undo: "echo hpet > /sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{code: "clock_source", spoil: func(s *Subject) { s.Facts.ClockSource = "kvm-clock" }},
	{code: "clock_source", spoil: func(s *Subject) { s.Facts.ClockSource = "" }, not: Unreadable},
	{code: "clock_sync", spoil: func(s *Subject) { s.Facts.TimeSync = &measure.TimeSync{} }, want: Warning, command: "timedatectl set-ntp true", undo: "timedatectl set-ntp false"},
	{code: "clock_sync", spoil: func(s *Subject) { s.Facts.TimeSync.MaximumErrorNs = 600e6 }, want: Note},
	{code: "clock_sync", spoil: func(s *Subject) { s.Facts.TimeSync = nil }, not: Unreadable},

	{code: "cpu_busy", spoil: func(s *Subject) {
		s.Sample.BusyNs, s.Sample.Processes = 3600e6, []Process{{7, "backup", 400e6}, {8, "sshd", 1e6}}
	}, want: Problem},
	{code: "cpu_busy", spoil: func(s *Subject) { s.Sample.BusyNs = 1100e6 }, want: Warning},
	{code: "cpu_busy", spoil: func(s *Subject) { s.Sample = nil }, not: Unreadable},
	{code: "cpu_busy", spoil: func(s *Subject) { s.Sample, s.Facts.OS = nil, "windows" }, not: OtherSystem},
	{code: "cpu_busy", spoil: func(s *Subject) { s.Sample, s.Far = nil, true }, not: NotReported},
	{code: "steal", spoil: func(s *Subject) { s.Sample.StealNs = 120e6 }, want: Warning},
	{code: "steal", spoil: func(s *Subject) { s.Sample.StealNs = 500e6 }, want: Problem},
	{code: "steal", spoil: func(s *Subject) { s.Sample.StealKnown = false }, not: Unreadable},
	{code: "run_queue", spoil: func(s *Subject) { s.Facts.Load1 = 8.5 }, want: Warning},
	{code: "run_queue", spoil: func(s *Subject) { s.Facts.OS = "windows" }, not: OtherSystem},
	{code: "pressure", spoil: func(s *Subject) { s.Sample.Counters["pressure.cpu_ns"] = 60e6 }, want: Warning},
	{code: "pressure", spoil: func(s *Subject) { s.Sample.Counters["pressure.memory_ns"] = 6e6 }, want: Warning},
	{code: "pressure", spoil: func(s *Subject) { s.Sample.Counters["pressure.io_ns"] = 60e6 }, want: Note},
	{code: "pressure", spoil: func(s *Subject) { s.Sample.Counters = nil }, not: Unreadable},
	{code: "other_traffic", spoil: func(s *Subject) { s.Sample.RecvBytes = 10e6 }, want: Warning}, // 160 Mbit/s
	{code: "other_traffic", spoil: func(s *Subject) { s.Sample.SentBytes = 80e6 }, want: Problem},
	{code: "other_traffic", spoil: func(s *Subject) { s.Sample.RecvBytes = 5e6 }}, // 80 Mbit/s are 0.8 %
	{code: "other_traffic", spoil: func(s *Subject) { s.RateBps, s.Sample.RecvBytes = 0, 1e6 }, want: Warning},
	{code: "other_traffic", spoil: func(s *Subject) { s.RateBps, s.Sample.RecvBytes = 0, 0.5e6 }},
	{code: "other_traffic", spoil: func(s *Subject) { s.Facts.Interface = "" }, not: NoInterface},
	{code: "other_traffic", spoil: func(s *Subject) { s.Sample.Traffic = false }, not: Unreadable},
	{code: "drops", spoil: func(s *Subject) { s.Sample.Counters["driver.bw_in_allowance_exceeded"] = 3 }, want: Warning},
	{code: "drops", spoil: func(s *Subject) { s.Sample.Counters["softnet.dropped"] = 1 }, want: Warning},
	{code: "drops", spoil: func(s *Subject) { s.Sample.Counters["tcp.resent"] = 9 }},
	{code: "drops", spoil: func(s *Subject) { s.Sample.Counters = nil }, not: Unreadable},
	{code: "throttling", spoil: func(s *Subject) { s.Sample.Counters["cgroup.throttled_ns"] = 5e6 }, want: Problem},
	{code: "throttling", spoil: func(s *Subject) { s.Facts.Limits.CPUQuota = 0 }, not: NotApplicable},
	{code: "throttling", spoil: func(s *Subject) { s.Facts.Limits = nil }, not: Unreadable},

	{code: "cpu_quota", spoil: func(s *Subject) { s.Facts.Limits.CPUQuota = 0.5 }, want: Problem, command: "systemctl set-property --runtime bench.service CPUQuota="},
	{code: "cpu_quota", spoil: func(s *Subject) { s.Facts.Limits.CPUQuota = 1.5 }, want: Warning},
	{code: "cpu_quota", spoil: func(s *Subject) { s.Facts.Limits.CPUQuota = 0 }},
	{code: "cpu_quota", spoil: func(s *Subject) { s.Facts.Limits = nil }, not: Unreadable},
	{code: "memory_limit", spoil: func(s *Subject) { s.Facts.Limits.MemoryBytes = 128 << 20 }, want: Warning, command: "systemctl set-property --runtime bench.service MemoryMax=268435456"},
	{code: "memory_limit", spoil: func(s *Subject) { s.Facts.Limits.MemoryBytes, s.RateBps = 128<<20, 0 }},
	{code: "memory_limit", spoil: func(s *Subject) { s.Facts.Limits = nil }, not: Unreadable},
	{code: "open_files", spoil: func(s *Subject) { s.Facts.Limits.OpenFiles, s.Streams = 1024, 1024 }, want: Problem, command: "ulimit -n 2112", undo: "ulimit -n 1024"},
	{code: "open_files", spoil: func(s *Subject) { s.Facts.Limits.OpenFiles = 0 }, not: Unreadable},
	// 10 Gbit/s in 20 ms are 25 MB, 6.25 MB in each of 4 streams.
	{code: "receive_buffer", spoil: sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456"), want: Warning, command: `sysctl -w net.ipv4.tcp_rmem="4096 131072 16777216"`, undo: `sysctl -w net.ipv4.tcp_rmem="4096 131072 6291456"`},
	{code: "receive_buffer", spoil: sysctl("net.ipv4.tcp_rmem", "4096 131072 6000000"), want: Problem},
	{code: "receive_buffer", spoil: sysctl("net.ipv4.tcp_rmem", "4096 131072 12500000")},
	{code: "receive_buffer", spoil: sysctl("net.ipv4.tcp_rmem", "4096 lots"), not: Unreadable},
	{code: "receive_buffer", spoil: func(s *Subject) { s.RateBps = 0 }, not: NoRate},
	{code: "receive_buffer", spoil: func(s *Subject) { s.RTTNs = 0 }, not: NoRoundTrip},
	{code: "send_buffer", spoil: sysctl("net.ipv4.tcp_wmem", "4096 16384 4194304"), want: Problem, command: `sysctl -w net.ipv4.tcp_wmem="4096 16384 16777216"`},
	{code: "send_buffer", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},
	{code: "udp_receive_buffer", spoil: sysctl("net.core.rmem_max", "212992"), want: Warning, command: `sysctl -w net.core.rmem_max="16777216"`},
	{code: "udp_receive_buffer", spoil: func(s *Subject) { s.RateBps = 0 }, not: NoRate},
	{code: "udp_send_buffer", spoil: sysctl("net.core.wmem_max", "212992"), want: Note},
	{code: "udp_send_buffer", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},
	{code: "backlog", spoil: sysctl("net.core.netdev_max_backlog", "300"), want: Warning, command: `sysctl -w net.core.netdev_max_backlog="1024"`},
	{code: "backlog", spoil: func(s *Subject) { s.Facts.NIC.RPS = nil }, not: NotApplicable},
	{code: "backlog", spoil: func(s *Subject) { s.Facts.Interface = "" }, not: NoInterface},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack.Count = 183_000 }},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack.Count = 184_000 }, want: Warning},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack.Count = 235_000 }, want: Warning},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack.Count = 236_000 }, want: Problem, command: "sysctl -w net.netfilter.nf_conntrack_max=524288", undo: "sysctl -w net.netfilter.nf_conntrack_max=262144"},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack = nil }, not: NotApplicable},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra.Conntrack.Most = 0 }, not: Unreadable},
	{code: "conntrack", spoil: func(s *Subject) { s.Extra, s.Far = nil, true }, not: NotReported},
	{code: "ports", spoil: sysctl("net.ipv4.ip_local_port_range", "60000 60999"), want: Warning, command: `sysctl -w net.ipv4.ip_local_port_range="32768 60999"`},
	{code: "ports", spoil: sysctl("net.ipv4.ip_local_port_range", "60000 60003"), want: Problem},
	{code: "ports", spoil: sysctl("net.ipv4.ip_local_port_range", "x y"), not: Unreadable},
	{code: "accept_queue", spoil: sysctl("net.core.somaxconn", "128"), want: Warning, command: `sysctl -w net.core.somaxconn="1024"`},
	{code: "accept_queue", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},

	{code: "offloads", spoil: func(s *Subject) { s.Facts.Offloads["tso"] = false }, want: Warning, command: "ethtool -K eth0 tso on", undo: "ethtool -K eth0 tso off"},
	{code: "offloads", spoil: func(s *Subject) { s.Facts.Offloads["tso"], s.Extra.Fixed["tso"] = false, true }, want: Note},
	{code: "offloads", spoil: func(s *Subject) { s.Facts.Offloads = nil }, not: Unreadable},
	{code: "offloads", spoil: func(s *Subject) { s.Facts.Interface = "lo" }, not: NotApplicable},
	{code: "offloads", spoil: func(s *Subject) { s.Facts.Interface = "" }, not: NoInterface},
	{code: "offloads", spoil: func(s *Subject) { s.Facts.Interface, s.Far = "", true }, not: NotReported},
	{code: "duplex", spoil: func(s *Subject) { s.Extra.Duplex = "half" }, want: Problem, command: "ethtool -s eth0 autoneg on"},
	{code: "duplex", spoil: func(s *Subject) { s.Extra.Duplex = "unknown" }, not: NotApplicable},
	{code: "link_speed", spoil: func(s *Subject) { s.Facts.LinkSpeedMbps = 1000 }, want: Problem, command: "ethtool eth0"},
	{code: "link_speed", spoil: func(s *Subject) { s.Facts.LinkSpeedMbps = 0 }, not: Unreadable},
	{code: "link_speed", spoil: func(s *Subject) { s.RateBps = 0 }, not: NoRate},
	{code: "link_speed", spoil: func(s *Subject) { s.Facts.LinkSpeedMbps, s.Facts.NIC = 0, nil }, not: NotApplicable},
	{code: "queues", spoil: func(s *Subject) { s.Facts.NIC.Queues.Combined, s.Facts.NIC.RPS = 1, nil }, want: Warning, command: "ethtool -L eth0 combined 8", undo: "ethtool -L eth0 combined 1"},
	{code: "queues", spoil: func(s *Subject) { *s.Facts.NIC.Queues, s.Facts.NIC.RPS = measure.Queues{Rx: 1, Tx: 1}, nil }, want: Warning, command: "echo ff > /sys/class/net/eth0/queues/rx-0/rps_cpus", undo: "echo 0 > /sys/class/net/eth0/queues/rx-0/rps_cpus"},
	{code: "queues", spoil: func(s *Subject) { s.Facts.NIC.Queues.Combined, s.Facts.NIC.RPS, s.RateBps = 1, nil, 1e9 }, want: Note},
	{code: "queues", spoil: func(s *Subject) { s.Facts.NIC.Queues.Combined, s.Facts.NIC.RPS, s.Facts.CPUs = 1, nil, 2 }},
	{code: "queues", spoil: func(s *Subject) { s.Facts.NIC = nil }, not: NotApplicable},
	{code: "queues", spoil: func(s *Subject) { s.Facts.NIC.Queues = nil }, not: Unreadable},
	{code: "rss", spoil: func(s *Subject) { s.Facts.NIC.RSS.Queues = 1 }, want: Warning, command: "ethtool -X eth0 equal 8"},
	{code: "rss", spoil: func(s *Subject) { s.Facts.NIC.RSS = nil }, not: NotApplicable},
	{code: "interrupts", spoil: func(s *Subject) { s.Extra.Interrupts = []Interrupt{{24, "0"}, {25, "0"}} }, want: Warning, command: "echo 1 > /proc/irq/25/smp_affinity_list", undo: "echo 0 > /proc/irq/25/smp_affinity_list"},
	{code: "interrupts", spoil: func(s *Subject) { s.Extra.Interrupts = []Interrupt{{24, "0-7"}, {25, "0-7"}} }},
	{code: "interrupts", spoil: func(s *Subject) { s.Extra.Interrupts = nil }, not: Unreadable},
	{code: "rings", spoil: func(s *Subject) { *s.Facts.NIC.Rings = measure.Rings{Rx: 32, Tx: 8192, MaxRx: 8192, MaxTx: 8192} }, want: Warning, command: "ethtool -G eth0 rx 64", undo: "ethtool -G eth0 rx 32"},
	{code: "rings", spoil: func(s *Subject) { *s.Facts.NIC.Rings = measure.Rings{Rx: 32, Tx: 32, MaxRx: 32, MaxTx: 32} }},
	{code: "rings", spoil: func(s *Subject) { s.Facts.NIC.Rings = nil }, not: Unreadable},
	{code: "rings", spoil: func(s *Subject) { s.RateBps = 0 }, not: NoRate},
	{code: "qdisc", spoil: func(s *Subject) { s.Facts.Qdisc = "tbf" }, want: Warning, command: "tc -s qdisc show dev eth0"},
	{code: "qdisc", spoil: func(s *Subject) { s.Facts.Qdisc, s.Facts.NIC.TxQueueLen = "pfifo_fast", 10 }, want: Warning, command: "ip link set dev eth0 txqueuelen 1000", undo: "ip link set dev eth0 txqueuelen 10"},
	{code: "qdisc", spoil: func(s *Subject) { s.Facts.Qdisc = "noqueue" }, want: Warning, command: "tc qdisc replace dev eth0 root fq_codel"},
	{code: "qdisc", spoil: func(s *Subject) { s.Facts.Qdisc, s.Facts.NIC.Bus = "noqueue", "" }},
	{code: "qdisc", spoil: func(s *Subject) { s.Facts.Qdisc = "" }, not: Unreadable},
	{code: "accelerated", spoil: func(s *Subject) {
		s.Facts.NIC.VirtualFunction = &measure.VirtualFunction{State: measure.VFDown, Interface: "eth1"}
	}, want: Problem, command: "ip link set dev eth1 up"},
	{code: "accelerated", spoil: func(s *Subject) {
		s.Facts.NIC.VirtualFunction = &measure.VirtualFunction{State: measure.VFUnbound, Bus: "1:0"}
	}, want: Problem},
	{code: "accelerated", spoil: func(s *Subject) {
		s.Facts.NIC.VirtualFunction = &measure.VirtualFunction{State: measure.VFAbsent}
	}, want: Warning},
	{code: "accelerated", spoil: func(s *Subject) { *s.Facts.Cloud.Accelerated = false }, want: Warning},
	{code: "accelerated", spoil: func(s *Subject) { s.Facts.NIC.VirtualFunction = &measure.VirtualFunction{State: measure.VFActive} }},
	{code: "accelerated", spoil: func(s *Subject) { s.Facts.Cloud = nil }, not: NotApplicable},
	{code: "eee", spoil: func(s *Subject) { s.Extra.EEE.Active = true }, want: Warning, command: "ethtool --set-eee eth0 eee off", undo: "ethtool --set-eee eth0 eee on"},
	{code: "eee", spoil: func(s *Subject) { s.Extra.EEE = nil }, not: NotApplicable},
	{code: "governor", spoil: func(s *Subject) {
		s.Facts.Governor, s.Extra.Policies[0].Governor = "powersave", "powersave"
	}, want: Warning, command: "echo performance > /sys/devices/system/cpu/cpufreq/policy0/scaling_governor", undo: "echo powersave > /sys/devices/system/cpu/cpufreq/policy0/scaling_governor"},
	{code: "governor", spoil: func(s *Subject) { s.Facts.Governor, s.Extra = "ondemand", nil }, want: Warning, command: "cpupower frequency-set -g performance"},
	{code: "governor", spoil: func(s *Subject) { s.Facts.Governor, s.Extra.Policies = "", nil }, not: NotApplicable},

	{code: "congestion", spoil: func(s *Subject) { s.Facts.Congestion = "reno" }, want: Warning, command: `sysctl -w net.ipv4.tcp_congestion_control="cubic"`, undo: `sysctl -w net.ipv4.tcp_congestion_control="reno"`},
	{code: "congestion", spoil: func(s *Subject) { s.Facts.Congestion = "" }, not: Unreadable},
	{code: "window_scaling", spoil: sysctl("net.ipv4.tcp_window_scaling", "0"), want: Problem, command: `sysctl -w net.ipv4.tcp_window_scaling="1"`},
	{code: "window_scaling", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},
	{code: "receive_autotuning", spoil: sysctl("net.ipv4.tcp_moderate_rcvbuf", "0"), want: Problem},
	{code: "receive_autotuning", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},
	{code: "sack", spoil: sysctl("net.ipv4.tcp_sack", "0"), want: Warning, undo: `sysctl -w net.ipv4.tcp_sack="0"`},
	{code: "sack", spoil: sysctl("net.ipv4.tcp_sack", ""), not: Unreadable},
	{code: "timestamps", spoil: sysctl("net.ipv4.tcp_timestamps", "0"), want: Warning},
	{code: "timestamps", spoil: sysctl("net.ipv4.tcp_timestamps", "2")},
	{code: "timestamps", spoil: func(s *Subject) { s.Facts.Sysctl = nil }, not: Unreadable},
	{code: "idle_restart", spoil: sysctl("net.ipv4.tcp_slow_start_after_idle", "1"), want: Note},
	{code: "idle_restart", spoil: func(s *Subject) { s.Facts.Sysctl["net.ipv4.tcp_slow_start_after_idle"], s.RTTNs = "1", 1e6 }},
	{code: "idle_restart", spoil: func(s *Subject) { s.Facts.Sysctl["net.ipv4.tcp_slow_start_after_idle"], s.RTTNs = "1", 0 }, not: NoRoundTrip},
	{code: "firewall", spoil: func(s *Subject) { *s.Extra.Firewall = Firewall{Tables: 2, Rules: 12, Port: 1} }, want: Note, command: "nft list ruleset"},
	{code: "firewall", spoil: func(s *Subject) { *s.Extra.Firewall = Firewall{Tables: 2, Rules: 900} }, want: Warning},
	{code: "firewall", spoil: func(s *Subject) { s.Extra.Firewall.Legacy = []string{"filter"} }, want: Note, command: "iptables-save"},
	{code: "firewall", spoil: func(s *Subject) { s.Extra.Firewall, s.Extra.FirewallNot = nil, NeedsRights }, not: NeedsRights},
}

func TestEachCheckFindsItsTroubleAndNothingElseDoes(t *testing.T) {
	for i, c := range troubles {
		s := healthy()
		c.spoil(s)
		check := Checks[slices.IndexFunc(Checks, func(k Check) bool { return k.Code == c.code })]
		end := Examine([]Check{check}, s)
		switch {
		case c.not != "":
			if len(end.NotLooked) != 1 || end.NotLooked[0] != (NotLooked{c.code, c.not}) {
				t.Errorf("%d %s: not looked at %v, want %s; %+v", i, c.code, end.NotLooked, c.not, end.Findings)
			}
			continue
		case c.want == "":
			if len(end.Passed) != 1 {
				t.Errorf("%d %s: %+v", i, c.code, end)
			}
			continue
		case len(end.Findings) != 1:
			t.Errorf("%d %s: %+v", i, c.code, end)
			continue
		}
		f := end.Findings[0]
		if f.Severity != c.want || f.Confidence == "" || f.Group != check.Group {
			t.Errorf("%d %s: severity %s, want %s: %+v", i, c.code, f.Severity, c.want, f)
		}
		if c.command != "" && !slices.Contains(f.Commands, c.command) || c.undo != "" && !slices.Contains(f.Undo, c.undo) {
			t.Errorf("%d %s: commands %q, undone by %q", i, c.code, f.Commands, f.Undo)
		}
		if said := sentence(f); strings.Contains(said, "doctor.finding") {
			t.Errorf("%d %s: no sentence: %s", i, c.code, said)
		}
	}
}

func sentence(f Finding) string {
	return text.English().Sentence("doctor.finding."+f.Code, text.Args(f.Figures))
}

func TestEveryCheckIsTriedFiringAndNotLooking(t *testing.T) {
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, c := range troubles {
		fires[c.code] = fires[c.code] || c.want != ""
		silent[c.code] = silent[c.code] || c.not != ""
	}
	for _, c := range Checks {
		if !fires[c.Code] || !silent[c.Code] {
			t.Errorf("no case in which %s fires, or in which it cannot look", c.Code)
		}
		for _, key := range []string{"doctor.check.", "doctor.finding."} {
			if !text.English().Has(key + c.Code) {
				t.Errorf("no message %s%s", key, c.Code)
			}
		}
	}
}

// Whatever a source that fails leaves out, no check may fail with it.
func TestChecksOfAHostOfWhichNothingIsKnown(t *testing.T) {
	for _, s := range []*Subject{{}, {Readings: Readings{Far: true}}, {Readings: Readings{Facts: measure.Facts{OS: "linux"}, Sample: &Sample{}, Extra: &Extra{}}}} {
		end := Examine(Checks, s)
		if len(end.Findings) > 0 || len(end.Passed)+len(end.NotLooked) != len(Checks) {
			t.Errorf("%+v", end)
		}
		for _, n := range end.NotLooked {
			if !text.English().Has("doctor.reason." + string(n.Reason)) {
				t.Errorf("%s: no message for %q", n.Code, n.Reason)
			}
		}
	}
}

func TestFindingsAreSortedBySeverity(t *testing.T) {
	s := healthy()
	s.Facts.Sysctl["net.core.wmem_max"] = "1"
	s.Facts.ClockSource = "hpet"
	s.Extra.Duplex = "half"
	end := Examine(Checks, s)
	if len(end.Findings) != 3 || end.Findings[0].Code != "duplex" || end.Findings[1].Code != "clock_source" || end.Findings[2].Severity != Note {
		t.Errorf("%+v", end.Findings)
	}
}

func TestAMaskIsAsTheKernelReadsIt(t *testing.T) {
	for cpus, want := range map[int]string{1: "1", 2: "3", 8: "ff", 32: "ffffffff", 33: "1,ffffffff", 40: "ff,ffffffff", 72: "ff,ffffffff,ffffffff"} {
		if got := maskOf(cpus); got != want {
			t.Errorf("%d processors: %q, want %q", cpus, got, want)
		}
	}
}

// The page has a row for each check, in a table of its group.
func TestThePageDescribesEveryCheck(t *testing.T) {
	b, err := os.ReadFile("../../docs/reference/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	_, tables, _ := strings.Cut(string(b), "\n## Checks\n")
	tables, _, _ = strings.Cut(tables, "\n## ")
	for line := range strings.Lines(tables) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			code, _, _ := strings.Cut(cell, "`")
			rows[code] = true
		}
	}
	for _, c := range slices.Concat(PathChecks, Checks) {
		if !rows[c.Code] {
			t.Errorf("docs/reference/doctor.md has no row for %s", c.Code)
		}
		delete(rows, c.Code)
	}
	if len(rows) > 0 {
		t.Errorf("docs/reference/doctor.md has rows for checks that do not exist: %v", slices.Sorted(maps.Keys(rows)))
	}
}

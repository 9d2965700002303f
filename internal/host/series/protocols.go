package series

var interfaceColumns = counters(
	"interface.sent_bytes", "interface.sent_packets", "interface.sent_dropped", "interface.sent_errors",
	"interface.received_bytes", "interface.received_packets", "interface.received_dropped", "interface.received_errors",
)

// Columns of protocols and the counters of the kernel that they are.
var (
	snmpColumns = counters("tcp.retransmits", "tcp.active_opens")
	snmpPairs   = []pair{{"Tcp:", "RetransSegs", 0}, {"Tcp:", "ActiveOpens", 1}} // IPv4 and IPv6 together

	netstatColumns = counters("tcp.syn_retransmits", "tcp.recoveries", "tcp.timeouts", "tcp.listen_drops", "tcp.listen_overflows", "tcp.request_queue_drops")
	netstatPairs   = []pair{
		{"TcpExt:", "TCPSynRetrans", 0}, {"TcpExt:", "TCPSackRecovery", 1}, {"TcpExt:", "TCPRenoRecovery", 1}, {"TcpExt:", "TCPTimeouts", 2},
		{"TcpExt:", "ListenDrops", 3}, {"TcpExt:", "ListenOverflows", 4}, {"TcpExt:", "TCPReqQFullDrop", 5},
	}

	udpPairs  = []pair{{"Udp:", "RcvbufErrors", 0}, {"Udp:", "SndbufErrors", 1}}
	udp6Pairs = []pair{{"", "Udp6RcvbufErrors", 0}, {"", "Udp6SndbufErrors", 1}}
)

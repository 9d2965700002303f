package sock

// NotKnown is a member of a [State] that the system does not report.
const NotKnown = -1

// State is what the kernel knows of a socket at one moment. Counts are since the connection
// began; what is not reported is [NotKnown], all TCP members for a socket of UDP.
type State struct {
	SentBytes, AckedBytes                  int64 // payload; retransmits are in SentBytes
	SegmentsOut, Retransmits               int64 // segments with payload; those sent again
	DSACKs, Timeouts, DeliveredCE          int64
	UnackedBytes, NotsentBytes             int64 // segments in flight times the MSS; in the queue and not sent
	CwndBytes, SndWndBytes                 int64 // congestion window times the MSS; window of the peer
	RTTNs, MinRTTNs                        int64
	MSSBytes, PMTUBytes                    int64
	BusyNs, RwndLimitedNs, SndbufLimitedNs int64
	AppLimited                             int64 // 0 or 1
	CongestionState                        int64 // 0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss

	// Memory of the queues and its limits, and datagrams dropped at the full receive buffer.
	ReceiveQueueBytes, ReceiveBufferBytes int64
	SendQueueBytes, SendBufferBytes       int64
	Drops                                 int64
}

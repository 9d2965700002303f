package finding

// Values of Info.Where.
const (
	anyFlow = "the direction of the flow"
	anyEnd  = "client or server"
)

// countCodes are about what the ends counted.
var countCodes = []Info{
	{ReceiverDisagrees, Warning, anyFlow, []Figure{
		{Key: "sent_bytes", Meaning: "counted by the sender"},
		{Key: "received_bytes", Meaning: "counted by the receiver"},
	}, "The byte counts of sender and receiver differ by more than 0.5 %. The receiver's count is used.",
		"Look for an interrupted trial or a middlebox that ends connections."},
	{ConnectionCountsDiffer, Warning, "", []Figure{
		{Key: "client_connections", Meaning: "set up by the client"},
		{Key: "server_connections", Meaning: "accepted by the server"},
	}, "Client and server count different numbers of connections. The server's count is used.",
		"Look for a middlebox that answers in the server's place."},
	{ReceivedNotReported, Warning, anyFlow, nil,
		"The server does not report what it received, so loss and goodput are unknown here.",
		"Read the figures where the server runs."},
	{ReceivedIsAcknowledged, Warning, anyFlow, nil,
		"The server does not report what it received. Received bytes are inferred from TCP acknowledgements.", ""},
	{ReceivedExceedsSent, Warning, anyFlow, []Figure{
		{Key: "sent_bytes", Meaning: "by the sender's file"},
		{Key: "received_bytes", Meaning: "by the receiver's file"},
	}, "Two ingested files are joined as both ends of one run, and the receiver counted more than the sender sent.",
		"Check that both files come from the same run."},
	{ReceiverUnconfirmed, Warning, "", []Figure{
		{Key: "port", Meaning: "TCP port that did not answer"},
	}, "The server did not answer on TCP, so it is unknown whether anything receives the datagrams.",
		"Check that the server runs and that the path lets TCP through."},
	{ReceiverBeganLate, Warning, anyFlow, []Figure{
		{Key: "counted_ns", Meaning: "from the first to the last read of the receiver"},
		{Key: "duration_ns", Meaning: "of the flow, as asked"},
	}, "The receiver read everything, in less than half of the time for which the sender sent: its first read was late. Goodput, of low confidence, is over the duration that was asked for.",
		"Look for other work on the receiving host, or use a longer --duration."},
	{RowsCut, Note, "client", []Figure{
		{Key: "rows", Meaning: "rows that are kept"},
	}, "The table of round trips has more rows than are kept; the histogram has all round trips.", "Use a larger --row."},
	{StreamSamplesLeftOut, Note, "server", nil,
		"The server's report was too large for one message, so it left out the samples of single streams.",
		"Use fewer streams, a longer --interval or a shorter test."},
	{NoSokuServer, Note, "", []Figure{
		{Key: "address", Text: true, Meaning: "address and port that was connected to"},
		{Key: "connections_per_second", Meaning: "requested rate"},
	}, "No soku server answers at that port. Connections go to whatever listens there, and only the client counts them.", ""},
	{ForeignConnections, Warning, "server", []Figure{
		{Key: "connections", Meaning: "closed and not counted"},
	}, "Connections came from other addresses than the client's and were not counted.",
		"Check whether the path translates addresses (NAT)."},
	{FileDescriptorsRanOut, Warning, "server", nil,
		"The server had no file descriptor left at times, so it accepted connections late.",
		"Raise its limit (ulimit -n, or LimitNOFILE= of its unit)."},
	{SocketDrops, Warning, anyFlow, []Figure{
		{Key: "dropped_datagrams", Meaning: "dropped because the receiver's socket was full"},
		{Key: "lost_datagrams", Meaning: "all that were lost"},
	}, "Datagrams reached the receiving host and were dropped there, because its socket was full. The host was too slow, not the path.",
		"Use a larger --window or a lower --rate."},
	{SegmentsNotSplit, Warning, anyFlow, []Figure{
		{Key: "interface", Text: true, Meaning: "carries segments as they are"},
	}, "With --tx gso over this interface nothing splits segments, so no datagram was alone on a wire. Packets a second count what the programs handed over.",
		"Use --tx batch, or measure between hosts."},
	{SegmentsArrivedJoined, Warning, anyFlow, []Figure{
		{Key: "joined_ratio", Meaning: "share of the received datagrams"},
	}, "With --tx gso some datagrams arrived joined with others, so it is unknown whether each was alone on the wire.",
		"Use --tx batch."},
	{DatagramsJoined, Warning, anyFlow, []Figure{
		{Key: "joined_ratio", Meaning: "share of the received datagrams"},
	}, "The receiving host joined datagrams before it handed them over (GRO). The arrival time of a joined datagram, and so the jitter, is that of the first.",
		"Use --rx batch."},
	{MTUReportUnconfirmed, Warning, "", []Figure{
		{Key: "address", Text: true, Meaning: "router that reported"},
		{Key: "reported_bytes", Meaning: "largest packet by its report"},
		{Key: "path_mtu_bytes", Meaning: "largest packet by probes"},
	}, "A router reported another MTU than the probes found. The probes count.", ""},
	{MTUFlowsDiffer, Warning, "", []Figure{
		{Key: "path_mtu_bytes", Meaning: "smallest path MTU of a flow"},
		{Key: "most_bytes", Meaning: "largest one"},
		{Key: "flows", Meaning: "flows that answered"},
	}, "Paths of equal cost carry packets of different sizes. Routers choose the path of a flow by its ports, so some connections stall or fragment and others do not.",
		"Give all branches the same MTU, or lower that of the hosts to the smallest."},
	{MTURouteLocked, Warning, "client", []Figure{
		{Key: "route_bytes", Meaning: "locked MTU of the client's route"},
		{Key: "path_mtu_bytes", Meaning: "largest packet by probes"},
	}, "The MTU of the client's route is locked (mtu lock) and larger than what the path carries. The client does not learn the smaller size, so packets without Don't Fragment are fragmented and others are lost.",
		"Set the route's MTU to the path MTU."},
	{CopyCached, Warning, "", []Figure{
		{Key: "ratio", Meaning: "share of the files in the page cache, 0 to 1"},
		{Key: "file_system", Text: true, Optional: true, Meaning: "type of the file system"},
	}, "The files of a copy were to be read from the disk, and some were in the page cache right before they were read: file systems in memory cannot drop them, and another program may use them. The rate of reading is that of memory, in part.",
		"Use --direct, a set larger than the memory, or a folder that is on a disk."},
	{CopySkipped, Note, "", []Figure{
		{Key: "files", Meaning: "entries of the folder that were left out"},
	}, "The copied folder has links, devices or others that are no regular files. They were not copied.", ""},
	{CopyCut, Warning, "", []Figure{
		{Key: "cuts", Meaning: "cuts of a connection"},
		{Key: "cut_ns", Meaning: "time in which at least one connection was cut"},
		{Key: "longest_ns", Meaning: "longest cut"},
		{Key: "resent_bytes", Meaning: "sent twice"},
	}, "Connections of a copy were cut, by a reset or because the other end no longer answered, and opened again. The copy went on where it was. Its time and rate have the cuts in them.",
		"Look for a firewall, NAT or link between the hosts that drops connections."},
	{ControlCut, Note, "", []Figure{
		{Key: "cuts", Meaning: "cuts of the control connection"},
		{Key: "cut_ns", Meaning: "time from when the client noticed, of silence from the last line of the server, until it was open again"},
		{Key: "longest_ns", Meaning: "longest cut"},
	}, "The control connection was cut, by a reset or because the other end no longer answered, and opened again. The test went on meanwhile: the connections that carry the data have cuts of their own. Live intervals of that time are missing, and the series of the control connection ends with the first cut.", ""},
	{TraceAnswersLimited, Note, "", []Figure{
		{Key: "hops", Text: true, Meaning: "distances, as in 1-3,5"},
		{Key: "unanswered_probes", Meaning: "probes there without an answer that was due"},
		{Key: "probes", Meaning: "all probes there"},
	}, "Nodes of these hops limit how many ICMP errors they send. Probes were sent at the pace that they answer, and silence beyond it is not counted as loss: the loss of these hops rests on few probes.",
		"Use --probe icmp or tcp, to which the target answers without such a limit."},
	{TraceFlowsUnknown, Warning, "", []Figure{
		{Key: "unknown_flows", Meaning: "flows whose path is not wholly known"},
		{Key: "flows", Meaning: "all flows"},
		{Key: "hops", Text: true, Optional: true, Meaning: "distances at which some flows were answered and these were not; absent if they only did not reach the target"},
	}, "Some flows were not answered at hops where others were, although they were asked repeatedly. Which branch they take is unknown, and there may be more branches than are shown.",
		"Repeat the trace with more rounds (--count), or with fewer flows."},
	{TraceDistanceUnknown, Warning, "", []Figure{
		{Key: "hops", Meaning: "smallest distance at which the target answered"},
	}, "The target may be nearer than is shown: it was silent, or a hop before it was, and a target that limits its answers looks alike.",
		"Repeat the trace with more rounds (--count), or use --probe icmp or tcp."},
	{MultipathFellBack, Warning, "", []Figure{
		{Key: "fell_back", Meaning: "connections that are plain TCP"},
		{Key: "connections", Meaning: "all connections"},
	}, "Connections fell back from Multipath TCP to TCP over one path.",
		"Check that the server and its host (net.mptcp.enabled) speak Multipath TCP, and that no middlebox removes its options."},
	{MultipathNotRequested, Warning, "", []Figure{
		{Key: "multipath", Meaning: "connections that are Multipath TCP"},
		{Key: "connections", Meaning: "all connections"},
	}, "This system turns TCP connections into Multipath TCP although that was not requested.",
		"Turn it off on this system (mptcpize, or a BPF program)."},
	{RateLevels, Warning, anyFlow, []Figure{
		{Key: "levels", Meaning: "of the rate, each for two seconds or more"},
		{Key: "at_ns", Meaning: "of the largest change, from the start of the flow"},
		{Key: "from_bps", Meaning: "level before that change"},
		{Key: "to_bps", Meaning: "level after it"},
	}, "The rate had several levels in the trial, as where a burst allowance runs out, a limit begins or other traffic comes and goes. Goodput is a mean over them. A drop that one loss of a single TCP connection explains is not reported.",
		"Read the samples. Where an allowance ran out, use a longer trial, or begin it after the allowance (--omit)."},
	{OtherTraffic, Warning, anyEnd, []Figure{
		{Key: "interface", Text: true, Meaning: "its name"},
		{Key: "direction", Text: true, Meaning: "`sent` or `received`, as the host's interface counts"},
		{Key: "interface_bytes", Meaning: "counted by the interface during the trial"},
		{Key: "test_bytes", Meaning: "at most the test's own, headers and retransmits estimated"},
		{Key: "other_ratio", Meaning: "share of interface_bytes that is not the test's, at least"},
	}, "At least 15 % of what the interface of the path moved was not of the test. Loopback, and trials that start together with others, are not checked.",
		"Find what else uses the interface (`ss -tni`, `ip -s link`), or measure while it is quiet."},
	{SYNsResent, Warning, "client", []Figure{
		{Key: "syn_retransmits", Meaning: "SYNs that the kernel sent again, of all programs in the network namespace"},
		{Key: "opened", Meaning: "connections that the test opened"},
	}, "At least 2 % of the connections needed more than one SYN: the path, a firewall's table of connections or the listener dropped the first. Each waits a second or more.",
		"Use a lower --request-rate, and compare with the listener's drops at the server."},
	{ListenerDropped, Warning, "server", []Figure{
		{Key: "dropped", Meaning: "connections dropped by listeners or at a full request queue, of all programs in the network namespace"},
		{Key: "listen_overflows", Meaning: "those because the queue of a listener was full"},
		{Key: "opened", Meaning: "connections that the test opened"},
	}, "The server's kernel dropped at least 1 % of the connections because it could not take them as fast.",
		"Use a lower --request-rate, a faster server, or larger queues (net.core.somaxconn, net.ipv4.tcp_max_syn_backlog)."},
}

// offeredRate are the figures of a flow that did not reach its rate.
var offeredRate = []Figure{
	{Key: "offered_bps", Meaning: "requested rate of all streams together"},
	{Key: "sent_bps", Optional: true, Meaning: "by the sender, over the whole test; absent: the sender did not report it"},
	{Key: "received_bps", Optional: true, Meaning: "goodput; absent: the receiver did not report it"},
	{Key: "slow_streams", Optional: true, Meaning: "those that got less than their share of the rate; absent: one stream"},
}

// offeredRequests are the figures of a schedule of requests that was not kept.
var offeredRequests = []Figure{
	{Key: "offered_per_second", Meaning: "requested rate"},
	{Key: "sent_per_second", Meaning: "sent by the client"},
	{Key: "answered_per_second", Meaning: "replies that came back"},
}

// requestCodes are about what was requested and not done.
var requestCodes = []Info{
	{ServerLoweredRate, Warning, "server", []Figure{
		{Key: "rate_bps", Meaning: "allowed rate, which was used"},
		{Key: "requested_bps", Optional: true, Meaning: "absent: no limit was requested"},
	}, "The server limits the rate (--max-rate).", "Ask the server's owner for a higher limit."},
	{ServerLoweredConnections, Warning, "server", []Figure{
		{Key: "connections_per_second", Meaning: "allowed rate, which was used"},
		{Key: "requested_per_second", Optional: true, Meaning: "absent: no limit was requested"},
		{Key: "limit_bps", Meaning: "the server's --max-rate"},
	}, "The server limits the rate of connections because of its --max-rate.", "Ask the server's owner for a higher limit."},
	{ServerLoweredRequests, Warning, "server", []Figure{
		{Key: "requests_per_second", Meaning: "allowed rate, which was used"},
		{Key: "requested_per_second", Meaning: "requested rate"},
		{Key: "limit_bps", Meaning: "the server's --max-rate"},
	}, "The server limits the rate of requests because of its --max-rate.", "Ask the server's owner for a higher limit."},
	{ServerExceedsRate, Warning, "server", []Figure{
		{Key: "rate_bps", Meaning: "requested rate"},
	}, "The server sends faster than requested. Microsoft's Ethr holds no rate when it sends.", ""},
	{RateNotSent, Warning, anyFlow, offeredRate,
		"The sender sent less than the requested rate: its host, or the queue of its interface, is the limit. For TCP: the connection had nothing to send for a part of the time.",
		"Use a lower --rate, more streams or a faster host."},
	{RateNotCarried, Warning, anyFlow, offeredRate,
		"TCP carried less than the requested rate although the sender had bytes to send: congestion control, the path or the receiver is the limit.",
		"Use a lower --rate, or read the goodput as the most that TCP carries there."},
	{RateNotReceived, Warning, anyFlow, offeredRate,
		"The sender kept the requested rate and less arrived: the path or the receiver lost the rest.",
		"Use a lower --rate."},
	{RequestsNotSent, Warning, "client", offeredRequests[:2],
		"The client sent requests more slowly than requested. They count from when they were due, so the round trips contain that delay.",
		"Use a lower --request-rate (ping: a longer --spacing) or a faster host."},
	{RepliesFellBehind, Warning, "", offeredRequests,
		"Replies came back more slowly than requests were due, so the round trips grew as long as the test lasted and depend on its length.",
		"Use a lower --request-rate."},
	{ConnectionsNotOpened, Warning, "client", []Figure{
		{Key: "offered_per_second", Meaning: "requested rate"},
		{Key: "opened_per_second", Meaning: "set up by the client"},
		{Key: "accepted_per_second", Optional: true, Meaning: "accepted by the server"},
	}, "Connections were opened more slowly than requested. They count from when they were due, so the set-up times contain that delay.",
		"Use a lower --request-rate."},
	{NotPinned, Warning, anyEnd, nil,
		"Pinning was requested and nothing was pinned at this end: no loop there belongs to this test alone, or its soku is older.", ""},
	{NotSpinning, Warning, anyEnd, []Figure{
		{Key: "wait", Text: true, Meaning: "how the end waited instead: blocking or poller"},
	}, "Spinning was requested and this end could not spin.", "Free a processor for each loop at that end."},
	{SplitUnsupported, Warning, "client", nil, "The split of round trips is unknown: the kernel of this host does not stamp requests when they leave.", "Use Linux at the client."},
	{SplitStampsMissing, Warning, "", nil,
		"The split of round trips is unknown: kernel stamps did not arrive, or the server did not report how long it held a request.",
		"Use the same version of soku at both ends."},
	{SplitFarKernelUnstamped, Warning, "server", nil,
		"The far host's kernel stamped no request, so the part of the far host begins when its program got the request. Its wake-up time counts as path.",
		"Use Linux at the server."},
	{SplitIncomplete, Warning, "", []Figure{
		{Key: "unsplit", Meaning: "round trips that are in no part"},
		{Key: "round_trips", Meaning: "all round trips"},
	}, "Some round trips are in no part of the split, because not all their kernel stamps arrived.", ""},
}

// nearBaseline are the figures of a median round trip and its loopback baseline.
var nearBaseline = []Figure{
	{Key: "rtt_ns", Meaning: "median of the trial"},
	{Key: "baseline_ns", Meaning: "median on this host's loopback"},
	{Key: "baseline_age_ns", Optional: true, Meaning: "how long before the trial soku floor measured it; absent: measured together with the trial"},
}

// baselineCodes are about what this host and program add to a figure, or limit.
var baselineCodes = []Info{
	{GoodputNearBaseline, Warning, "", []Figure{
		{Key: "goodput_bps", Meaning: "of the trial"},
		{Key: "baseline_bps", Meaning: "one stream on this host's loopback"},
		{Key: "baseline_age_ns", Meaning: "how long before the trial soku floor measured it"},
	}, "The goodput is close to what this host reaches on its own loopback, so the host may be the limit and not the path.",
		"Use a faster host, or measure with several streams or hosts."},
	{PacketRateNearBaseline, Warning, "", []Figure{
		{Key: "packets_per_second", Meaning: "received in the trial"},
		{Key: "baseline_per_second", Meaning: "received on this host's loopback"},
		{Key: "baseline_age_ns", Meaning: "how long before the trial soku floor measured it"},
	}, "The packet rate is close to what this host reaches on its own loopback, so the host may be the limit and not the path.",
		"Use a faster host, or measure with several streams or hosts."},
	{RTTNearBaseline, Warning, "", nearBaseline, "A large part of the median round trip is what host and program add by themselves.",
		"Use --spin on, or compare differences instead of the figure."},
	{TooFastToMeasure, Warning, "", nearBaseline, "The median round trip is no longer than what host and program need by themselves, so it says nothing about the path. A baseline that is above the median is measured again before this is reported.",
		"Use --spin on, or a host that is less busy."},
	{BaselineFailed, Warning, "client", []Figure{
		{Key: "error", Text: true, Meaning: "why"},
	}, "The loopback baseline of this trial could not be measured.", ""},
	{BaselineModeFailed, Warning, "", []Figure{
		{Key: "test", Text: true, Meaning: "which test"},
		{Key: "mode", Text: true, Meaning: "which mode of it"},
		{Key: "error", Text: true, Meaning: "why"},
	}, "soku floor could not measure one of its modes.", ""},
	{HostLoaded, Warning, "", []Figure{
		{Key: "load_1m", Meaning: "load average over one minute"},
		{Key: "cpus", Meaning: "logical processors"},
	}, "Other work may have shared the host while soku floor measured it, so the host may reach more.",
		"Run soku floor again while the host is idle."},
	{HostBusy, Warning, anyEnd, []Figure{
		{Key: "run_delay_ratio", Optional: true, Meaning: "time that threads of the program waited for a processor, divided by the length of the trial, several threads together; absent for round trips"},
		{Key: "wake_up_ns", Instead: "run_delay_ratio", Meaning: "median from the arrival of a reply in the kernel to the program"},
	}, "Other work on the host kept the program from its processors, so the figures are in part those of the host. It lowers a high confidence to medium, also as the reason in `summary.confidence_finding`.",
		"Stop the other work, or use a host with more processors."},
	{ProbesLate, Warning, "client", []Figure{
		{Key: "late_ratio", Meaning: "share of the messages"},
	}, "Latency messages under load left late, because this host was too busy. The delay is in their latency.",
		"Use a host with more processors."},
	{AcceleratedBypassed, Warning, anyEnd, []Figure{
		{Key: "interface", Text: true, Meaning: "synthetic interface of the path"},
		{Key: "virtual_function", Text: true, Meaning: "interface of its virtual function"},
		{Key: "interface_bytes", Meaning: "moved by the interface during the trial, both directions, all its traffic"},
		{Key: "virtual_function_bytes", Meaning: "of those, moved by the virtual function"},
	}, "Accelerated networking is enabled, but more than a tenth of the bytes ran over the synthetic path, through the hypervisor's switch: the rate is lower and the round trips longer than the machine is sold for.",
		"Look whether the host is being serviced (the virtual function is then taken away for a while), and whether a filter or a bridge on the interface keeps the function from being used."},
	{VirtualFunctionUnused, Warning, anyEnd, []Figure{
		{Key: "interface", Text: true, Meaning: "synthetic interface of the path"},
		{Key: "virtual_function", Text: true, Meaning: "interface, or address on the bus, of the virtual function"},
		{Key: "state", Text: true, Meaning: "`unbound`: without a driver; `apart`: the synthetic interface does not use it; `down`: without a link"},
	}, "Accelerated networking is enabled, but the system does not use the virtual function, so that all traffic ran over the synthetic path.",
		"unbound: load the driver (mlx5_core, mlx4_en, mana). apart: load hv_netvsc before the driver of the function, or reboot. down: ip link set dev INTERFACE up."},
}

// otherCodes are about campaigns, and about sentences.
var otherCodes = []Info{
	{ServerAwaited, Note, "", []Figure{
		{Key: "attempts", Meaning: "to reach the server, the last one among them"},
		{Key: "waited_ns", Meaning: "from the first attempt to the end of the trial"},
		{Key: "cause", Text: true, Meaning: "why the first attempt failed"},
	}, "The server could not be reached at first, as during a restart, and the campaign tried again.", ""},
	{ReplacesResult, Note, "", []Figure{
		{Key: "result", Text: true, Meaning: "identity of the earlier result"},
	}, "The same trial failed earlier, and this result replaces that one.", ""},

	{ReplacesGroup, Note, "", []Figure{
		{Key: "result", Text: true, Meaning: "identity of the earlier result"},
	}, "Another trial of the group failed earlier, so all of them ran again, and this result replaces that one.", ""},
	{RepeatsLost, Note, "", []Figure{
		{Key: "result", Text: true, Meaning: "identity that the lost result was to have"},
	}, "The same trial was lost before, because its process was killed or the connection to its host ended, and ran again.", ""},
	{StartsApart, Warning, "", []Figure{
		{Key: "skew_ns", Meaning: "from the first start of the group to the last"},
		{Key: "error_ns", Meaning: "`skew_ns` is known within ± this; absent if it is exact"},
		{Key: "duration_ns", Meaning: "of the trial, as planned"},
	}, "The trials of a group did not start together: the time from the first start to the last, or its uncertainty, is more than 1 % of the trial. In that time fewer of them shared the network.", ""},
	{ArrivedLate, Note, "", nil,
		"The agent that ran the trial delivered this result when its campaign no longer waited for it. The campaign may have run the trial again.", ""},
	{ConnectionReversed, Note, "", []Figure{
		{Key: "client", Text: true, Meaning: "endpoint that the plan has as client"},
		{Key: "server", Text: true, Meaning: "endpoint that the plan has as server, which opened the connection"},
	}, "The client of the plan could not open a connection to the server, so the server opened it: client, server and direction of this result are exchanged, and the measured bytes went the way of the plan.", ""},
	{OtherAddress, Note, "", []Figure{
		{Key: "server", Text: true, Meaning: "endpoint to which the connection was opened"},
		{Key: "address", Text: true, Meaning: "by which it was reached"},
		{Key: "first", Text: true, Meaning: "its address that was tried first, and did not answer"},
	}, "The agent of a hub has several addresses and the plan names none of them: the first one did not answer in the check before the trial, so another one was used. It may be on another network.", ""},
	{Text, Warning, "", []Figure{
		{Key: "text", Text: true, Meaning: "the sentence"},
	}, "A sentence of an earlier version of soku, which kept findings as text, or of another program.", ""},
}

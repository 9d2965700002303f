package measure

// Latency is what a request/response or ping trial left.
type Latency struct {
	Timing       *Timing        `json:"timing,omitempty" jsonschema:"description=How the client waited and what took the time stamps"`
	ServerTiming *Timing        `json:"server_timing,omitempty" jsonschema:"description=How the server waited for messages"`
	Method       string         `json:"method,omitempty" jsonschema:"description=The timing in words; only in documents of earlier versions"`
	ServerMethod string         `json:"server_method,omitempty" jsonschema:"description=The server's timing in words; only in documents of earlier versions"`
	Histogram    *Histogram     `json:"histogram,omitempty" jsonschema:"description=Every round trip in ns; absent only in ingested results whose source has none"`
	Application  *Histogram     `json:"application,omitempty" jsonschema:"description=The same from program to program on the user clock; equal to histogram if the kernel made no arrival time stamps"`
	RowsCut      bool           `json:"rows_cut,omitempty" jsonschema:"description=There were more rows than are stored"`
	Rows         []LatencyRow   `json:"rows,omitempty" jsonschema:"description=One element for each N round trips or ping reply interval"`
	Sent         int64          `json:"sent"`
	Received     int64          `json:"received"`
	Lost         int64          `json:"lost"`
	Duplicated   int64          `json:"duplicated,omitempty"`
	LateSends    int64          `json:"late_sends,omitempty"`
	LastDueNs    int64          `json:"last_due_ns,omitempty" jsonschema:"description=With a schedule: when the last request that was sent was due"`
	LastSentNs   int64          `json:"last_sent_ns,omitempty" jsonschema:"description=With a schedule: when it was sent"`
	DeviationNs  float64        `json:"deviation_ns,omitempty" jsonschema:"description=Test ping: standard deviation of all round trips (the mdev of ping)"`
	SpanNs       int64          `json:"span_ns,omitempty" jsonschema:"description=Test ping: from the first request to the last reply or request"`
	Flows        []LatencyFlow  `json:"flows,omitempty" jsonschema:"description=One element per flow if there are several"`
	Arrivals     *Arrivals      `json:"arrivals,omitempty" jsonschema:"description=Open loop only"`
	OneWay       *OneWay        `json:"one_way,omitempty"`
	Split        *Split         `json:"split,omitempty"`
	Floor        *FloorReading  `json:"floor,omitempty"`
	Series       []LatencyPoint `json:"series,omitempty" jsonschema:"description=At most 1000 points over the trial"`
}

// ClientTiming is how the client timed round trips.
func (l *Latency) ClientTiming() Timing { return timingOf(l.Timing, l.Method) }

// EchoTiming is how the server waited for messages, and false if that is not known.
func (l *Latency) EchoTiming() (t Timing, known bool) {
	return timingOf(l.ServerTiming, l.ServerMethod), l.ServerTiming != nil || l.ServerMethod != ""
}

// LatencyFlow is one of several flows that took turns.
type LatencyFlow struct {
	Index  int         `json:"index"`
	Local  string      `json:"local" jsonschema:"description=Address and port at the client"`
	Remote string      `json:"remote" jsonschema:"description=Address and port at the server"`
	RTT    Percentiles `json:"rtt_ns"`
}

// Arrivals is the schedule of an open loop and how well it was kept.
type Arrivals struct {
	Process     string      `json:"process" jsonschema:"enum=fixed,enum=poisson"`
	Seed        int64       `json:"seed,omitempty" jsonschema:"description=Of random arrivals"`
	SendErrorNs Percentiles `json:"send_error_ns" jsonschema:"description=Actual minus scheduled time at which a request was passed to the kernel"`
	SendError   *Histogram  `json:"send_error,omitempty"`
}

// OneWay is what a round trip was made of. Two clocks cannot be compared better
// than the path allows: every delay is known within plus or minus ClockErrorNs, by
// which what is taken off one way is added to the other.
type OneWay struct {
	UpNs          Percentiles `json:"up_ns" jsonschema:"description=Client to server"`
	DownNs        Percentiles `json:"down_ns" jsonschema:"description=Server to client"`
	Up            *Histogram  `json:"up"`
	Down          *Histogram  `json:"down"`
	ClockOffsetNs int64       `json:"clock_offset_ns" jsonschema:"description=Server's monotonic clock minus the client's time since the start"`
	ClockErrorNs  int64       `json:"clock_error_ns" jsonschema:"description=Half of the fastest round trip without the time at the server: the error bound of the offset and of every delay"`
	ClockDriftPPM float64     `json:"clock_drift_ppm" jsonschema:"description=How much faster the server's clock runs; 0 if the trial was too short to measure it"`
	Exchanges     int64       `json:"exchanges" jsonschema:"description=Sampled evenly over the trial"`
}

// Split is where the round trips of the program went, by the kernel's stamps of what
// left and came. Of each round trip the parts add up to the whole, so the means do,
// too; percentiles do not. No clock is compared with another: the time at the far host
// is a difference on its own clock.
type Split struct {
	Stamps        string       `json:"stamps" jsonschema:"description=What made the time stamps of requests and replies at the client: software\\, or also hardware; a phrase in documents of earlier versions"`
	StampedBy     string       `json:"stamped_by,omitempty" jsonschema:"description=Interface whose hardware made the time stamps"`
	WholeNs       Percentiles  `json:"whole_ns" jsonschema:"description=From program to program; only of the round trips that could be split"`
	HostSendNs    Percentiles  `json:"host_send_ns" jsonschema:"description=From the program's call to the moment when the kernel passes the request to the interface\\, including the queue"`
	InterfaceNs   *Percentiles `json:"interface_ns,omitempty" jsonschema:"description=Driver and interface of the client\\, both directions together; present if the interface makes time stamps"`
	PathNs        Percentiles  `json:"path_ns" jsonschema:"description=Both directions together; including the far kernel from the call that sends the reply"`
	FarHostNs     Percentiles  `json:"far_host_ns" jsonschema:"description=From the arrival of the request in the far kernel to the far program's call that sends the reply"`
	HostReceiveNs Percentiles  `json:"host_receive_ns" jsonschema:"description=From the arrival of the reply in the kernel to its delivery to the program"`
	HostSend      *Histogram   `json:"host_send"`
	Interface     *Histogram   `json:"interface,omitempty"`
	Path          *Histogram   `json:"path"`
	FarHost       *Histogram   `json:"far_host"`
	HostReceive   *Histogram   `json:"host_receive"`
	Unsplit       int64        `json:"unsplit" jsonschema:"description=Round trips without one of their time stamps; in no part"`
}

// LatencyRow is the distribution of one block of round trips.
type LatencyRow struct {
	StartNs int64       `json:"start_ns"`
	EndNs   int64       `json:"end_ns"`
	RTT     Percentiles `json:"rtt_ns"`
}

// LatencyPoint is the median and the maximum of a slice of the trial.
type LatencyPoint struct {
	AtNs  int64 `json:"at_ns"`
	P50Ns int64 `json:"p50_ns"`
	MaxNs int64 `json:"max_ns"`
}

// FloorReading is the same measurement on this host's loopback, taken just before or after, or
// with an earlier trial of the same client in the same round of a campaign.
type FloorReading struct {
	RTT    Percentiles `json:"rtt_ns"`
	Clock  string      `json:"clock" jsonschema:"description=Name of the clock; in documents of earlier versions also the timing in words"`
	Timing *Timing     `json:"timing,omitempty" jsonschema:"description=How both ends waited and what took the time stamps"`
	// Conditions are what the reading depends on. It is reused for trials with equal ones.
	Conditions   string `json:"conditions,omitempty" jsonschema:"description=What the reading depends on: the test and some of its options\\, and for how long each end sleeps"`
	MeasuredWith string `json:"measured_with,omitempty" jsonschema:"description=Identity of the result that it was measured with: another trial of the same client in the same round; absent: this trial"`
	// AgeNs is how long before the end of a long test it was measured; 0: it is not known, or short.
	AgeNs int64 `json:"age_ns,omitempty" jsonschema:"description=How long before the end of the test it was measured\\, ns; absent: less than a minute\\, or not known"`
}

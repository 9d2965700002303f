package verdict

import (
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Step is one trial of a probe: a further measurement that helps to find what limited a trial.
type Step struct {
	Name    string // how it differs from the trial
	Test    measure.Test
	Options measure.Options
	Wait    time.Duration // before it starts
}

// Names of steps.
const (
	stepOne     = "one_stream"
	stepSeveral = "several_streams"
	stepLarge   = "large_datagrams"
	stepSmall   = "small_datagrams"
	stepHalf    = "half_rate"
	stepTCP     = "tcp_stream"
	stepAgain   = "again"
	stepLonger  = "longer"
)

const (
	// A step of a probe lasts that long after its start, which is left out.
	stepOmit = measure.Duration(time.Second)
	stepTime = measure.Duration(3 * time.Second)
	// At half the rate losses are to be seen that are rare.
	halfTime = measure.Duration(6 * time.Second)
	// Of the same again.
	stepPause = 5 * time.Second
	// The probe "longer": three times as long, at least and at most.
	longerLeast = measure.Duration(30 * time.Second)
	longerMost  = measure.Duration(2 * time.Minute)
	someStreams = 4
	// Datagrams that compare packets with bytes are sent at above times the rate that arrived,
	// so that the limit is reached.
	above     = 2
	smallMost = 512 // bytes of a datagram that passes wherever IP does (RFC 791: 576 with its headers)
)

// Takes is about how long steps take, with their set-up.
func Takes(steps []Step) (d time.Duration) {
	for _, s := range steps {
		d += s.Wait + s.Options.Omit.Std() + s.Options.Duration.Std() + 500*time.Millisecond
	}
	return d
}

// Steps are the trials that would tell what limited a trial, in the order in which they run.
// There are none where its verdict needs none, where what is needed is not known, and for copies:
// their option stage is the probe.
func Steps(r *measure.Result) []Step {
	if r.Verdict == nil || r.Test == measure.TestCopy {
		return nil
	}
	steps, bps := steps{r}, goodputOf(r, r.Verdict.Direction)
	switch r.Verdict.NextMeasurement {
	case measure.ProbeSecondStream:
		return steps.streams()
	case measure.ProbePacketSizes:
		return steps.sizes(bps)
	case measure.ProbeHalfRate:
		if bps > 0 {
			half := steps.datagrams(stepHalf, bps/2, option.Defaults(measure.TestUDP).Size)
			half.Options.Duration = halfTime
			return []Step{half}
		}
	case measure.ProbeTCPStream:
		return steps.tcp()
	case measure.ProbeAnotherTime:
		again := steps.same(stepAgain)
		again.Wait = stepPause
		return []Step{again, again, again}
	case measure.ProbeLonger:
		longer := steps.same(stepLonger)
		longer.Options.Omit, longer.Options.Duration = r.Options.Omit, min(max(3*r.Options.Duration, longerLeast), longerMost)
		return []Step{longer}
	}
	return nil
}

// steps makes the probe steps of a trial.
type steps struct{ r *measure.Result }

// same is the trial again, for a time.
func (s steps) same(name string) Step {
	o := s.r.Options
	o.Bytes, o.Omit, o.Duration = 0, stepOmit, stepTime
	return Step{Name: name, Test: s.r.Test, Options: o}
}

// streams are one stream and several by turns, so that what changes meanwhile changes both.
func (s steps) streams() []Step {
	one, more := s.same(stepOne), s.same(stepSeveral)
	one.Options.Streams, more.Options.Streams = 1, max(someStreams, s.r.Options.Streams)
	return []Step{one, more, more, one}
}

// tcp is one stream of TCP on the path of the trial.
func (s steps) tcp() []Step {
	return []Step{{Name: stepTCP, Test: measure.TestTCP, Options: s.along(measure.TestTCP)}}
}

// datagrams are those of a size in bytes at a rate in bit/s.
func (s steps) datagrams(name string, bps float64, size measure.Size) Step {
	o := s.along(measure.TestUDP)
	o.Rate, o.Size = measure.Rate(bps), size
	if s.r.Test == measure.TestUDP {
		o.Streams = s.r.Options.Streams
	}
	return Step{Name: name, Test: measure.TestUDP, Options: o}
}

// sizes are datagrams of two sizes at one rate of bytes; a limit of packets tells them apart.
func (s steps) sizes(bps float64) []Step {
	large := option.Defaults(measure.TestUDP).Size
	rate := above * bps
	if s.r.Test == measure.TestUDP {
		large, rate = s.r.Options.Size, float64(s.r.Options.Rate)
	}
	if rate <= 0 || large < 2 {
		return nil
	}
	small := large / 2
	if s.r.Verdict.LimitedBy == measure.BottleneckMTU {
		small = min(small, smallMost)
	}
	big, little := s.datagrams(stepLarge, rate, large), s.datagrams(stepSmall, rate, small)
	return []Step{big, little, little, big}
}

// along are the options of another test between the same hosts, on the same path, in the
// direction of the verdict.
func (s steps) along(test measure.Test) measure.Options {
	from, o := s.r.Options, option.Defaults(test)
	o.Omit, o.Duration = stepOmit, stepTime
	o.Direction = from.Direction
	if d := s.r.Verdict.Direction; d != "" {
		o.Direction = d
	}
	o.Port, o.Bind, o.Device, o.IPVersion = from.Port, from.Bind, from.Device, from.IPVersion
	o.DSCP, o.TOS, o.ConnectTimeout, o.Pin = from.DSCP, from.TOS, from.ConnectTimeout, from.Pin
	return o
}

// goodputOf returns the goodput of a direction in bit/s, or 0 if it is unknown.
func goodputOf(r *measure.Result, d measure.Direction) float64 {
	if d != "" {
		if f := flowOf(r, d); f != nil {
			return f.Summary.GoodputBps
		}
		return 0
	}
	return r.Summary.GoodputBps
}

// Conclude returns the verdict on a trial from the trials of its probe, each of which names its
// step in [measure.Explains]. It returns nil if the trials do not show what limited it.
func Conclude(first *measure.Result, trials []*measure.Result) *measure.Verdict {
	if first.Verdict == nil || len(trials) == 0 || slices.ContainsFunc(trials, func(r *measure.Result) bool { return r.Error != nil || r.Explains == nil }) {
		return nil
	}
	if v := judgedAnew(first, trials[len(trials)-1]); v != nil {
		return v
	}
	f := probeFigures(first, trials)
	for _, rule := range ProbeRules {
		if !slices.Contains(rule.After, first.Verdict.Rule) {
			continue
		}
		if held, evidence := rule.When.holds(f); held == yes {
			return &measure.Verdict{LimitedBy: rule.LimitedBy, Confidence: rule.Confidence, Rule: rule.Name, Direction: first.Verdict.Direction, Evidence: distinct(evidence)}
		}
	}
	return nil
}

// judgedAnew is the verdict of a step that has the limit of the trial, and lets it be seen.
func judgedAnew(first, last *measure.Result) *measure.Verdict {
	v := last.Verdict
	again := first.Verdict.NextMeasurement == measure.ProbeAnotherTime && !slices.Contains(otherTimes, first.Verdict.Rule)
	if again && v != nil && v.Confidence == measure.High { // the host was busy before
		return v
	}
	switch first.Verdict.NextMeasurement {
	case measure.ProbeLonger:
		if v != nil && v.Confidence != measure.Low {
			return v
		}
	case measure.ProbeTCPStream:
		if v != nil && v.Confidence != measure.Low &&
			(v.LimitedBy == first.Verdict.LimitedBy || slices.Contains(first.Verdict.Alternatives, v.LimitedBy)) {
			return v
		}
	}
	return nil
}

// probeFigures are those of the trials of a probe.
func probeFigures(first *measure.Result, trials []*measure.Result) *Figures {
	f := &Figures{readings: map[Key]reading{}}
	byStep := map[string][]*measure.Result{}
	for _, r := range trials {
		byStep[r.Explains.Step] = append(byStep[r.Explains.Step], r)
	}
	d := first.Verdict.Direction
	mean := func(of func(*measure.Result) (float64, bool), step string) (float64, bool) {
		sum, all := 0.0, byStep[step]
		for _, r := range all {
			v, known := of(r)
			if !known {
				return 0, false
			}
			sum += v
		}
		return sum / float64(len(all)), len(all) > 0
	}
	goodput := func(r *measure.Result) (float64, bool) { v := goodputOf(r, d); return v, true }
	times := func(key Key, step, than string) {
		a, known := mean(goodput, step)
		b, other := mean(goodput, than)
		if known && other && b > 0 {
			f.set(key, a/b)
		}
	}
	times(SeveralTimes, stepSeveral, stepOne)
	times(SmallTimes, stepSmall, stepLarge)
	for step, key := range map[string]Key{stepLarge: LargeLoss, stepSmall: SmallLoss, stepHalf: HalfLoss} {
		if v, known := mean(lossOf, step); known {
			f.set(key, v)
		}
	}
	lost := slices.IndexFunc(first.Verdict.Evidence, func(e measure.Evidence) bool { return e.Figure == string(LossRatio) })
	if half := byStep[stepHalf]; lost >= 0 && len(half) > 0 {
		f.set(HalfExpected, first.Verdict.Evidence[lost].Value*float64(half[0].Summary.PacketsSent))
	}
	if v, known := mean(sentOf, stepSmall); known {
		f.set(SmallSent, v)
	}
	if all := byStep[stepAgain]; len(all) > 0 {
		values := []float64{goodputOf(first, d)}
		for _, r := range all {
			values = append(values, goodputOf(r, d))
		}
		if middle := median(values); middle > 0 {
			f.set(AgainSpread, (slices.Max(values)-slices.Min(values))/middle)
		}
	}
	return f
}

// lossOf is the share of datagrams that were lost.
func lossOf(r *measure.Result) (float64, bool) {
	if r.Summary.LossRatio == nil {
		return 0, false
	}
	return *r.Summary.LossRatio, true
}

// sentOf is the share of the rate asked for that was sent.
func sentOf(r *measure.Result) (float64, bool) {
	seconds := r.Summary.DurationNs.Std().Seconds()
	if seconds <= 0 || r.Options.Rate <= 0 {
		return 0, false
	}
	return float64(r.Summary.SentBytes) * 8 / seconds / float64(r.Options.Rate), true
}

package doctor

import (
	"slices"
	"time"

	"soku/internal/measure"
)

var clockChecks = []Check{
	{"clock_source", GroupClock, Warning, measure.High, clockSource},
	{"clock_sync", GroupClock, Warning, measure.High, clockSync},
}

// quickClocks are clock sources that a program reads without a system call (vDSO), in some tens
// of nanoseconds. Reading another one takes about a microsecond, in each time stamp.
var quickClocks = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "riscv_clocksource"}

func clockSource(s *Subject) Outcome {
	source := s.Facts.ClockSource
	switch {
	case source == "":
		return not(s.missing())
	case slices.Contains(quickClocks, source):
		return well
	}
	f := Finding{Figures: measure.Figures{"source": source}}
	if s.Extra != nil {
		for _, quick := range quickClocks {
			if slices.Contains(s.Extra.ClockSources, quick) {
				f.Commands = []string{"echo " + quick + " > /sys/devices/system/clocksource/clocksource0/current_clocksource"}
				f.Undo = []string{"echo " + source + " > /sys/devices/system/clocksource/clocksource0/current_clocksource"}
				break
			}
		}
	}
	return found(f)
}

// clockErrorMost is the largest error of a clock with which the records of two hosts can still
// be put in order: that of a campaign's steps. The kernel's bound grows by 500 ppm between
// corrections, 0.5 s in 17 minutes, which is the usual time between two of them.
const clockErrorMost = 500 * time.Millisecond

func clockSync(s *Subject) Outcome {
	t := s.Facts.TimeSync
	switch {
	case t == nil:
		return not(s.missing())
	case !t.Synchronized:
		return found(Finding{
			Figures:  measure.Figures{"synchronized": 0, "error_ns": 0},
			Commands: []string{"timedatectl set-ntp true"}, Undo: []string{"timedatectl set-ntp false"}, // whichever service is installed
		})
	case t.MaximumErrorNs > int64(clockErrorMost):
		return found(Finding{
			Severity: Note, Confidence: measure.Medium, Figures: measure.Figures{"synchronized": 1, "error_ns": t.MaximumErrorNs},
			Commands: []string{"timedatectl timesync-status"},
		})
	}
	return well
}

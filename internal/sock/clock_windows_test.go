package sock

import (
	"testing"
	"time"
)

func TestCountsBecomeTimeWithoutOverflow(t *testing.T) {
	const frequency = 3_579_545 // of an ACPI timer: no round number of ns
	year := 365 * 24 * time.Hour
	if got := counted(int64(year/time.Second)*frequency, frequency); got != year {
		t.Errorf("a year is %v", got)
	}
	if got := counted(frequency/5, frequency); got != 200*time.Millisecond {
		t.Errorf("a fifth of a second is %v", got)
	}
}

package sock

import "time"

// Late is how long before now, a reading of [time.Now], a stamp is: 0 where
// that is not known and where it cannot be, for the wall clock may be set at any moment.
func Late(stamp, now time.Time) time.Duration {
	const longest = time.Second
	if late := now.Round(0).Sub(stamp); late > 0 && late <= longest {
		return late
	}
	return 0
}

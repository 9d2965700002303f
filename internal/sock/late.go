package sock

import "time"

// Late returns how long before now, a reading of [time.Now], the stamp was taken. It is 0
// if the stamp is unknown or impossible, because the wall clock may be set at any time.
func Late(stamp, now time.Time) time.Duration {
	const longest = time.Second
	if late := now.Round(0).Sub(stamp); late > 0 && late <= longest {
		return late
	}
	return 0
}

package sock

// ClockSource names the clock behind [Now].
const ClockSource = "mach_absolute_time"

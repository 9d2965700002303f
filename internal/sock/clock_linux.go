package sock

// ClockSource names the clock behind [Now].
const ClockSource = "CLOCK_MONOTONIC"

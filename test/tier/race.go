//go:build race

package tier

const race = true // the race detector is on

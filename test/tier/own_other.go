//go:build !unix

package tier

func ownSeconds() float64 { return 0 }

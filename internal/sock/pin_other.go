//go:build !linux

package sock

func allowedCPUs() ([]int, error) { return nil, lacking("pin") }

func keepThread(int) (restore func() error, err error) { return nil, lacking("pin") }

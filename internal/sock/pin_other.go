//go:build !linux

package sock

func allowedCPUs() ([]int, error) { return nil, unsupported("pin") }

func keepThread(int) (restore func() error, err error) { return nil, unsupported("pin") }

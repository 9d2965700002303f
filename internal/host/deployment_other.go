//go:build !linux && !windows && !darwin

package host

func bootID() string { return "" }

func instanceID() string { return "" }

//go:build unix

package connect

import "syscall"

// outcomeOf classifies the error of connect, read or write.
func outcomeOf(e syscall.Errno) outcome {
	switch e {
	case 0:
		return opened
	case syscall.ECONNREFUSED:
		return refused
	case syscall.ETIMEDOUT:
		return timedOut
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return reset
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.ENOPROTOOPT:
		return unreachable
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return noPort
	case syscall.EMFILE, syscall.ENFILE:
		return noFile
	case syscall.ENOBUFS, syscall.ENOMEM:
		return noMemory
	case syscall.EACCES, syscall.EPERM:
		return forbidden
	case syscall.EINVAL, syscall.EAFNOSUPPORT:
		return badSource
	case syscall.ECANCELED:
		return stopped
	}
	return other
}

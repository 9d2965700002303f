package host

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of what ethtool(8) asks the kernel for (linux/ethtool.h), and a bound on
// the answer.
const (
	featureNames    = 4 // the set of strings
	featureNameSize = 32
	mostFeatures    = 4096
)

// ethtoolRequest is struct ifreq.
type ethtoolRequest struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// askCard makes a request of an interface; the answer comes in data.
func askCard(fd int, name string, data []byte) bool {
	r := &ethtoolRequest{data: unsafe.Pointer(&data[0])}
	copy(r.name[:len(r.name)-1], name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(r)))
	runtime.KeepAlive(r)
	return errno == 0
}

// features tells of every feature that an interface has by the kernel's name
// whether it is active, or nil. It asks for as many as there are: the library that
// asks for the rest takes a millisecond and megabytes for the most there could be.
func features(name string) map[string]bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	native := binary.NativeEndian

	count := make([]byte, 4+4+8+4) // command, reserved, sets asked for, how many of the first
	native.PutUint32(count, unix.ETHTOOL_GSSET_INFO)
	native.PutUint64(count[8:], 1<<featureNames)
	if !askCard(fd, name, count) || native.Uint64(count[8:]) == 0 {
		return nil
	}
	n := min(int(native.Uint32(count[16:])), mostFeatures)

	names := make([]byte, 4+4+4+n*featureNameSize) // command, set, how many
	native.PutUint32(names, unix.ETHTOOL_GSTRINGS)
	native.PutUint32(names[4:], featureNames)
	native.PutUint32(names[8:], uint32(n))
	words := (n + 31) / 32
	bits := make([]byte, 4+4+words*16) // command, words; a word each: available, requested, active, never changed
	native.PutUint32(bits, unix.ETHTOOL_GFEATURES)
	native.PutUint32(bits[4:], uint32(words))
	if !askCard(fd, name, names) || !askCard(fd, name, bits) {
		return nil
	}
	out := make(map[string]bool, n)
	for i := range min(n, int(native.Uint32(names[8:]))) {
		feature := unix.ByteSliceToString(names[12+i*featureNameSize:][:featureNameSize])
		if feature == "" {
			continue // a number that the kernel no longer uses
		}
		active := native.Uint32(bits[8+i/32*16+8:])
		out[feature] = active>>(i%32)&1 == 1
	}
	return out
}

package host

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Sets of names that a driver has (enum ethtool_stringset).
const (
	Statistics = 1 // ETH_SS_STATS
	featureSet = 4 // ETH_SS_FEATURES
)

const (
	// MostNames bounds the names of a set.
	MostNames  = 8192
	nameLength = 32 // ETH_GSTRING_LEN
)

// Names returns the names of a set in order, or nil if the driver has none or more than
// [MostNames].
func (e *Ethtool) Names(set uint32) []string {
	number := struct { // struct ethtool_sset_info
		command, _ uint32
		sets       uint64
		length     uint32
	}{command: unix.ETHTOOL_GSSET_INFO, sets: 1 << set}
	if e.Call(unsafe.Pointer(&number)) != nil || number.sets == 0 || number.length == 0 || number.length > MostNames {
		return nil
	}
	// struct ethtool_gstrings: command, set, length, names. There may be more by now.
	text := make([]byte, 12+nameLength*MostNames)
	binary.NativeEndian.PutUint32(text, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(text[4:], set)
	binary.NativeEndian.PutUint32(text[8:], number.length)
	if e.Call(unsafe.Pointer(&text[0])) != nil || binary.NativeEndian.Uint32(text[8:]) != number.length {
		return nil
	}
	names := make([]string, number.length)
	for i := range names {
		name, _, _ := bytes.Cut(text[12+i*nameLength:][:nameLength], []byte{0})
		names[i] = string(name)
	}
	return names
}

// Feature is an offload of a driver.
type Feature struct {
	On         bool
	Changeable bool // while the interface exists
}

// Features returns the offloads by the kernel's names, none where the driver does not say.
func (e *Ethtool) Features() (map[string]Feature, error) {
	names := e.Names(featureSet)
	words := featureWords(names)
	// struct ethtool_gfeatures: command, length, and for each word of bits what can be changed, is
	// wanted, is on and is never changed.
	answer := make([]uint32, 2+4*words)
	answer[0], answer[1] = unix.ETHTOOL_GFEATURES, uint32(words)
	if err := e.Call(unsafe.Pointer(&answer[0])); err != nil {
		return nil, err
	}
	found := make(map[string]Feature, len(names))
	for i, name := range names {
		if name == "" { // a bit without a meaning
			continue
		}
		word, bit := answer[2+4*(i/32):], uint32(1)<<(i%32)
		found[name] = Feature{On: word[2]&bit != 0, Changeable: word[0]&^word[3]&bit != 0}
	}
	return found, nil
}

// SetFeatures turns offloads on and off. The kernel leaves what it cannot change, without an error.
func (e *Ethtool) SetFeatures(want map[string]bool) error {
	names := e.Names(featureSet)
	words := featureWords(names)
	command := make([]uint32, 2+2*words) // struct ethtool_sfeatures: command, length, which and their values
	command[0], command[1] = unix.ETHTOOL_SFEATURES, uint32(words)
	for i, name := range names {
		if on, ok := want[name]; ok {
			word, bit := command[2+2*(i/32):], uint32(1)<<(i%32)
			if word[0] |= bit; on {
				word[1] |= bit
			}
		}
	}
	return e.Call(unsafe.Pointer(&command[0]))
}

func featureWords(names []string) int { return (len(names) + 31) / 32 }

// Rings are the lengths of the packet queues of a driver (struct ethtool_ringparam), packets.
type Rings struct {
	command                           uint32
	MaxRx, maxRxMini, maxRxBig, MaxTx uint32
	Rx, rxMini, rxBig, Tx             uint32
}

// Rings reads the lengths.
func (e *Ethtool) Rings() (Rings, error) {
	r := Rings{command: unix.ETHTOOL_GRINGPARAM}
	err := e.Call(unsafe.Pointer(&r))
	return r, err
}

// SetRings sets the lengths. r is of [Ethtool.Rings], with other values of Rx or Tx.
func (e *Ethtool) SetRings(r Rings) error {
	r.command = unix.ETHTOOL_SRINGPARAM
	return e.Call(unsafe.Pointer(&r))
}

// Channels are the numbers of queues of a driver (struct ethtool_channels).
type Channels struct {
	command                             uint32
	MaxRx, MaxTx, maxOther, MaxCombined uint32
	Rx, Tx, other, Combined             uint32
}

// Channels reads the numbers of queues.
func (e *Ethtool) Channels() (Channels, error) {
	c := Channels{command: unix.ETHTOOL_GCHANNELS}
	err := e.Call(unsafe.Pointer(&c))
	return c, err
}

// SetChannels sets the numbers of queues. c is of [Ethtool.Channels], with other numbers.
func (e *Ethtool) SetChannels(c Channels) error {
	c.command = unix.ETHTOOL_SCHANNELS
	return e.Call(unsafe.Pointer(&c))
}

// linkSpeed reads the speed of the link, Mbit/s, or returns 0 if it is unknown.
func (e *Ethtool) linkSpeed() int64 {
	answer := struct { // struct ethtool_cmd
		command, _, _ uint32
		low           uint16
		_             [14]byte
		high          uint16
		_             [14]byte
	}{command: unix.ETHTOOL_GSET}
	if e.Call(unsafe.Pointer(&answer)) != nil {
		return 0
	}
	const unknown = 1 << 31 // and above: SPEED_UNKNOWN is -1
	speed := int64(answer.high)<<16 | int64(answer.low)
	if speed == 1<<16-1 || speed >= unknown {
		return 0
	}
	return speed
}

// name reads the name of the driver, its version and that of the firmware, empty if they are
// unknown.
func (e *Ethtool) name() (driver, version, firmware string) {
	info := unix.EthtoolDrvinfo{Cmd: unix.ETHTOOL_GDRVINFO}
	if e.Call(unsafe.Pointer(&info)) != nil {
		return "", "", ""
	}
	return unix.ByteSliceToString(info.Driver[:]), known(info.Version[:]), known(info.Fw_version[:])
}

// known is empty for what drivers write instead of nothing.
func known(text []byte) string {
	s := strings.TrimSpace(unix.ByteSliceToString(text))
	if s == "N/A" || s == "n/a" {
		return ""
	}
	return s
}

// coalescing reads how long interrupts are held back, or returns nil if the driver does not say.
func (e *Ethtool) coalescing() *measure.Coalescing {
	answer := struct { // struct ethtool_coalesce
		command                         uint32
		rxUsecs, rxFrames, _, _         uint32
		txUsecs, txFrames, _, _         uint32
		_, adaptiveRx, adaptiveTx       uint32
		_, _, _, _, _, _, _, _, _, _, _ uint32
	}{command: unix.ETHTOOL_GCOALESCE}
	if e.Call(unsafe.Pointer(&answer)) != nil {
		return nil
	}
	return &measure.Coalescing{
		RxUsecs: int(answer.rxUsecs), RxFrames: int(answer.rxFrames), TxUsecs: int(answer.txUsecs), TxFrames: int(answer.txFrames),
		AdaptiveRx: answer.adaptiveRx != 0, AdaptiveTx: answer.adaptiveTx != 0,
	}
}

// mostEntries bounds a table of receive side scaling; drivers have 128 to some thousands.
const mostEntries = 1 << 16

// rss reads the RSS table (ETHTOOL_GRXFHINDIR), or returns nil if there is none.
func (e *Ethtool) rss() *measure.RSS {
	// Command and size, with the table behind them. With the size 0 the kernel writes the size
	// alone; with any other than its own it fails.
	head := []uint32{unix.ETHTOOL_GRXFHINDIR, 0}
	if e.Call(unsafe.Pointer(unsafe.SliceData(head))) != nil || head[1] == 0 || head[1] > mostEntries {
		return nil
	}
	table := make([]uint32, len(head)+int(head[1]))
	copy(table, head)
	if e.Call(unsafe.Pointer(unsafe.SliceData(table))) != nil {
		return nil
	}
	entries := table[len(head):]
	queues := slices.Compact(slices.Sorted(slices.Values(entries)))
	return &measure.RSS{Entries: len(entries), Queues: len(queues)}
}

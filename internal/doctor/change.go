package doctor

import (
	"fmt"
	"strings"
)

// Kinds of [Change].
const (
	KindSysctl   = "sysctl"   // Key is the name of the setting
	KindGovernor = "governor" // Key is the policy, such as policy0
	KindSteering = "rps"      // Key is the receive queue, such as rx-0; the value a mask of processors
	KindAffinity = "irq"      // Key is the number of the interrupt; the value a list of processors
	KindOffload  = "offload"  // Key is the name that ethtool has for it; on or off
	KindRing     = "ring"     // Key is rx or tx
)

// Change is a setting that can be changed while the system runs and is lost when it starts again.
type Change struct {
	Kind   string `json:"kind"`
	Device string `json:"device,omitempty"` // interface of an offload, a ring or a queue
	Key    string `json:"key"`
	Was    string `json:"was"`
	To     string `json:"to"`
}

// reversed is the change back.
func (c Change) reversed() Change {
	c.Was, c.To = c.To, c.Was
	return c
}

// Command is what makes the change, typed by hand as root.
func (c Change) Command() string {
	switch c.Kind {
	case KindSysctl:
		return fmt.Sprintf("sysctl -w %s=%q", c.Key, c.To)
	case KindOffload:
		return fmt.Sprintf("ethtool -K %s %s %s", c.Device, c.Key, c.To)
	case KindRing:
		return fmt.Sprintf("ethtool -G %s %s %s", c.Device, c.Key, c.To)
	}
	return fmt.Sprintf("echo %s > %s", c.To, c.file())
}

// file returns the kernel's file of the setting, or an empty string for a setting of ethtool.
func (c Change) file() string {
	switch c.Kind {
	case KindSysctl:
		return "/proc/sys/" + strings.ReplaceAll(c.Key, ".", "/")
	case KindGovernor:
		return "/sys/devices/system/cpu/cpufreq/" + c.Key + "/scaling_governor"
	case KindSteering:
		return "/sys/class/net/" + c.Device + "/queues/" + c.Key + "/rps_cpus"
	case KindAffinity:
		return "/proc/irq/" + c.Key + "/smp_affinity_list"
	}
	return ""
}

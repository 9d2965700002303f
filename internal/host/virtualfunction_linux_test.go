package host

import (
	"os"
	"reflect"
	"testing"

	"soku/internal/measure"
)

// azureMachine has a synthetic interface and the interface of its virtual function, as
// sysfs shows them.
var azureMachine = map[string]string{
	"sys/class/net/eth0/address":                    "00:0d:3a:11:22:33",
	"sys/class/net/eth0/device":                     "-> ../../../devices/vmbus/f8615163",
	"sys/class/net/eth0/lower_enP1s1":               "-> ../enP1s1",
	"sys/class/net/eth0/tx_queue_len":               "1000",
	"sys/class/net/eth0/queues/rx-0/rps_cpus":       "0",
	"sys/class/net/eth0/queues/rx-0/rps_flow_cnt":   "0",
	"sys/class/net/eth0/queues/tx-0/xps_cpus":       "00",
	"sys/devices/vmbus/f8615163/driver":             "-> ../../../bus/vmbus/drivers/hv_netvsc",
	"sys/devices/vmbus/f8615163/subsystem":          "-> ../../../bus/vmbus",
	"sys/devices/vmbus/f8615163/numa_node":          "0",
	"sys/class/net/enP1s1/address":                  "00:0d:3a:11:22:33",
	"sys/class/net/enP1s1/carrier":                  "1",
	"sys/class/net/enP1s1/device":                   "-> ../../../devices/pci0001:00/0001:00:02.0",
	"sys/class/net/enP1s1/statistics/rx_bytes":      "1000",
	"sys/class/net/enP1s1/statistics/tx_bytes":      "2000",
	"sys/devices/pci0001:00/0001:00:02.0/driver":    "-> ../../../bus/pci/drivers/mlx5_core",
	"sys/devices/pci0001:00/0001:00:02.0/subsystem": "-> ../../../bus/pci",
	"sys/devices/pci0001:00/0001:00:02.0/vendor":    "0x15b3",
	"sys/devices/pci0001:00/0001:00:02.0/device":    "0x101a",
	"sys/devices/pci0001:00/0001:00:02.0/class":     "0x020000",
	"sys/bus/pci/devices/0001:00:02.0":              "-> ../../../devices/pci0001:00/0001:00:02.0",
	"sys/class/net/eth0.7/lower_eth0":               "-> ../eth0",
	"sys/class/net/bond0/lower_eth0":                "-> ../eth0",
	"sys/class/net/bond0/lower_eth9":                "-> ../eth9",
	"sys/class/net/lo/address":                      "00:00:00:00:00:00",
	"sys/class/dmi/id/sys_vendor":                   "Microsoft Corporation",
	"sys/class/dmi/id/product_name":                 "Virtual Machine",
	"sys/class/dmi/id/chassis_asset_tag":            "7783-7084-3265-9085-8269-3286-77",
}

func TestAVirtualFunctionIsWhatTheSystemDoesWithIt(t *testing.T) {
	active := measure.VirtualFunction{State: "active", Interface: "enP1s1", Driver: "mlx5_core", Bus: "0001:00:02.0", PCIID: "15b3:101a"}
	of := func(state string) *measure.VirtualFunction {
		f := active
		f.State = state
		return &f
	}
	const vf = "sys/class/net/enP1s1/"
	apart := map[string]string{"sys/class/net/eth0/lower_enP1s1": ""}
	alone := both(apart, map[string]string{vf + "address": "", vf + "carrier": "", vf + "device": ""})
	unbound := both(alone, map[string]string{"sys/devices/pci0001:00/0001:00:02.0/driver": ""})
	for _, c := range []struct {
		name    string
		iface   string
		changes map[string]string
		want    *measure.VirtualFunction
	}{
		{"used and up", "eth0", nil, of("active")},
		{"a VLAN above it", "eth0.7", nil, of("active")},
		{"used without a link", "eth0", map[string]string{vf + "carrier": "0"}, of("down")},
		{"used and not up", "eth0", map[string]string{vf + "carrier": ""}, of("down")},
		{"an interface that is not joined", "eth0", apart, of("apart")},
		{"an adapter without a driver", "eth0", unbound, &measure.VirtualFunction{State: "unbound", Bus: "0001:00:02.0", PCIID: "15b3:101a"}},
		{"an adapter with a driver is another one's", "eth0", alone, &measure.VirtualFunction{State: "absent"}},
		{"another vendor's without a driver", "eth0", both(unbound, map[string]string{"sys/devices/pci0001:00/0001:00:02.0/vendor": "0x1af4"}), &measure.VirtualFunction{State: "absent"}},
		{"no network adapter", "eth0", both(unbound, map[string]string{"sys/devices/pci0001:00/0001:00:02.0/class": "0x010802"}), &measure.VirtualFunction{State: "absent"}},
		{"a bond of several", "bond0", nil, nil},
		{"the function's own interface", "enP1s1", nil, nil},
		{"loopback", "lo", nil, nil},
		{"no such interface", "eth5", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plant(t, with(azureMachine, c.changes))
			if got := m.virtualFunction(m.deviceOf(c.iface)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestInterfacesThatUseEachOtherAreNotFollowedForEver(t *testing.T) {
	m := plant(t, map[string]string{"sys/class/net/a/lower_b": "-> ../b", "sys/class/net/b/lower_a": "-> ../a"})
	if got := m.deviceOf("a"); got != "a" && got != "b" {
		t.Errorf("got %q", got)
	}
}

func TestWhatAVirtualFunctionMovesIsCounted(t *testing.T) {
	const rx, tx = "/sys/class/net/enP1s1/statistics/rx_bytes", "/sys/class/net/enP1s1/statistics/tx_bytes"
	count := func(t *testing.T, m tree, file, text string) {
		t.Helper()
		if err := os.WriteFile(string(m)+file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		iface  string
		rx, tx string // at the end
		want   *measure.FunctionBytes
	}{
		{"traffic", "eth0", "1500", "9000", &measure.FunctionBytes{Rx: 500, Tx: 7000}},
		{"of a VLAN", "eth0.7", "1001", "2000", &measure.FunctionBytes{Rx: 1}},
		{"none", "eth0", "1000", "2000", &measure.FunctionBytes{}},
		{"given anew meanwhile", "eth0", "10", "2500", nil},
		{"unreadable", "eth0", "", "2500", nil},
		{"of no synthetic interface", "enP1s1", "1500", "9000", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plant(t, azureMachine)
			w := m.watchFunction(c.iface)
			count(t, m, rx, c.rx)
			count(t, m, tx, c.tx)
			if got := w.moved(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("taken away meanwhile", func(t *testing.T) {
		m := plant(t, azureMachine)
		w := m.watchFunction("eth0")
		if err := os.RemoveAll(string(m) + "/sys/class/net/enP1s1"); err != nil {
			t.Fatal(err)
		}
		if got := w.moved(); got != nil {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAcceleratedNetworkingIsWhatTheDriverIs(t *testing.T) {
	nic := func(state string) *measure.NIC {
		return &measure.NIC{VirtualFunction: &measure.VirtualFunction{State: state}}
	}
	for _, c := range []struct {
		provider, driver string
		nic              *measure.NIC
		want             string
	}{
		{"azure", "hv_netvsc", nic(measure.VFActive), "yes"},
		{"azure", "hv_netvsc", nic(measure.VFDown), "no"},
		{"azure", "hv_netvsc", nic(measure.VFAbsent), "no"},
		{"azure", "hv_netvsc", nil, "unknown"},
		{"azure", "mana", nil, "yes"},
		{"azure", "802.1Q VLAN Support", &measure.NIC{Driver: "mlx5_core"}, "yes"},
		{"aws", "ena", nil, "yes"},
		{"aws", "vif", nil, "no"},
		{"gcp", "gve", nil, "yes"},
		{"gcp", "virtio_net", nil, "no"},
		{"openstack", "virtio_net", nil, "unknown"},
		{"", "ena", nil, "unknown"},
	} {
		got := "unknown"
		if yes := accelerated(c.provider, c.driver, c.nic); yes != nil {
			got = map[bool]string{true: "yes", false: "no"}[*yes]
		}
		if got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.provider, c.driver, got, c.want)
		}
	}
}

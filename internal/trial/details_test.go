package trial

import (
	"reflect"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func TestAcceleratedNetworkingThatDidNotCarryTheTrialIsReported(t *testing.T) {
	function := func(state string) *measure.NIC {
		return &measure.NIC{VirtualFunction: &measure.VirtualFunction{State: state, Interface: "enP1s1", Bus: "0001:00:02.0"}}
	}
	unbound := &measure.NIC{Device: "eth9", VirtualFunction: &measure.VirtualFunction{State: measure.VFUnbound, Bus: "0001:00:02.0"}}
	moved := func(all, over int64) *measure.Counters {
		return &measure.Counters{RxBytes: all / 100, TxBytes: all - all/100, FunctionBytes: &measure.FunctionBytes{Rx: over / 100, Tx: over - over/100}}
	}
	bypassed := func(all, over int64) measure.Findings {
		return measure.Findings{measure.NewFinding(finding.AcceleratedBypassed, measure.AtServer, measure.Figures{
			"interface": "eth0", "virtual_function": "enP1s1", "interface_bytes": all, "virtual_function_bytes": over,
		})}
	}
	unused := func(iface, function, state string) measure.Findings {
		return measure.Findings{measure.NewFinding(finding.VirtualFunctionUnused, measure.AtServer, measure.Figures{
			"interface": iface, "virtual_function": function, "state": state,
		})}
	}
	for _, c := range []struct {
		name     string
		nic      *measure.NIC
		counters *measure.Counters
		want     measure.Findings
	}{
		{"all over the function", function(measure.VFActive), moved(1e9, 1e9), nil},
		{"all but a little", function(measure.VFActive), moved(1e9, 9e8), nil},
		{"a part", function(measure.VFActive), moved(1e9, 899_999_999), bypassed(1e9, 899_999_999)},
		{"nothing", function(measure.VFActive), moved(1e9, 0), bypassed(1e9, 0)},
		{"too little to tell", function(measure.VFActive), moved(999_999, 0), nil},
		{"not counted", function(measure.VFActive), &measure.Counters{TxBytes: 1e9}, nil},
		{"no counters", function(measure.VFActive), nil, nil},
		{"a function without a link", function(measure.VFDown), moved(1e9, 0), unused("eth0", "enP1s1", "down")},
		{"one that is not joined", function(measure.VFApart), nil, unused("eth0", "enP1s1", "apart")},
		{"one without a driver", unbound, nil, unused("eth9", "0001:00:02.0", "unbound")},
		{"not enabled", function(measure.VFAbsent), moved(1e9, 0), nil},
		{"no synthetic interface", &measure.NIC{}, moved(1e9, 0), nil},
		{"no details", nil, moved(1e9, 0), nil},
	} {
		r := &measure.Result{}
		r.Hosts.Server = &measure.Host{Facts: measure.Facts{Interface: "eth0"}, Counters: c.counters}
		r.Hosts.Server.Facts.NIC = c.nic
		if warnBypassed(r); !reflect.DeepEqual(r.Findings, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, r.Findings, c.want)
		}
	}
}

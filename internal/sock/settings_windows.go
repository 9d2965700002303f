package sock

import (
	"golang.org/x/sys/windows"

	"soku/internal/measure"
)

const system = "Windows"

// set sets the window only: Windows does not have the other options or has them in another form,
// and it accepts IP_TOS without sending it.
func (s Settings) set(handle uintptr, _ string) error {
	switch {
	case s.Congestion != "":
		return unsupported("congestion")
	case s.MSS != 0:
		return unsupported("mss")
	case s.TOS != 0:
		return unsupported("tos (dscp)")
	case s.Device != "":
		return measure.Fail(measure.KindUsage, "sock.device.windows", measure.Figures{"device": s.Device})
	case s.FlowLabel != 0:
		return unsupported("flow_label")
	case s.NoFragment:
		return unsupported("dont_fragment")
	case s.ReusePort:
		return measure.Fail(measure.KindUsage, "sock.shared_port", measure.Figures{"system": system})
	}
	if s.Window > 0 {
		for name, opt := range map[string]int{"SO_SNDBUF": windows.SO_SNDBUF, "SO_RCVBUF": windows.SO_RCVBUF} {
			if err := windows.SetsockoptInt(windows.Handle(handle), windows.SOL_SOCKET, opt, int(s.Window)); err != nil {
				return refused(name, s.Window, err)
			}
		}
	}
	return nil
}

package cli

import "context"

// dropIn is what takes the place of another tool with its whole command line, and
// returns that tool's exit status.
type dropIn func(ctx context.Context, sys *System, args []string) int

// dropInOf is the drop-in of a name, nil for none.
func dropInOf(name string) dropIn {
	switch name {
	case ethrName:
		return runEthr
	case iperf3Name:
		return runIperf3
	}
	return nil
}

// asDropIn finds the drop-in of a command line: the program was called by another
// tool's name, or has it as its first word.
func asDropIn(sys *System) (run dropIn, args []string) {
	if run := dropInOf(sys.Called); run != nil {
		return run, sys.Args
	}
	if len(sys.Args) > 0 {
		return dropInOf(sys.Args[0]), sys.Args[1:]
	}
	return nil, nil
}

// ownArgs are the arguments of soku's own command line. A link named as ntttcp is
// soku's command of that name, which reports its errors as soku does.
func ownArgs(sys *System) []string {
	if sys.Called == ntttcpName {
		return append([]string{ntttcpName}, sys.Args...)
	}
	return sys.Args
}

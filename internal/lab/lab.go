package lab

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"soku/internal/measure"
)

// DefaultRunDir is where the state of labs lives.
const DefaultRunDir = "/run/soku"

// diskDir is where the folders of disks are, unless SOKU_RUN names a folder for everything: of
// the two, /run is in memory on most systems.
const diskDir = "/var/lib/soku"

// RunDir is the folder named by SOKU_RUN, or [DefaultRunDir].
func RunDir(getenv func(string) string) string {
	if d := getenv("SOKU_RUN"); d != "" {
		return d
	}
	return DefaultRunDir
}

// Options say how labs are run on this machine.
type Options struct {
	// RunDir holds the state, one folder a lab below RunDir/lab; empty: DefaultRunDir.
	RunDir string
	// Executable is the soku program, started again for the servers, the delay
	// line and to enter a namespace.
	Executable string
	// Owner names for what the lab is built, such as a campaign; it may be empty. Up removes a
	// lab of the same name and owner first: who gives it knows that its former run has ended.
	Owner string
	// Progress is called at each step of Up, with what the message lab.step.STEP writes;
	// it may be nil.
	Progress func(step string, figures measure.Figures)

	before func(step string) error //nolint:unused // tests on Linux make a step fail with it
}

func (o Options) dir(name string) string {
	o.RunDir = cmp.Or(o.RunDir, DefaultRunDir)
	return filepath.Join(o.RunDir, "lab", name)
}

// disks is where the folders of a lab's disks are.
func (o Options) disks(name string) string {
	if o.RunDir == "" || o.RunDir == DefaultRunDir {
		return filepath.Join(diskDir, "lab", name)
	}
	return filepath.Join(o.dir(name), "disks")
}

// Lab is a running lab. Its methods are safe for concurrent use.
type Lab struct {
	Topology *Topology
	// Dir is the state folder: state.json, the servers' logs and the delay line's record.
	Dir string

	options Options
	mu      sync.Mutex
	state   state
	owned   []*owned //nolint:unused // processes this program started and waits for, on Linux
}

// DiskFolder returns the folder into which the server of a node with a disk takes copies, or an
// empty string for other nodes.
func (l *Lab) DiskFolder(node string) string {
	if n := l.Topology.Node(node); n == nil || n.Disk == nil {
		return ""
	}
	return filepath.Join(l.options.disks(l.Topology.Name), node)
}

// owned is a child of this process.
type owned struct { //nolint:unused // off Linux
	process *os.Process
	done    chan struct{} // closed when it has ended
}

// state is state.json: what is needed to use a lab and to remove it. Each item is written
// before it is created.
type state struct {
	Schema     string    `json:"schema"`
	Name       string    `json:"name"`
	File       string    `json:"file"`
	Topology   string    `json:"topology"` // text of the file
	Owner      string    `json:"owner,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	Complete   bool      `json:"complete"` // Up came to its end
	Namespaces []string  `json:"namespaces"`
	Processes  []process `json:"processes"`
	// Lines are the directions the delay line carries, in the order of its record.
	Lines []lineSpec `json:"lines,omitempty"`
}

const stateSchema = "soku.lab/1"

// process is a process that the lab started. Another process may have its number by now,
// so its start time is stored, too.
type process struct {
	Role       string `json:"role"` // one of the roles below
	Node       string `json:"node,omitempty"`
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"` // field 22 of /proc/PID/stat
}

// Roles of processes.
const (
	roleServer = "server"
	roleLine   = "delay-line"
)

// lineSpec is one direction of one link on the delay line.
type lineSpec struct {
	Link   string  `json:"link"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Delay  int64   `json:"delay_ns"`
	Jitter int64   `json:"jitter_ns"`
	Loss   float64 `json:"loss_ratio"`
	Seed   uint64  `json:"seed"`
	// PoliceBps and PoliceBurst, in bytes, are the limit of a policer of bytes; 0: none.
	PoliceBps   measure.Rate `json:"police_bps,omitempty"`
	PoliceBurst measure.Size `json:"police_burst_bytes,omitempty"`
	InFD        int          `json:"in_fd"`  // in the helper
	OutFD       int          `json:"out_fd"` // in the helper
	// StampFD is the socket with the times at which packets come to InFD.
	StampFD int `json:"stamp_fd"`
}

// NamespaceName returns the name of a node's network namespace, as ip-netns(8) lists it.
// A dot separates lab and node, which neither may contain, so no two labs share a name.
func NamespaceName(lab, node string) string { return namespacePrefix(lab) + node }

func namespacePrefix(lab string) string { return "soku-" + lab + "." }

// decodeState reads the text of a state file and refuses what cannot be one.
func decodeState(data []byte) (state, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return state{}, err
	}
	if s.Schema != stateSchema || !nodeName.MatchString(s.Name) {
		return state{}, measure.Fail(measure.KindInternal, "lab.state.schema", measure.Figures{"schema": stateSchema})
	}
	for _, p := range s.Processes {
		if p.PID <= 1 {
			return state{}, measure.Fail(measure.KindInternal, "lab.state.process", measure.Figures{"pid": p.PID})
		}
	}
	return s, nil
}

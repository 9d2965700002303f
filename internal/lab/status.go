package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"soku/internal/measure"
)

// Status is the state of a lab.
type Status struct {
	Name      string       `json:"name"`
	File      string       `json:"file"`
	StartedAt time.Time    `json:"started_at"`
	Complete  bool         `json:"complete"` // false: it is being built, or building was interrupted
	Nodes     []NodeStatus `json:"nodes"`
	Links     []LinkStatus `json:"links"` // one element per direction, in the order of the file
	Problems  Problems     `json:"problems,omitempty"`
}

// Problems are what is wrong with a lab. In JSON they are their English sentences.
type Problems []*measure.Error

// MarshalJSON writes a list of sentences.
func (p Problems) MarshalJSON() ([]byte, error) {
	sentences := make([]string, len(p))
	for i, e := range p {
		sentences[i] = e.Error()
	}
	return json.Marshal(sentences)
}

// NodeStatus is one node.
type NodeStatus struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind"` // "host" or "router"
	Namespace string          `json:"namespace"`
	Server    string          `json:"server,omitempty"` // "running", "stopped"; empty: none
	Disk      *DiskStatus     `json:"disk,omitempty"`   // absent without a disk of its own
	Addresses []AddressStatus `json:"addresses"`
}

// DiskStatus is the disk of a node.
type DiskStatus struct {
	Folder   string       `json:"folder"`
	ReadBps  measure.Rate `json:"read_bps"`  // past the page cache; 0: as fast as the machine's
	WriteBps measure.Rate `json:"write_bps"` // same
}

// AddressStatus is one address of a node.
type AddressStatus struct {
	Label   string `json:"label"`
	Address string `json:"address"`
}

// LinkStatus is one direction of a link: its truth and the delay line's counts.
type LinkStatus struct {
	Name      string       `json:"name"`
	From      string       `json:"from"`
	To        string       `json:"to"`
	RateBps   measure.Rate `json:"rate_bps"`   // 0: no cap
	PoliceBps measure.Rate `json:"police_bps"` // 0: no policer
	DelayNs   int64        `json:"delay_ns"`   // one way
	JitterNs  int64        `json:"jitter_ns"`
	LossRatio float64      `json:"loss_ratio"`
	MTU       int          `json:"mtu_bytes"`
	Given     *GivenDelay  `json:"given,omitempty"` // absent without a delay line
}

// Status reads the present state of the lab.
func (l *Lab) Status() (*Status, error) {
	l.mu.Lock()
	s := l.state
	processes := slices.Clone(s.Processes)
	l.mu.Unlock()
	out := &Status{Name: s.Name, File: s.File, StartedAt: s.StartedAt, Complete: s.Complete}
	given, err := l.given(processes, len(s.Lines))
	if err != nil {
		out.Problems = append(out.Problems, measure.AsError(err, measure.KindInternal))
	}
	for _, p := range processes {
		if !p.alive() {
			out.Problems = append(out.Problems, p.ended(l.Dir))
		}
	}
	for _, n := range l.Topology.Nodes {
		out.Nodes = append(out.Nodes, l.nodeStatus(n, processes))
	}
	for _, k := range l.Topology.Links {
		for w := range k.Ways {
			way := &k.Ways[w]
			ls := LinkStatus{
				Name: k.Name, From: k.Ends[w].Node.Name, To: k.Ends[1-w].Node.Name, RateBps: way.Rate, PoliceBps: way.Police,
				DelayNs: int64(way.Delay), JitterNs: int64(way.Jitter), LossRatio: way.Loss, MTU: k.MTU,
			}
			for i := range given {
				if s.Lines[i].Link == k.Name && s.Lines[i].From == ls.From {
					ls.Given = &given[i]
				}
			}
			out.Links = append(out.Links, ls)
		}
	}
	return out, nil
}

// ended is the failure of a process that has ended; its log is in dir.
func (p process) ended(dir string) *measure.Error {
	if p.Role == roleLine {
		return measure.Fail(measure.KindBroken, "lab.status.delay_line_ended", measure.Figures{"folder": dir})
	}
	return measure.Fail(measure.KindBroken, "lab.status.server_ended", measure.Figures{"node": p.Node, "folder": dir})
}

func (l *Lab) nodeStatus(n *Node, processes []process) NodeStatus {
	t := l.Topology
	out := NodeStatus{Name: n.Name, Kind: "host", Namespace: NamespaceName(t.Name, n.Name)}
	if n.Router {
		out.Kind = "router"
	}
	if n.Server {
		out.Server = "stopped"
	}
	for _, p := range processes {
		if n.Server && p.Node == n.Name && p.alive() {
			out.Server = "running"
		}
	}
	if n.Disk != nil {
		out.Disk = &DiskStatus{l.DiskFolder(n.Name), n.Disk.Read, n.Disk.Write}
	}
	for _, a := range t.Addresses(n.Name) {
		out.Addresses = append(out.Addresses, AddressStatus{a.Label, a.Addr.String()})
	}
	return out
}

// given reads the delay line's record of actual delays: one element per direction, none if
// no delay line is running.
func (l *Lab) given(processes []process, lines int) ([]GivenDelay, error) {
	i := slices.IndexFunc(processes, func(p process) bool { return p.Role == roleLine && p.alive() })
	if i < 0 {
		return nil, nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/fd/%d", processes[i].PID, recordFD))
	if errors.Is(err, os.ErrPermission) {
		return nil, measure.Fail(measure.KindPermission, "lab.given.needs_root", nil)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(recordBytes(2*maxLinks))))
	if err != nil {
		return nil, err
	}
	out, err := decodeRecord(data)
	if err == nil && len(out) != lines {
		return nil, measure.Fail(measure.KindInternal, "lab.given.other_lab", nil)
	}
	return out, err
}

// List names the labs that have state on this machine, sorted.
func List(o Options) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(o.dir("x")))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, measure.Fail(measure.KindInternal, "lab.list", measure.Figures{"cause": err})
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && nodeName.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

package trial

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"soku/internal/engine/mtu"
	"soku/internal/engine/trace"
	"soku/internal/measure"
	"soku/internal/sock"
)

// runTrace finds the hops of a path. It needs no server.
func runTrace(ctx context.Context, addr netip.Addr, o measure.Options, h Hooks, r *measure.Result) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	h.started()
	began := sock.Now()
	t, l, err := trace.Run(ctx, addr, o, h.Trace)
	r.Summary.DurationNs = measure.Duration(sock.Since(began))
	r.Trace = t
	if l != nil {
		length := r.Summary.DurationNs
		assembleLatency(r, l, nil)
		r.Summary.DurationNs = length
	}
	if t == nil {
		r.Summary.DurationNs = 0
		return err
	}
	if err == nil && len(t.Hops) == 0 {
		err = measure.Errorf(measure.KindUnreachable, "trace %s: no answer to %d probes, from no hop", addr, t.Sent).
			WithHint("a firewall of this host or the first router may drop them; try another --probe, or: soku ping %s", addr)
	}
	if o.Names {
		nameTrace(ctx, t)
	}
	return err
}

// runMTU finds the largest packet that a path carries. It needs no server.
func runMTU(ctx context.Context, addr netip.Addr, o measure.Options, h Hooks, r *measure.Result) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	h.started()
	began := sock.Now()
	m, err := mtu.Run(ctx, addr, o, h.MTU)
	if m == nil {
		return err
	}
	r.Summary.DurationNs = measure.Duration(sock.Since(began))
	r.PathMTU, r.Summary.PathMTUBytes = m, m.Bytes
	for _, said := range m.Reports {
		if !said.Confirmed && said.Bytes > 0 && err == nil {
			r.Findings.Add(measure.CodeMTUReportUnconfirmed, "", measure.Figures{
				"address": said.Address, "reported_bytes": said.Bytes, "path_mtu_bytes": m.Bytes,
			})
		}
	}
	if o.Names {
		nameMTU(ctx, m)
	}
	return err
}

// Names are of use only while somebody waits for them.
const (
	nameTimeout = 2 * time.Second
	namesAtOnce = 16
)

func nameTrace(ctx context.Context, t *measure.Trace) {
	var addresses []string
	for _, h := range t.Hops {
		for _, n := range h.Nodes {
			addresses = append(addresses, n.Address)
		}
	}
	names := Names(ctx, addresses)
	for i := range t.Hops {
		for k := range t.Hops[i].Nodes {
			t.Hops[i].Nodes[k].Name = names[t.Hops[i].Nodes[k].Address]
		}
	}
}

func nameMTU(ctx context.Context, m *measure.PathMTU) {
	for _, h := range []*measure.MTUHop{m.After, m.Before} {
		if h != nil {
			h.Name = Names(ctx, []string{h.Address})[h.Address]
		}
	}
}

// Names finds the names of addresses by reverse DNS, within two seconds for all of
// them together. An interrupt of the measurement does not keep what was measured from
// its names, but shortens the wait.
func Names(ctx context.Context, addresses []string) map[string]string {
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	var (
		mu    sync.Mutex
		work  sync.WaitGroup
		names = map[string]string{}
		room  = make(chan struct{}, namesAtOnce)
	)
	for _, a := range addresses {
		mu.Lock()
		_, known := names[a]
		if !known {
			names[a] = ""
		}
		mu.Unlock()
		if known {
			continue
		}
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			found, err := net.DefaultResolver.LookupAddr(ctx, a)
			if err != nil || len(found) == 0 {
				return
			}
			const longest = 253 // RFC 1035
			if name := strings.TrimSuffix(found[0], "."); len(name) <= longest {
				mu.Lock()
				names[a] = name
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return names
}

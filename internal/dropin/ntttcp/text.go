package ntttcp

// print writes the figures as ntttcp does.
func (f *figures) print(c *console) {
	o := f.o
	if o.Verbose {
		c.info("\tThread\tTime(s)\tThroughput")
		c.info("\t======\t=======\t==========")
		for i, bytes := range f.threads {
			c.info("\t%d\t %.2f\t %s", i, f.seconds, throughput(bytes, f.seconds))
		}
	}
	if o.Sender {
		c.info("%d connections tested", f.connections)
	}
	c.info("#####  Totals:  #####")
	c.info("test duration\t:%.2f seconds", f.seconds)
	c.info("total bytes\t:%d", f.bytes())
	c.info("\t throughput\t:%s", throughput(f.bytes(), f.seconds))
	if !o.UDP {
		c.info("\t retrans segs\t:%d", f.retransmitted())
	}
	f.printShown(c)
	c.info("cpu cores\t:%d", f.to.totals.CPUs)
	c.info("\t cpu speed\t:%.3fMHz", f.mhz)
	for _, s := range f.shares() {
		tab := "\t"
		if s.on == "softirq" { // which is longer
			tab = ""
		}
		c.info("\t %s\t:%.2f%%", s.on+tab, s.share)
	}
	c.info("\t cycles/byte\t:%.2f", f.cycles())
	c.info("cpu busy (all)\t:%.2f%%", f.busy())
	if o.Verbose && o.Sender && !o.UDP && f.rttUs >= 0 {
		c.info("tcpi rtt\t\t:%d us", f.rttUs)
	}
	c.plain(rule)
}

// printShown writes the counters that are printed on request only.
func (f *figures) printShown(c *console) {
	o := f.o
	if o.ShowRetransmits {
		c.info("tcp retransmit:")
		for _, r := range f.resent() {
			c.info("\t %s\t:%.2f", r.label, r.perSecond)
		}
	}
	if o.ShowPackets != "" {
		c.info("total packets:")
		c.info("\t tx_packets\t:%d", f.packetsSent())
		c.info("\t rx_packets\t:%d", f.packetsReceived())
	}
	if o.ShowInterrupts != "" {
		c.info("interrupts:")
		c.info("\t total\t\t:%d", f.interrupts())
		c.info("\t interrupts/sec\t:%.3f", f.perSecond(f.from.interrupts, f.to.interrupts))
	}
	if o.ShowPackets != "" && o.ShowInterrupts != "" {
		c.info("\t pkts/interrupt\t:%.2f", f.packetsPerInterrupt())
	}
}

// printOptions writes the options in effect, for -V.
func (o *Options) printOptions(c *console) {
	row := func(label, format string, args ...any) {
		c.plain("%s:\t "+format+"\n", append([]any{label}, args...)...)
	}
	yes := func(on bool, yes, no string) string {
		if on {
			return yes
		}
		return no
	}
	seconds := func(n int, none string) any {
		if n == 0 {
			return none
		}
		return n
	}
	c.plain("*** %s role\n", yes(o.Sender, "sender", "receiver"))
	for _, mark := range []struct {
		on   bool
		text string
	}{
		{o.Daemon, "run as daemon"}, {o.Epoll, "use epoll()"}, {o.Hold, "hold receiver always running"},
		{o.Multi, "multiple clients"}, {o.Last, "last client"}, {o.NoSync, "no sender/receiver synch"},
	} {
		if mark.on {
			c.plain("*** %s\n", mark.text)
		}
	}
	if o.Sender {
		row("connections", "%d X %d X %d", o.Ports, o.Threads, o.Connections)
	} else {
		row("ports", "%d", o.Ports)
	}
	cpu := any("*")
	if o.CPU >= 0 {
		cpu = o.CPU
	}
	row("cpu affinity", "%v", cpu)
	row("server address", "%s", o.Address)
	if o.Source != "" {
		row("client address", "%s", o.Source)
	}
	row("domain", "%s", yes(o.IPv6, "IPv6", "IPv4"))
	row("protocol", "%s", yes(o.UDP, "UDP", "TCP"))
	row("server port starting at", "%d", o.Port)
	if o.SourcePort > 0 {
		row("client source port starting at", "%d", o.SourcePort)
	}
	if o.Sender {
		row("sender socket buffer (bytes)", "%d", o.SendBuffer())
	} else {
		row("receiver socket buffer (bytes)", "%d", o.ReceiveBuffer())
	}
	if o.Bandwidth > 0 {
		row("bandwidth limit (bits/sec)", "%d", o.Bandwidth)
	}
	if o.FQRate > 0 {
		row("fq rate limit (bits/sec)", "%d", o.FQRate)
	}
	row("tcp nodelay", "%s", yes(o.NoDelay, "yes", "no"))
	row("test warm-up (sec)", "%v", seconds(o.Warmup, "no"))
	row("test duration (sec)", "%v", seconds(o.Duration, "continuous"))
	row("test cool-down (sec)", "%v", seconds(o.Cooldown, "no"))
	row("show system tcp retransmit", "%s", yes(o.ShowRetransmits, "yes", "no"))
	for _, file := range []struct{ label, name string }{
		{"show packets for", o.ShowPackets}, {"show device interrupts for", o.ShowInterrupts},
		{"capture console output to", o.ConsoleFile}, {"save output to xml file", o.XMLFile}, {"save output to json file", o.JSONFile},
	} {
		if file.name != "" {
			row(file.label, "%s", file.name)
		}
	}
	row("quiet mode", "%s", yes(o.Quiet, "enabled", "disabled"))
	row("verbose mode", "%s", yes(o.Verbose, "enabled", "disabled"))
	c.plain(rule)
}

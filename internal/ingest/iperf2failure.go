package ingest

import (
	"regexp"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// iperf2Failure is a line of standard error about a test that failed, such as "connect failed: Connection
// refused", "tcp write failed: Broken pipe" and "error: Name or service not known". "shutdown failed" may
// follow a whole test.
var iperf2Failure = regexp.MustCompile(`(?:\b(?:tcp |udp )?(?:connect|write|read|recv|send|bind|listen|accept|select|poll)[a-z0-9]{0,10} failed(?::| \().*|^error: .*)`)

// iperf2FailureIn is what a line says about a test that failed, or empty.
func iperf2FailureIn(line string) string {
	if !strings.Contains(line, " failed") && !strings.HasPrefix(line, "error: ") {
		return ""
	}
	return iperf2Failure.FindString(line)
}

// iperf2Message is a message on standard error whose test is not known yet: those of old versions stand
// before the first line of their test, and a refused connection may have no other line.
type iperf2Message struct {
	text     string
	line     int
	about    *iperf2Test // that had its figures when the message came; it is about this one if more follow
	bannered bool        // a block has begun and has no connection
	late     bool        // the message came within such a block
}

// failure takes a message. It belongs to the test that has not ended.
func (p *iperf2File) failure(at int, text string) error {
	t, m := p.test, &p.message
	switch {
	case t != nil && t.bannered && (!t.hasTotals() || p.udp && !p.atServe && len(t.reports) == 0):
		if t.failure == "" {
			t.failure = text
		}
		return nil
	case m.text != "" && m.bannered && !m.late: // it was about the block before this line
		if err := p.failed(); err != nil {
			return err
		}
	case m.text != "":
		return nil // another one of the same run
	}
	*m = iperf2Message{text: text, line: at, about: t, bannered: m.bannered, late: m.bannered}
	return nil
}

// failed makes a result of a message without a test.
func (p *iperf2File) failed() error {
	m := p.message
	p.message = iperf2Message{}
	if m.text == "" {
		return nil
	}
	if len(p.out) == maxRecords {
		return p.s.fail(m.line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
	}
	t := newIperf2Test(m.line)
	t.failure, t.udp = m.text, p.udp
	p.out = append(p.out, t.failed(p.atServe, len(p.out)+1))
	return nil
}

// briefTime is longer than iperf takes to see that the other end is gone, in s.
const briefTime = 0.1

// brief reports whether a test lasted no longer than that.
func (t *iperf2Test) brief() bool {
	for _, rows := range t.rows {
		for _, row := range rows {
			if row.to > briefTime {
				return false
			}
		}
	}
	return true
}

// failed is the result of a test that failed. What it sent into its socket until then is no figure.
func (t *iperf2Test) failed(atServer bool, record int) *measure.Result {
	test := measure.TestTCP
	switch {
	case t.bounce:
		test = measure.TestLatency
	case t.udp:
		test = measure.TestUDP
	}
	r := t.open(test, atServer, record)
	if test == measure.TestTCP && !atServer && !t.reverse && !t.duplex && !t.exact {
		missing(r, finding.GoodputOfSender) // as of the tests that it is a repeat of
	}
	r.Options.Streams = len(t.ids)
	kind := measure.KindBroken
	if strings.Contains(t.failure, "connect") || strings.Contains(t.failure, "refused") || strings.HasPrefix(t.failure, "error: ") {
		kind = measure.KindUnreachable
	}
	r.Error = measure.Fail(kind, "ingest.iperf2.reported", measure.Figures{"cause": short(t.failure)})
	return r
}

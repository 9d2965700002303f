package iperf3

import (
	"cmp"
	"strconv"

	"soku/internal/measure"
	"soku/internal/text/messages"
)

// Error numbers that a server sends, of those that can occur at its end of a test.
const (
	CodeTime             = 5
	CodeStreams          = 6
	CodeLength           = 7
	CodeWindow           = 8
	CodeMSS              = 10
	CodeNoSendfile       = 11
	CodeOmit             = 12
	CodeNoSCTP           = 18
	CodeUDPLength        = 20
	CodeTOS              = 21
	CodeReverseBidir     = 25
	CodeTotalRate        = 27
	CodeFileOverUDP      = 34
	CodeMaxDuration      = 37
	CodeInit             = 101
	CodeMessage          = 110
	CodeReceiveParams    = 114
	CodeReceiveResults   = 117
	CodeClientTerminated = 119
	CodeBusy             = 121
	CodeFlowLabel        = 127
	CodeAffinity         = 132
	CodeCongestion       = 134
	CodeAuthorization    = 142
	CodeSilence          = 144
	CodeExpired          = 160
	CodeStreamAccept     = 204
	CodeStreamWrite      = 205
	CodeStreamRead       = 206
)

// sentence is what a number of a server means.
func sentence(number int) *measure.Error {
	digits := strconv.Itoa(number)
	if !messages.English().Has("error.iperf3.number_" + digits) {
		return measure.Fail(measure.KindBroken, "iperf3.number", measure.Figures{"number": number}).WithCause(ServerFailure(number))
	}
	return measure.Fail(measure.KindBroken, "iperf3.number_"+digits, nil).WithCause(ServerFailure(number))
}

var memberCodes = map[string]int{
	"omit": CodeOmit, "time": CodeTime, "MSS": CodeMSS, "parallel": CodeStreams,
	"window": CodeWindow, "len": CodeLength, "TOS": CodeTOS, "flowlabel": CodeFlowLabel,
}

// Code is the error number of a server that does not allow the parameter.
func (e *OutOfRangeError) Code() int { return cmp.Or(memberCodes[e.Member], CodeReceiveParams) }

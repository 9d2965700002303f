package iperf3

import "strconv"

// The numbers by which a server tells what failed, of those that its own end of a
// test can meet.
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

// codeText says what a number of a server means.
func codeText(code int) string {
	switch code {
	case CodeTime:
		return "the test is longer than it allows"
	case CodeStreams:
		return "too many parallel streams"
	case CodeLength:
		return "the length of a write is out of range"
	case CodeWindow, 141:
		return "it cannot have socket buffers of that size"
	case CodeMSS, 123:
		return "it cannot have that segment size"
	case CodeNoSendfile:
		return "it cannot send without copying"
	case CodeOmit:
		return "the omitted start is out of range"
	case CodeNoSCTP:
		return "it has no SCTP"
	case CodeUDPLength:
		return "the size of a datagram is out of range"
	case CodeTOS, 125, 126:
		return "it cannot have that type of service"
	case CodeReverseBidir:
		return "reverse and bidirectional exclude each other"
	case CodeTotalRate:
		return "the rate is over its limit (--server-bitrate-limit)"
	case CodeFileOverUDP:
		return "it carries a file, and does not over UDP"
	case CodeMaxDuration:
		return "the test is longer than it allows (--server-max-duration)"
	case CodeMessage:
		return "it got a message that it does not know"
	case CodeReceiveParams:
		return "it could not read the parameters"
	case CodeReceiveResults:
		return "it could not read the client's results"
	case CodeClientTerminated:
		return "it was told that the client stopped"
	case CodeBusy:
		return "busy: it measures with somebody else"
	case CodeFlowLabel:
		return "it cannot have that flow label"
	case CodeAffinity:
		return "it cannot keep its process on that processor"
	case CodeCongestion:
		return "it does not have that congestion control"
	case CodeAuthorization:
		return "the test is not authorized"
	case CodeSilence:
		return "it got no data for too long"
	case CodeExpired:
		return "the time that it allows for a test was over"
	case CodeStreamAccept:
		return "it could not accept a stream"
	case CodeStreamWrite:
		return "it could not send on a stream"
	case CodeStreamRead:
		return "it could not read a stream"
	}
	return "iperf3's error number " + strconv.Itoa(code)
}

// Code is the number by which a server tells that the parameter was not allowed.
func (e *OutOfRangeError) Code() int {
	switch e.Member {
	case "omit":
		return CodeOmit
	case "time":
		return CodeTime
	case "MSS":
		return CodeMSS
	case "parallel":
		return CodeStreams
	case "window":
		return CodeWindow
	case "len":
		return CodeLength
	case "TOS":
		return CodeTOS
	case "flowlabel":
		return CodeFlowLabel
	}
	return CodeReceiveParams
}

package iperf3

import _ "soku/internal/tests" // registers the tests whose options are used here

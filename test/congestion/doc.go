// Package congestion sets, for the time of a test, which TCP congestion controls
// the machine allows to everybody.
//
// A network namespace takes as its default only one that is in
// net.ipv4.tcp_allowed_congestion_control of the machine. What is in that list
// depends on what ran before: a congestion control that was once the machine's
// default stays in it. A test that needs one in the list, or out of it, says so
// here. Linux only.
package congestion

// Package congestion sets, during a test, which TCP congestion controls the machine allows
// to all users.
//
// A network namespace accepts as its default only a congestion control in
// net.ipv4.tcp_allowed_congestion_control of the machine. The list depends on what ran
// before: a congestion control that was once the machine's default stays in it. A test that
// needs one in the list, or not in it, requests that here. Linux only.
package congestion

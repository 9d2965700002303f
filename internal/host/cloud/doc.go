// Package cloud asks the metadata service of the cloud that a machine runs in what the
// machine is: instance type, zone, placement. It asks for no credential, no identity and no
// user data, and only where the firmware says that the machine is of that cloud. Whatever
// answers is taken as hostile: answers are bounded in time and size, and what is no plain
// word is left out.
//
// It decides nothing and starts no goroutine that outlives a call. The members are
// specified in docs/reference/result.md.
package cloud

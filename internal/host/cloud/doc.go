// Package cloud asks the metadata service of the cloud that a machine runs in what the
// machine is: instance type, zone, placement. It asks for no credential, no identity and no
// user data, and asks only if the firmware says that the machine runs in that cloud. Answers are
// treated as hostile: they are bounded in time and size, and a value that is no plain word is
// left out.
//
// It decides nothing and starts no goroutine that outlives a call. The members are
// specified in docs/reference/result.md.
package cloud

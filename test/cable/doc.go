// Package cable joins two hosts for tests: network namespaces of Linux with a device each.
package cable

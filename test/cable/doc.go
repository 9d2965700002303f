// Package cable connects two hosts for tests: Linux network namespaces with a device each.
package cable

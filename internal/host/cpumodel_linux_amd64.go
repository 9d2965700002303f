package host

import "context"

// cpuModel is what the processor calls itself, or empty. gopsutil reads the same line, and
// files of every processor beside it.
func cpuModel(context.Context) string { return modelName(firstProcessor()) }

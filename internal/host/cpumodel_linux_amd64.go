package host

import "context"

// cpuModel returns the processor's model name, or an empty string. gopsutil reads the same line,
// and also files of every processor.
func cpuModel(context.Context) string { return modelName(firstProcessor()) }

package host

import "golang.org/x/sys/windows"

// processTimes is the processor time of this process, all threads.
func processTimes() (userNs, sysNs int64) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0, 0
	}
	span := func(f windows.Filetime) int64 { return (int64(f.HighDateTime)<<32 | int64(f.LowDateTime)) * 100 }
	return span(user), span(kernel)
}

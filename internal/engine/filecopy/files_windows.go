package filecopy

import "golang.org/x/sys/windows"

// openSafely has no flags: os.Root opens no link in place of a file that leads outside.
const openSafely = 0

// noSpace is the error of a full disk.
const noSpace = windows.ERROR_DISK_FULL

package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"soku/internal/durable"
	"soku/internal/process"
)

// The files of the numbers in a folder of campaigns. No identity begins with a point.
const (
	numberName = ".number"      // the highest number so far, in decimal
	numberLock = ".number.lock" // held while that file is read and written
)

// numberWait is how long a process waits for another one that takes a number.
const numberWait = 10 * time.Second

// Number reads the counter and the newest journal, which a version without the counter may
// have begun. Without a counter that can be read it reads all journals.
func (f Folder) Number() (number int, err error) {
	err = f.count(func(last int) int { number = last + 1; return number })
	return number, err
}

// raise makes the number of an adopted campaign one that was taken.
func (f Folder) raise(number int) error {
	return f.count(func(last int) int { return max(last, number) })
}

// count writes the highest number, which next gets and returns. The counter is replaced as a
// whole, so another file is what processes lock.
func (f Folder) count(next func(last int) int) error {
	if f == "" {
		return UnknownCampaign("", "")
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return Failure("journal.make_folder", string(f), err)
	}
	path := filepath.Join(string(f), numberName)
	lock, err := waitForLock(filepath.Join(string(f), numberLock))
	if err != nil {
		return Failure("journal.number", path, err)
	}
	defer lock.Close()
	last, known := readNumber(path)
	highest, err := highestNumber(f, known)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(path, []byte(strconv.Itoa(next(max(last, highest)))+"\n"), 0o600); err != nil {
		return Failure("journal.number", path, err)
	}
	return nil
}

// waitForLock opens the file and locks it until it is closed.
func waitForLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		locked, err := process.LockFile(file)
		if locked {
			return file, nil
		}
		if err == nil && time.Since(begin) > numberWait {
			err = os.ErrDeadlineExceeded
		}
		if err != nil {
			_ = file.Close()
			return nil, err
		}
	}
}

// readNumber returns the number in the counter, and false if it has none.
func readNumber(path string) (number int, known bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	number, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return number, err == nil && number >= 0
}

// highestNumber is the highest number of all journals, or that of the newest one alone.
// Journals without a plan are passed over.
func highestNumber(in Backend, newest bool) (highest int, err error) {
	ids, err := in.IDs()
	if err != nil {
		return 0, err
	}
	for _, id := range slices.Backward(ids) {
		planned := false
		_ = in.Read(id, func(r Record) error {
			if planned = r.Plan != nil; planned {
				highest = max(highest, r.Plan.Number)
			}
			return ErrEnough
		})
		if planned && newest {
			break
		}
	}
	return highest, nil
}

package measure

import (
	"cmp"
	"slices"
)

// Copy is what a trial of the test copy did with files. The flow has the bytes.
type Copy struct {
	Files       int64  `json:"files" jsonschema:"minimum=0,description=Regular files of the set"`
	Directories int64  `json:"directories" jsonschema:"minimum=0,description=Directories that hold them"`
	Bytes       int64  `json:"bytes" jsonschema:"minimum=0,description=Contents of all files"`
	Skipped     int64  `json:"skipped,omitempty" jsonschema:"description=Links\\, devices and others in the folder that are no regular files; they are not copied"`
	Generated   bool   `json:"generated,omitempty" jsonschema:"description=The files were made for the trial and removed afterwards"`
	Checksum    string `json:"checksum,omitempty" jsonschema:"description=How contents were verified: sha256\\, crc32c\\, or compare (local copies are read again and compared); absent if they were not"`
	Verified    int64  `json:"verified,omitempty" jsonschema:"description=Files whose contents were verified at the far end"`
	// Source and Sink are where the files came from and went to, or nil for a stage without
	// such an end.
	Source *CopyPlace `json:"source,omitempty" jsonschema:"description=Where the files are read"`
	Sink   *CopyPlace `json:"sink,omitempty" jsonschema:"description=Where the files are written"`
	// Stages has one element a stage, in the order in which they ran.
	Stages []CopyStage `json:"stages,omitempty" jsonschema:"description=One element per stage\\, in the order in which they ran"`
	// Cuts has one element a cut, in the order in which the connections were opened again.
	Cuts []CopyCut `json:"cuts,omitempty" jsonschema:"description=One element per connection that was cut and opened again\\, at most 1000; as the source saw it"`
}

// MostCopyCuts is how many cuts an end of a copy reports, and after how many it gives up.
const MostCopyCuts = 1000

// CopyCut is one cut of a connection, after which the copy went on.
type CopyCut struct {
	Stage       string `json:"stage" jsonschema:"description=Stage that ran when the connection was open again"`
	Stream      int    `json:"stream" jsonschema:"minimum=0,description=Number of the connection\\, from 0"`
	StartNs     int64  `json:"start_ns" jsonschema:"minimum=0,description=From the start of the stage until the cut was noticed\\, or until the last answer before it"`
	DurationNs  int64  `json:"duration_ns" jsonschema:"minimum=0,description=Until the connection was open again"`
	ResentBytes int64  `json:"resent_bytes,omitempty" jsonschema:"description=Contents sent twice: of the file that was cut and of those that were on their way"`
}

// CutNs is for how long at least one connection was cut in a stage, ns.
func (c *Copy) CutNs(stage string) int64 {
	var all []CopyCut
	for _, cut := range c.Cuts {
		if cut.Stage == stage {
			all = append(all, cut)
		}
	}
	slices.SortStableFunc(all, func(a, b CopyCut) int { return cmp.Compare(a.StartNs, b.StartNs) })
	sum, until := int64(0), int64(0)
	for _, cut := range all {
		end := cut.StartNs + cut.DurationNs
		sum += max(0, end-max(cut.StartNs, until))
		until = max(until, end)
	}
	return sum
}

// CopyPlace is a folder of a copy and how its files were opened.
type CopyPlace struct {
	FileSystem string `json:"file_system,omitempty" jsonschema:"description=Type such as ext4\\, xfs\\, tmpfs\\, nfs or cifs; absent if the system does not tell"`
	Device     string `json:"device,omitempty" jsonschema:"description=Block device that holds the folder; absent for network file systems and those in memory"`
	FreeBytes  int64  `json:"free_bytes,omitempty" jsonschema:"description=Free space at the start"`
	Direct     bool   `json:"direct,omitempty" jsonschema:"description=Files were opened for direct I/O\\, which the system confirmed"`
	Sync       string `json:"sync,omitempty" jsonschema:"description=When written files were flushed to the device: off\\, end (once\\, after the last file) or file (each)"`
	// CachedRatio is nil where the system does not tell.
	CachedRatio *float64 `json:"cached_ratio,omitempty" jsonschema:"minimum=0,maximum=1,description=Share of the contents that was in the page cache right before they were read\\, from a sample; absent if the system does not tell"`
}

// Stages of a copy, by their names in options and documents.
const (
	StageRead    = "read"    // files are read, and their contents discarded
	StageNetwork = "network" // contents from memory cross the network and are discarded
	StageWrite   = "write"   // contents from memory are written to files
	StageAll     = "all"     // files are read, sent and written
)

// CopyStage is one stage as it ran.
type CopyStage struct {
	Stage      string `json:"stage" jsonschema:"enum=read,enum=network,enum=write,enum=all"`
	DurationNs int64  `json:"duration_ns" jsonschema:"description=From the first file to the moment when the last one was written and\\, with sync\\, flushed"`
	Files      int64  `json:"files"`
	Bytes      int64  `json:"bytes"`
	// Source and Sink are the work of either end, nil where the stage has none.
	Source *CopyWork `json:"source,omitempty"`
	Sink   *CopyWork `json:"sink,omitempty"`
}

// Bps is the rate of the stage in bits per second.
func (s CopyStage) Bps() float64 {
	if s.DurationNs <= 0 {
		return 0
	}
	return float64(s.Bytes) * 8e9 / float64(s.DurationNs)
}

// CopyWork is what one end did in one stage: the time that its loops spent, added up over
// all streams. Each stream has two loops at an end that reads or writes files, which work at
// the same time, so the sum may be up to twice the duration times the streams.
type CopyWork struct {
	Streams   int   `json:"streams"`
	FileNs    int64 `json:"file_ns" jsonschema:"description=Opening\\, creating and closing files and creating directories: the cost per file"`
	ReadNs    int64 `json:"read_ns,omitempty" jsonschema:"description=In calls that read files"`
	WriteNs   int64 `json:"write_ns,omitempty" jsonschema:"description=In calls that write files"`
	SyncNs    int64 `json:"sync_ns,omitempty" jsonschema:"description=Waiting for written files to be flushed"`
	HashNs    int64 `json:"hash_ns,omitempty" jsonschema:"description=Calculating checksums"`
	NetworkNs int64 `json:"network_ns,omitempty" jsonschema:"description=Of the source: waiting until the connection takes more; of the sink: waiting for bytes from the connection"`
	CutNs     int64 `json:"cut_ns,omitempty" jsonschema:"description=Of the loop at the network: while its connection was cut; network_ns is without it"`
	StarvedNs int64 `json:"starved_ns,omitempty" jsonschema:"description=Of the loop that sends or writes: waiting for the loop that reads or receives"`
	// NetworkBytes are sent or received.
	NetworkBytes int64 `json:"network_bytes,omitempty" jsonschema:"description=Sent or received\\, framing included"`
	BlockedNs    int64 `json:"blocked_ns,omitempty" jsonschema:"description=Of the loop that reads or receives: waiting for the loop that sends or writes"`
	// Samples are on the clock of this end, from its start of the stage.
	Samples []CopySample `json:"samples,omitempty" jsonschema:"description=Every 100 ms\\, at most 600: of a longer stage neighbours are joined"`
}

// CopySample is one interval of a stage at one end.
type CopySample struct {
	StartNs      int64 `json:"start_ns"`
	EndNs        int64 `json:"end_ns"`
	FileBytes    int64 `json:"file_bytes,omitempty" jsonschema:"description=Read from files or written to them"`
	NetworkBytes int64 `json:"network_bytes,omitempty" jsonschema:"description=Sent or received\\, framing included"`
	Files        int64 `json:"files,omitempty" jsonschema:"description=Files completed"`
	// Device counts all use of the block device of the folder, or is nil without one.
	Device *DiskCount `json:"device,omitempty" jsonschema:"description=What the block device of the folder did\\, for whatever program; absent if the folder has none"`
}

// DiskCount is what a block device did in an interval.
type DiskCount struct {
	Reads        int64 `json:"reads,omitempty" jsonschema:"description=Completed read operations"`
	Writes       int64 `json:"writes,omitempty" jsonschema:"description=Completed write operations"`
	ReadBytes    int64 `json:"read_bytes,omitempty"`
	WrittenBytes int64 `json:"written_bytes,omitempty"`
	BusyNs       int64 `json:"busy_ns,omitempty" jsonschema:"description=Time with at least one operation in flight"`
}

// CopyProgress is what a live interval of a copy has in addition to its bytes.
type CopyProgress struct {
	Stage string `json:"stage"`
	Files int64  `json:"files" jsonschema:"description=Completed in this interval"`
	// DoneRatio is the share of the stage's bytes that is done, 0 to 1.
	DoneRatio float64 `json:"done_ratio"`
}

// Stage is the stage that the figures of the trial describe: the whole copy, or the only
// stage, or nil.
func (c *Copy) Stage() *CopyStage {
	for i := range c.Stages {
		if c.Stages[i].Stage == StageAll || len(c.Stages) == 1 {
			return &c.Stages[i]
		}
	}
	return nil
}

// StageNamed is the stage of that name, or nil.
func (c *Copy) StageNamed(name string) *CopyStage {
	for i := range c.Stages {
		if c.Stages[i].Stage == name {
			return &c.Stages[i]
		}
	}
	return nil
}

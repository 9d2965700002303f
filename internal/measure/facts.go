package measure

import "strings"

// Facts are what can change a figure and stays the same during a trial.
// A member that could not be read is absent. All but Details are read before packets move.
type Facts struct {
	Hostname      string            `json:"hostname,omitempty"`
	OS            string            `json:"os"`
	Arch          string            `json:"arch"`
	Distribution  string            `json:"distribution,omitempty"`
	Kernel        string            `json:"kernel,omitempty"`
	Virtual       string            `json:"virtualization,omitempty"`
	CPUModel      string            `json:"cpu_model,omitempty"`
	CPUs          int               `json:"cpus,omitempty" jsonschema:"description=Logical processors this process may use"`
	Governor      string            `json:"cpu_governor,omitempty"`
	MemoryBytes   int64             `json:"memory_bytes,omitempty"`
	Load1         float64           `json:"load_1m,omitempty"`
	Interface     string            `json:"interface,omitempty" jsonschema:"description=Interface that carries the path"`
	MTU           int               `json:"mtu_bytes,omitempty"`
	LinkSpeedMbps int64             `json:"link_speed_mbps,omitempty"`
	Driver        string            `json:"driver,omitempty"`
	Offloads      map[string]bool   `json:"offloads,omitempty"`
	Qdisc         string            `json:"qdisc,omitempty"`
	Congestion    string            `json:"congestion_default,omitempty"`
	Sysctl        map[string]string `json:"sysctl,omitempty"`
	ClockSource   string            `json:"clock_source,omitempty"`
	Deployment    *Deployment       `json:"deployment,omitempty" jsonschema:"description=The deployment of the host; absent if the system reports neither member"`
	Details
}

// Deployment distinguishes a host that was restarted or deployed again under the
// same name. Both members are opaque: they are equal or not.
type Deployment struct {
	BootID     string `json:"boot_id,omitempty" jsonschema:"description=Changes when the operating system starts"`
	InstanceID string `json:"instance_id,omitempty" jsonschema:"description=Changes when the machine is deployed again; from cloud-init or the firmware"`
}

// Details are the facts that take longer to read than a start may wait for. They are
// read when the packets have stopped.
type Details struct {
	Processor *Processor `json:"processor,omitempty"`
	NIC       *NIC       `json:"nic,omitempty" jsonschema:"description=The device that carries the path: the interface\\, or the one below it of a VLAN"`
	RouteMTU  int        `json:"route_mtu_bytes,omitempty" jsonschema:"description=Largest packet to the peer that the system would send now: MTU of the route or of the interface\\, or what it learned of the path"`
	TimeSync  *TimeSync  `json:"time_sync,omitempty"`
	Limits    *Limits    `json:"limits,omitempty"`
	Disks     []Disk     `json:"disks,omitempty"`
	Cloud     *Cloud     `json:"cloud,omitempty"`
}

// Processor is how the processors of a host are made up. Of a virtual machine it is what
// the hypervisor shows.
type Processor struct {
	Sockets   int   `json:"sockets,omitempty"`
	Cores     int   `json:"cores,omitempty" jsonschema:"description=Physical cores that are online"`
	SMT       *bool `json:"smt,omitempty" jsonschema:"description=Several logical processors share a core"`
	NUMANodes int   `json:"numa_nodes,omitempty"`
}

// NIC is a network interface, as its driver and the system have set it up.
type NIC struct {
	Device          string           `json:"device,omitempty" jsonschema:"description=Name\\, if it is not facts.interface itself"`
	Driver          string           `json:"driver,omitempty" jsonschema:"description=Of that device\\, if it is not facts.interface"`
	Model           string           `json:"model,omitempty" jsonschema:"description=As Windows names the device"`
	PCIID           string           `json:"pci_id,omitempty" jsonschema:"description=Vendor and device as in lspci -n"`
	Bus             string           `json:"bus,omitempty"`
	NUMANode        *int             `json:"numa_node,omitempty"`
	DriverVersion   string           `json:"driver_version,omitempty"`
	Firmware        string           `json:"firmware,omitempty"`
	Queues          *Queues          `json:"queues,omitempty"`
	Rings           *Rings           `json:"rings,omitempty"`
	Coalescing      *Coalescing      `json:"coalescing,omitempty"`
	RSS             *RSS             `json:"rss,omitempty"`
	RPS             *Steering        `json:"rps,omitempty" jsonschema:"description=Receive packet steering; absent if off"`
	RFSFlows        int              `json:"rfs_flows,omitempty" jsonschema:"description=Receive flow steering: flows that all queues together remember; absent if off"`
	XPS             *Steering        `json:"xps,omitempty" jsonschema:"description=Transmit packet steering; absent if off"`
	TxQueueLen      int              `json:"tx_queue_len,omitempty"`
	VirtualFunction *VirtualFunction `json:"virtual_function,omitempty" jsonschema:"description=Of an interface whose traffic a virtual function can carry (accelerated networking)"`
}

// Queues are those of an interface: combined ones do both.
type Queues struct {
	Rx          int `json:"rx,omitempty"`
	Tx          int `json:"tx,omitempty"`
	Combined    int `json:"combined,omitempty"`
	MaxRx       int `json:"max_rx,omitempty"`
	MaxTx       int `json:"max_tx,omitempty"`
	MaxCombined int `json:"max_combined,omitempty"`
}

// Rings are the descriptors of one queue.
type Rings struct {
	Rx    int `json:"rx,omitempty"`
	Tx    int `json:"tx,omitempty"`
	MaxRx int `json:"max_rx,omitempty"`
	MaxTx int `json:"max_tx,omitempty"`
}

// Coalescing is how long the interface waits before it interrupts.
type Coalescing struct {
	RxUsecs    int  `json:"rx_usecs,omitempty"`
	RxFrames   int  `json:"rx_frames,omitempty"`
	TxUsecs    int  `json:"tx_usecs,omitempty"`
	TxFrames   int  `json:"tx_frames,omitempty"`
	AdaptiveRx bool `json:"adaptive_rx,omitempty"`
	AdaptiveTx bool `json:"adaptive_tx,omitempty"`
}

// RSS is receive side scaling: a hash of a packet's addresses and ports selects the entry
// of a table, and that the queue.
type RSS struct {
	Entries int `json:"entries"`
	Queues  int `json:"queues" jsonschema:"description=Different queues in the table"`
}

// Steering is what the queues of an interface are set to.
type Steering struct {
	Queues int    `json:"queues" jsonschema:"description=Queues that are steered"`
	CPUs   string `json:"cpus" jsonschema:"description=Processors of all of them\\, as in 0-3\\,8"`
}

// States of a [VirtualFunction].
const (
	VFAbsent  = "absent"  // no virtual function was given to the machine
	VFUnbound = "unbound" // a device of the bus without a driver
	VFApart   = "apart"   // an interface, but the synthetic one does not use it
	VFDown    = "down"    // the synthetic interface uses it, and it has no link
	VFActive  = "active"
)

// VirtualFunction is the device of an adapter that carries the traffic of a synthetic
// interface past the hypervisor's switch.
type VirtualFunction struct {
	State     string `json:"state" jsonschema:"enum=absent,enum=unbound,enum=apart,enum=down,enum=active"`
	Interface string `json:"interface,omitempty"`
	Driver    string `json:"driver,omitempty"`
	Bus       string `json:"bus,omitempty"`
	PCIID     string `json:"pci_id,omitempty"`
}

// TimeSync is what the kernel knows of its clock (adjtimex(2)).
type TimeSync struct {
	Synchronized     bool  `json:"synchronized"`
	EstimatedErrorNs int64 `json:"estimated_error_ns,omitempty"`
	MaximumErrorNs   int64 `json:"maximum_error_ns,omitempty"`
	OffsetNs         int64 `json:"offset_ns,omitempty" jsonschema:"description=Still to be corrected"`
}

// Limits are what the control group of the process and its resource limits allow: the
// smallest of the group and those above it.
type Limits struct {
	CGroup      int     `json:"cgroup,omitempty" jsonschema:"description=Version of the control groups"`
	CPUQuota    float64 `json:"cpu_quota,omitempty" jsonschema:"description=Processors' time per time; absent without a limit"`
	MemoryBytes int64   `json:"memory_bytes,omitempty" jsonschema:"description=Absent without a limit"`
	OpenFiles   int64   `json:"open_files,omitempty" jsonschema:"description=Soft limit of the process"`
}

// Disk is a block device.
type Disk struct {
	Name       string `json:"name"`
	Model      string `json:"model,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Rotational bool   `json:"rotational,omitempty"`
	Scheduler  string `json:"scheduler,omitempty"`
	// Working: the process that measured has its working folder on it. A copy may use another one.
	Working bool `json:"working_folder,omitempty" jsonschema:"description=The working folder of the process is on it"`
}

// Location is zone and region in one, as far as they are known: "us-east-1a (use1-az6)".
func (c Cloud) Location() string {
	place := c.Region
	if c.Zone != "" {
		if place = c.Zone; !strings.HasPrefix(c.Zone, c.Region) {
			place = c.Region + " " + c.Zone // a number
		}
	}
	if c.PhysicalZone != "" {
		place += " (" + c.PhysicalZone + ")"
	}
	return place
}

// Cloud is what the metadata service of a cloud says of the machine.
type Cloud struct {
	Provider     string `json:"provider" jsonschema:"enum=azure,enum=aws,enum=gcp,enum=akamai,enum=openstack"`
	InstanceType string `json:"instance_type,omitempty"`
	InstanceID   string `json:"instance_id,omitempty"`
	Region       string `json:"region,omitempty"`
	Zone         string `json:"zone,omitempty" jsonschema:"description=As the customer calls it: on Azure and AWS not the same for all customers"`
	PhysicalZone string `json:"physical_zone,omitempty" jsonschema:"description=The same for all customers"`
	Placement    string `json:"placement,omitempty" jsonschema:"description=Placement group (Azure\\, AWS) or physical host (GCP\\, Akamai); opaque"`
	// Accelerated is nil where neither the driver nor the service says.
	Accelerated *bool `json:"accelerated_networking,omitempty" jsonschema:"description=By the driver that the interface has: a virtual function (Azure)\\, ENA (AWS)\\, gVNIC (GCP); by the service on OpenStack"`
}

package cloud

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"soku/internal/measure"
)

// askTime bounds all requests of one [Ask] together.
const askTime = 200 * time.Millisecond

// linkLocal is where the metadata services of all these clouds are.
const linkLocal = "169.254.169.254"

// Answer is what a service said.
type Answer struct {
	Cloud measure.Cloud
	// Direct says of each interface that the service describes, by its Ethernet address in
	// small letters, whether it is a function of the adapter. Only OpenStack says that.
	Direct map[string]bool
}

// complete reports whether the service answered what every one of them knows.
func (a Answer) complete() bool { return a.Cloud.InstanceType != "" }

// Ask asks the service of a provider at an address, "" for its own. It takes 200 ms at
// most. What is not answered is absent; of an unknown provider that is all.
func Ask(ctx context.Context, provider, address string) Answer {
	ask := services[provider]
	if ask == nil {
		return Answer{}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if address == "" {
		address = linkLocal
	}
	a := ask(ctx, newClient(address))
	a.Cloud.Provider = provider
	return a
}

var services = map[string]func(context.Context, *client) Answer{
	Azure: azure, AWS: aws, GCP: gcp, Akamai: akamai, OpenStack: openStack,
}

// azure asks in the version of 2018-02-01: later ones add keys, the administrator's name
// and user data to the same answer. Only that of the physical zone is newer. More than five
// requests a second are refused.
func azure(ctx context.Context, c *client) (a Answer) {
	c.header.Set("Metadata", "true")
	zone := make(chan string, 1)
	go func() {
		zone <- word(string(c.get(ctx, "/metadata/instance/compute/physicalZone?api-version=2023-11-15&format=text")))
	}()
	a.Cloud = azureInstance(c.get(ctx, "/metadata/instance/compute?api-version=2018-02-01&format=json"))
	a.Cloud.PhysicalZone = <-zone
	return a
}

func azureInstance(body []byte) measure.Cloud {
	var v struct {
		VMSize, VMID, Location, Zone, PlacementGroupID string
	}
	_ = json.Unmarshal(body, &v) // members of another type are left out
	return measure.Cloud{
		InstanceType: word(v.VMSize), InstanceID: word(v.VMID), Region: word(v.Location), Zone: word(v.Zone),
		Placement: word(v.PlacementGroupID),
	}
}

// aws speaks version 2 of the service, with a token. The identity document would have it
// all in one answer, and signed: it is a credential.
func aws(ctx context.Context, c *client) (a Answer) {
	if !c.token(ctx, "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token") {
		return a
	}
	const at = "/latest/meta-data/"
	var partition string
	v := &a.Cloud
	c.texts(ctx, map[string]*string{
		at + "instance-type": &v.InstanceType, at + "instance-id": &v.InstanceID,
		at + "placement/region": &v.Region, at + "placement/availability-zone": &v.Zone,
		at + "placement/availability-zone-id": &v.PhysicalZone,
		at + "placement/group-name":           &v.Placement, at + "placement/partition-number": &partition,
	})
	if v.Placement != "" && partition != "" {
		v.Placement += "/" + partition
	}
	return a
}

// gcp asks for single values: the folder of attributes has scripts and keys of users, and
// in it only the place of the host is asked for.
func gcp(ctx context.Context, c *client) (a Answer) {
	const (
		at     = "/computeMetadata/v1/instance/"
		flavor = "Metadata-Flavor"
	)
	c.header.Set(flavor, "Google")
	body, header := c.do(ctx, "GET", at+"machine-type", nil)
	if header.Get(flavor) != "Google" {
		return a // something else answers there
	}
	v := &a.Cloud
	c.texts(ctx, map[string]*string{at + "id": &v.InstanceID, at + "zone": &v.Zone, at + "attributes/physical_host": &v.Placement})
	v.InstanceType, v.Zone = last(word(string(body))), last(v.Zone) // projects/NUMBER/zones/us-central1-a
	if i := strings.LastIndexByte(v.Zone, '-'); i > 0 {
		v.Region = v.Zone[:i]
	}
	return a
}

func akamai(ctx context.Context, c *client) (a Answer) {
	if !c.token(ctx, "/v1/token", "Metadata-Token-Expiry-Seconds", "Metadata-Token") {
		return a
	}
	c.header.Set("Accept", "application/json")
	a.Cloud = akamaiInstance(c.get(ctx, "/v1/instance"))
	return a
}

func akamaiInstance(body []byte) measure.Cloud {
	var v struct {
		ID           json.Number `json:"id"`
		Region, Type string
		HostUUID     string `json:"host_uuid"`
	}
	_ = json.Unmarshal(body, &v)
	return measure.Cloud{
		InstanceType: word(v.Type), InstanceID: word(v.ID.String()), Region: word(v.Region), Placement: word(v.HostUUID),
	}
}

// openStack asks for single values in the manner of EC2: meta_data.json has keys and a seed
// for random numbers, too.
func openStack(ctx context.Context, c *client) (a Answer) {
	const at = "/latest/meta-data/"
	v := &a.Cloud
	c.texts(ctx, map[string]*string{
		at + "instance-type": &v.InstanceType, at + "instance-id": &v.InstanceID, at + "placement/availability-zone": &v.Zone,
	})
	a.Direct = openStackLinks(c.get(ctx, "/openstack/latest/network_data.json"))
	return a
}

// mostLinks bounds the interfaces of one machine.
const mostLinks = 64

func openStackLinks(body []byte) map[string]bool {
	var v struct {
		Links []struct {
			Address string `json:"ethernet_mac_address"`
			Type    string `json:"type"`
		} `json:"links"`
	}
	if json.Unmarshal(body, &v) != nil || len(v.Links) > mostLinks {
		return nil
	}
	direct := map[string]bool{}
	for _, l := range v.Links {
		if address := strings.ToLower(word(l.Address)); address != "" {
			direct[address] = l.Type == "hw_veb" || l.Type == "hostdev_physical" // SR-IOV without and with a switch of its own
		}
	}
	return direct
}

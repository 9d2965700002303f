package host

import "soku/internal/measure"

// deployment says which deployment of this machine runs now: nil where the
// system reports neither a boot nor an instance. All of it is read from files
// of this machine, never asked for over the network.
func deployment() *measure.Deployment {
	d := measure.Deployment{BootID: bootID(), InstanceID: instanceID()}
	if d == (measure.Deployment{}) {
		return nil
	}
	return &d
}

package vercel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Limits of the API that no plan of the team changes (sections 6.1 and 11).
const (
	defaultVCPUs    = 2
	memoryPerVCPU   = 2048 // MiB
	mostEnvironment = 4096 // bytes of all names and values
	firstPort       = 1024
	lastPort        = 65535
	mostPorts       = 15
	shortestTimeout = time.Second
	longestTimeout  = 24 * time.Hour
	mostSnapshots   = 10
	shortestExpiry  = 24 * time.Hour
	longestExpiry   = 10 * 365 * 24 * time.Hour
)

type checker struct{ gaps []backends.Gap }

func (c *checker) require(holds bool, attribute, detail string, values ...any) {
	if !holds {
		c.gaps = append(c.gaps, backends.Gap{Attribute: attribute, Detail: fmt.Sprintf(detail, values...)})
	}
}

// CheckSpec implements [backends.Checker].
func (b *Backend) CheckSpec(_ backends.Kind, spec backends.Spec) []backends.Gap {
	var c checker
	c.resources(spec)
	c.environment(spec)
	c.labels(spec.Labels)
	c.ports(spec.Ports)
	c.require(spec.Timeout == 0 || spec.Timeout >= shortestTimeout && spec.Timeout <= longestTimeout, "timeout",
		"A session runs for %s to %s.", shortestTimeout, longestTimeout)
	c.retention(spec.Retention)
	c.regions(spec.Vercel)
	return c.gaps
}

// resources checks the pairs of CPUs and memory.
func (c *checker) resources(spec backends.Spec) {
	whole := spec.CPUs == float64(int(spec.CPUs))
	c.require(spec.CPUs == 0 || whole && spec.CPUs >= 1 && (spec.CPUs == 1 || int(spec.CPUs)%2 == 0), "cpus",
		"The number of vCPUs is 1 or even.")
	if spec.MemoryMiB == 0 {
		return
	}
	if spec.CPUs != 0 {
		c.require(float64(spec.MemoryMiB) == spec.CPUs*memoryPerVCPU, "memory_mib",
			"Memory comes with the vCPUs, %d MiB each: leave it out, or ask for %d.", memoryPerVCPU, int64(spec.CPUs*memoryPerVCPU))
		return
	}
	vcpus := spec.MemoryMiB / memoryPerVCPU
	c.require(spec.MemoryMiB%memoryPerVCPU == 0 && vcpus >= 1 && (vcpus == 1 || vcpus%2 == 0), "memory_mib",
		"Memory comes with the vCPUs, %d MiB each, and the number of vCPUs is 1 or even.", memoryPerVCPU)
}

func (c *checker) environment(spec backends.Spec) {
	size := 0
	for name, value := range spec.EnvironmentWithSecrets() {
		size += len(name) + len(value)
	}
	c.require(size <= mostEnvironment, "environment",
		"Environment and secrets have %d bytes of names and values; %d are possible.", size, mostEnvironment)
}

func (c *checker) labels(labels map[string]string) {
	c.require(len(labels) <= mostLabels, "labels", "Labels are tags of the sandbox, of which %d are left besides our own.", mostLabels)
	for name, value := range labels {
		if name == "" || len(name) > longestTag || len(value) > longestTag {
			c.require(false, "labels", "A label has a name, and name and value have at most %d bytes each.", longestTag)
			return
		}
		if strings.HasPrefix(name, ownTags) {
			c.require(false, "labels", "Names that begin with %q are our own.", ownTags)
			return
		}
	}
}

func (c *checker) ports(ports []backends.Port) {
	c.require(len(ports) <= mostPorts, "ports", "At most %d ports are published.", mostPorts)
	seen := map[int]bool{}
	for _, port := range ports {
		if port.Port < firstPort || port.Port > lastPort || seen[port.Port] {
			c.require(false, "ports", "A port is between %d and %d, and published once.", firstPort, lastPort)
			return
		}
		seen[port.Port] = true
	}
}

func (c *checker) retention(retention *backends.SnapshotRetention) {
	if retention == nil {
		return
	}
	c.require(retention.KeepLast >= 0 && retention.KeepLast <= mostSnapshots, "snapshot_retention.keep_last",
		"The platform keeps 1 to %d of the last snapshots, or all.", mostSnapshots)
	expiry := retention.Expiration
	c.require(expiry == 0 || expiry >= shortestExpiry && expiry <= longestExpiry, "snapshot_retention.expiration",
		"Snapshots expire after %s at the earliest, after ten years at the latest, or never.", shortestExpiry)
}

func (c *checker) regions(options *backends.VercelOptions) {
	if options == nil {
		return
	}
	c.require(options.Region != "" || len(options.FailoverRegions) == 0, "vercel.failover_regions",
		"Failover regions come with a region.")
	c.require(options.Region == "" || !slices.Contains(options.FailoverRegions, options.Region), "vercel.failover_regions",
		"The region itself is none to fail over to.")
}

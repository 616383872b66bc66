package vercel

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// configuration holds what create, fork and update have in common. Absent members are nil.
type configuration struct {
	Ports              *[]int             `json:"ports"`
	Timeout            *int64             `json:"timeout"`
	Resources          *resources         `json:"resources"`
	Persistent         *bool              `json:"persistent"`
	NetworkPolicy      json.RawMessage    `json:"networkPolicy"`
	NetworkID          *string            `json:"networkId"`
	Env                *map[string]string `json:"env"`
	Tags               *map[string]string `json:"tags"`
	SnapshotExpiration *int64             `json:"snapshotExpiration"`
	KeepLastSnapshots  json.RawMessage    `json:"keepLastSnapshots"`
	Region             *string            `json:"region"`
	FailoverRegions    *[]string          `json:"failoverRegions"`
	Mounts             json.RawMessage    `json:"mounts"`
}

type resources struct {
	VCPUs  *int `json:"vcpus"`
	Memory *int `json:"memory"`
}

var sandboxName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// reservedNames are segments of other paths.
var reservedNames = []string{"sessions", "snapshots", "drives"}

func checkName(name string) error {
	if len(name) > maxName || !sandboxName.MatchString(name) {
		return badRequest("`name` should match pattern \"^[a-zA-Z0-9_-]+$\" and have at most %d characters", maxName)
	}
	if slices.Contains(reservedNames, name) {
		return badRequest("`name` is reserved")
	}
	return nil
}

// apply checks the configuration and puts it into sb, which the caller discards on an error.
func (c configuration) apply(sb *sandbox, plan limits, settings Settings) error {
	for _, step := range []func(*sandbox, limits, Settings) error{
		c.applyPorts, c.applyTimeout, c.applyResources, c.applyPolicy, c.applyTexts, c.applySnapshots, c.applyRegions,
	} {
		if err := step(sb, plan, settings); err != nil {
			return err
		}
	}
	if c.Persistent != nil {
		sb.Persistent = *c.Persistent
	}
	if c.NetworkID != nil {
		sb.NetworkID = *c.NetworkID
	}
	if mounts := string(c.Mounts); mounts != "" && mounts != "{}" {
		return unsupported("it has no drives to mount")
	}
	return nil
}

func (c configuration) applyPorts(sb *sandbox, _ limits, _ Settings) error {
	if c.Ports == nil {
		return nil
	}
	if len(*c.Ports) > maxPorts {
		return badRequest("`ports` should NOT have more than %d items", maxPorts)
	}
	for i, port := range *c.Ports {
		if port < minPort || port > maxPort {
			return badRequest("`ports` should be between %d and %d", minPort, maxPort)
		}
		if slices.Contains((*c.Ports)[:i], port) {
			return badRequest("`ports` should NOT have duplicate items")
		}
	}
	sb.Ports = *c.Ports
	return nil
}

func (c configuration) applyTimeout(sb *sandbox, plan limits, _ Settings) error {
	if c.Timeout == nil {
		return nil
	}
	if *c.Timeout < minTimeout {
		return badRequest("`timeout` should be >= %d", minTimeout)
	}
	if *c.Timeout > plan.session.Milliseconds() {
		return timeoutInvalid(plan)
	}
	sb.Timeout = *c.Timeout
	return nil
}

func timeoutInvalid(plan limits) error {
	return fail(400, codeTimeoutInvalid, "The timeout exceeds the maximum of the plan, %d ms.", plan.session.Milliseconds())
}

func (c configuration) applyResources(sb *sandbox, plan limits, _ Settings) error {
	if c.Resources == nil {
		return nil
	}
	if c.Resources.VCPUs != nil {
		vcpus := *c.Resources.VCPUs
		if vcpus < 1 || vcpus != 1 && vcpus%2 != 0 {
			return badRequest("`resources.vcpus` should be 1 or even")
		}
		if vcpus > plan.vcpus {
			return badRequest("`resources.vcpus` should be at most %d with this plan", plan.vcpus)
		}
		sb.VCPUs = vcpus
	}
	if c.Resources.Memory != nil && *c.Resources.Memory != sb.VCPUs*memoryPerVCPU {
		return badRequest("`resources.memory` should be vcpus x %d", memoryPerVCPU)
	}
	return nil
}

func (c configuration) applyPolicy(sb *sandbox, _ limits, settings Settings) error {
	if c.NetworkPolicy == nil {
		return nil
	}
	parsed, err := parsePolicy(c.NetworkPolicy, settings)
	if err == nil {
		sb.Policy = parsed
	}
	return err
}

func (c configuration) applyTexts(sb *sandbox, _ limits, _ Settings) error {
	if c.Env != nil {
		size := 0
		for name, value := range *c.Env {
			size += len(name) + len(value)
		}
		if size > maxEnvBytes {
			return fail(400, codeBadRequest, "env payload too large")
		}
		sb.Env = maps.Clone(*c.Env)
	}
	if c.Tags == nil {
		return nil
	}
	if len(*c.Tags) > maxTags {
		return badRequest("`tags` should NOT have more than %d properties", maxTags)
	}
	for name, value := range *c.Tags {
		if name == "" || len(name) > maxTagValue || len(value) > maxTagValue {
			return badRequest("`tags` should have names and values of at most %d characters", maxTagValue)
		}
	}
	sb.Tags = maps.Clone(*c.Tags)
	return nil
}

func (c configuration) applySnapshots(sb *sandbox, _ limits, _ Settings) error {
	if c.SnapshotExpiration != nil {
		if err := checkExpiration("snapshotExpiration", *c.SnapshotExpiration); err != nil {
			return err
		}
		sb.SnapshotExpiration = c.SnapshotExpiration
	}
	if c.KeepLastSnapshots == nil {
		return nil
	}
	if string(c.KeepLastSnapshots) == "null" {
		sb.KeepLast = nil
		return nil
	}
	var wanted struct {
		Count         int    `json:"count"`
		Expiration    *int64 `json:"expiration"`
		DeleteEvicted *bool  `json:"deleteEvicted"`
	}
	if err := decodeStrictly(c.KeepLastSnapshots, &wanted, "keepLastSnapshots"); err != nil {
		return err
	}
	if wanted.Count < 1 || wanted.Count > maxRetention {
		return badRequest("`keepLastSnapshots.count` should be between 1 and %d", maxRetention)
	}
	if wanted.Expiration != nil {
		if err := checkExpiration("keepLastSnapshots.expiration", *wanted.Expiration); err != nil {
			return err
		}
	}
	sb.KeepLast = &retention{Count: wanted.Count, Expiration: wanted.Expiration, DeleteEvicted: wanted.DeleteEvicted == nil || *wanted.DeleteEvicted}
	return nil
}

func checkExpiration(name string, value int64) error {
	if value != 0 && (value < day || value > maxExpiry) {
		return badRequest("`%s` should be 0 or between %d and %d", name, day, int64(maxExpiry))
	}
	return nil
}

func (c configuration) applyRegions(sb *sandbox, _ limits, _ Settings) error {
	if c.Region != nil {
		sb.Region = *c.Region
	}
	if c.FailoverRegions != nil {
		sb.FailoverRegions = *c.FailoverRegions
	}
	for _, region := range append([]string{sb.Region}, sb.FailoverRegions...) {
		if !slices.Contains(regions, region) {
			return badRequest("%q is not a region", region)
		}
	}
	if slices.Contains(sb.FailoverRegions, sb.Region) {
		return badRequest("`failoverRegions` should not contain `region`")
	}
	return nil
}

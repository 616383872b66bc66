package vercel

import (
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// wanted is a specification in the words of the API. What the API has a default for is always sent,
// since its defaults differ between versions (section 1).
type wanted struct {
	resources  *api.Resources
	timeout    *api.Duration
	policy     *api.NetworkPolicy
	ports      []int
	expiration *api.Duration
	keepLast   *api.Retention // nil: all
	region     string         // empty: the platform's choice
	failover   []string       // nil: the platform's choice
}

func wantedOf(spec backends.Spec) wanted {
	full := capabilities().Effective(spec)
	w := wanted{
		resources: &api.Resources{VCPUs: int(full.CPUs), Memory: int(full.MemoryMiB)},
		timeout:   api.Span(full.Timeout),
		policy:    policyOf(full.Network),
		ports:     []int{},
		// Data goes only when the configuration says so: by default, snapshots never expire.
		expiration: api.Span(0),
	}
	for _, port := range spec.Ports {
		w.ports = append(w.ports, port.Port)
	}
	if kept := spec.Retention; kept != nil {
		w.expiration = api.Span(kept.Expiration)
		if kept.KeepLast > 0 {
			evict := true
			w.keepLast = &api.Retention{Count: api.Int(kept.KeepLast), DeleteEvicted: &evict}
		}
	}
	if options := spec.Vercel; options != nil && options.Region != "" {
		w.region, w.failover = options.Region, append([]string{}, options.FailoverRegions...)
	}
	return w
}

func policyOf(network backends.Network) *api.NetworkPolicy {
	if network.Mode != backends.NetworkRestricted {
		return &api.NetworkPolicy{Mode: network.Mode}
	}
	return &api.NetworkPolicy{
		Mode: api.PolicyCustom, AllowedDomains: network.AllowDomains,
		AllowedCIDRs: network.AllowCIDRs, DeniedCIDRs: network.DenyCIDRs,
	}
}

func networkOf(policy *api.PolicyState) backends.Network {
	switch {
	case policy == nil:
		return backends.Network{Mode: backends.NetworkAllowAll}
	case policy.Mode != api.PolicyCustom:
		return backends.Network{Mode: policy.Mode}
	}
	return backends.Network{
		Mode: backends.NetworkRestricted, AllowDomains: policy.AllowedDomains,
		AllowCIDRs: policy.AllowedCIDRs, DenyCIDRs: policy.DeniedCIDRs,
	}
}

// createRequest is the request for a new sandbox. The source snapshot of a clone is looked up before.
func createRequest(marks backends.Marks, spec backends.Spec) api.CreateRequest {
	w := wantedOf(spec)
	persistent := marks.Kind == backends.Persistent
	return api.CreateRequest{
		Name: marks.Name, Source: sourceOf(spec.Source), Image: spec.Source.Image, Runtime: spec.Source.Runtime,
		Persistent: &persistent, Ports: w.ports, Timeout: w.timeout, Resources: w.resources, NetworkPolicy: w.policy,
		Env: spec.EnvironmentWithSecrets(), Tags: tagsOf(marks, spec.Labels),
		SnapshotExpiration: w.expiration, KeepLastSnapshots: w.keepLast, Region: w.region, FailoverRegions: w.failover,
	}
}

func sourceOf(source backends.Source) *api.Source {
	switch {
	case source.SnapshotID != "":
		return api.FromSnapshot(source.SnapshotID)
	case source.GitURL != "":
		from := api.FromGit(source.GitURL, source.GitRevision)
		from.Depth = source.GitDepth
		return from
	case source.TarballURL != "":
		return api.FromTarball(source.TarballURL)
	}
	return nil
}

// updateRequest brings a sandbox to a specification. The environment is replaced as a whole, and left
// as it is when the values of its secrets are not at hand.
func updateRequest(marks backends.Marks, spec backends.Spec) api.UpdateRequest {
	w := wantedOf(spec)
	persistent := marks.Kind == backends.Persistent
	request := api.UpdateRequest{
		Persistent: &persistent, Resources: w.resources, Timeout: w.timeout, NetworkPolicy: w.policy, Ports: w.ports, Tags: tagsOf(marks, spec.Labels),
		SnapshotExpiration: w.expiration, KeepLastSnapshots: w.keepLast, RemoveKeepLast: w.keepLast == nil,
		Region: w.region, FailoverRegions: w.failover,
	}
	if replacesEnvironment(spec) {
		request.Env = spec.EnvironmentWithSecrets()
	}
	return request
}

func replacesEnvironment(spec backends.Spec) bool {
	return spec.Secrets != nil || len(spec.SecretNames) == 0
}

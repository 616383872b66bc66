package vercel

import (
	"maps"
	"slices"

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

// updateRequest brings a sandbox to a specification: it holds what differs, and the environment, which
// is never told, unless that is known to be as it was. The environment is replaced as a whole, and left
// as it is when the values of its secrets are not at hand.
func updateRequest(marks backends.Marks, spec backends.Spec, from api.SandboxState) api.UpdateRequest {
	w, has := wantedOf(spec), from.Sandbox
	var request api.UpdateRequest
	if persistent := marks.Kind == backends.Persistent; has.Persistent != persistent {
		request.Persistent = &persistent
	}
	if has.VCPUs != float64(w.resources.VCPUs) || has.Memory != float64(w.resources.Memory) {
		request.Resources = w.resources
	}
	if has.Timeout != *w.timeout {
		request.Timeout = w.timeout
	}
	if !samePolicy(*w.policy, has.NetworkPolicy) {
		request.NetworkPolicy = w.policy
	}
	var ports []int
	for _, route := range published(from.Routes) {
		ports = append(ports, int(route.Port))
	}
	if !sameSet(w.ports, ports) {
		request.Ports = w.ports
	}
	if tags := tagsOf(marks, spec.Labels); !maps.Equal(tags, has.Tags) {
		request.Tags = tags
	}
	if has.SnapshotExpiration == nil || *has.SnapshotExpiration != *w.expiration {
		request.SnapshotExpiration = w.expiration
	}
	if !sameRetention(w.keepLast, has.KeepLastSnapshots) {
		request.KeepLastSnapshots, request.RemoveKeepLast = w.keepLast, w.keepLast == nil
	}
	if w.region != "" && (w.region != has.Region || !slices.Equal(w.failover, has.FailoverRegions)) {
		request.Region, request.FailoverRegions = w.region, w.failover
	}
	if replacesEnvironment(spec) {
		request.Env = spec.EnvironmentWithSecrets()
	}
	return request
}

// sameRetention compares what is wanted with what is told; nil keeps all.
func sameRetention(want, has *api.Retention) bool {
	if want == nil || has == nil {
		return want == nil && has == nil
	}
	return want.Count == has.Count && has.Expiration == nil && has.DeleteEvicted != nil && *has.DeleteEvicted == *want.DeleteEvicted
}

func replacesEnvironment(spec backends.Spec) bool {
	return !spec.EnvironmentKept && (spec.Secrets != nil || len(spec.SecretNames) == 0)
}

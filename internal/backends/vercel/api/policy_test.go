package api

import (
	"errors"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestEncodePolicy writes each policy in both forms of section 5.6. No text means that it is refused.
func TestEncodePolicy(t *testing.T) {
	custom := func(change func(*NetworkPolicy)) NetworkPolicy {
		policy := NetworkPolicy{Mode: PolicyCustom}
		change(&policy)
		return policy
	}
	header := []PolicyRule{{
		Match:     &RuleMatch{Path: &Matcher{StartsWith: "/v1"}, Method: []string{"GET"}, Headers: []EntryMatcher{{Key: &Matcher{Exact: "X"}, Value: &Matcher{Regex: "^a"}}}},
		Transform: []HeaderTransform{{Headers: map[string]string{"Authorization": "Bearer b"}}},
	}}
	for _, test := range []struct {
		name          string
		policy        NetworkPolicy
		allow, custom string
	}{
		{"allow all", NetworkPolicy{Mode: PolicyAllowAll}, `{"mode":"allow-all"}`, `{"mode":"allow-all"}`},
		{"deny all", NetworkPolicy{Mode: PolicyDenyAll}, `{"mode":"deny-all"}`, `{"mode":"deny-all"}`},
		{"nothing", NetworkPolicy{Mode: PolicyCustom}, `{"allow":[]}`, `{"mode":"custom","allowedDomains":[]}`},
		{"domains", custom(func(p *NetworkPolicy) { p.AllowedDomains = []string{"a.b", "*.c.d"} }), `{"allow":["a.b","*.c.d"]}`, `{"mode":"custom","allowedDomains":["a.b","*.c.d"]}`},
		{"subnets", custom(func(p *NetworkPolicy) {
			p.AllowedCIDRs, p.DeniedCIDRs = []string{"10.0.0.0/8"}, []string{"10.1.0.0/16"}
		}), `{"allow":[],"subnets":{"allow":["10.0.0.0/8"],"deny":["10.1.0.0/16"]}}`, `{"mode":"custom","allowedDomains":[],"allowedCIDRs":["10.0.0.0/8"],"deniedCIDRs":["10.1.0.0/16"]}`},
		{"denied only", custom(func(p *NetworkPolicy) { p.DeniedCIDRs = []string{"10.1.0.0/16"} }), `{"allow":[],"subnets":{"deny":["10.1.0.0/16"]}}`, `{"mode":"custom","allowedDomains":[],"deniedCIDRs":["10.1.0.0/16"]}`},
		{
			"headers",
			custom(func(p *NetworkPolicy) {
				p.AllowedDomains, p.Rules = []string{"a.b"}, map[string][]PolicyRule{"api.x": header}
			}),
			`{"allow":{"a.b":[],"api.x":[{"match":{"path":{"startsWith":"/v1"},"method":["GET"],"headers":[{"key":{"exact":"X"},"value":{"regex":"^a"}}]},"transform":[{"headers":{"Authorization":"Bearer b"}}]}]}}`,
			`{"mode":"custom","allowedDomains":["a.b","api.x"],"injectionRules":[{"domain":"api.x","headers":{"Authorization":"Bearer b"},"match":{"path":{"startsWith":"/v1"},"method":["GET"],"headers":[{"key":{"exact":"X"},"value":{"regex":"^a"}}]}}]}`,
		},
		{"forward", custom(func(p *NetworkPolicy) { p.Rules = map[string][]PolicyRule{"a.b": {{ForwardURL: "https://c.d"}}} }), `{"allow":{"a.b":[{"forwardURL":"https://c.d"}]}}`, ""},
		{"response", custom(func(p *NetworkPolicy) {
			p.Rules = map[string][]PolicyRule{"a.b": {{Response: &DirectResponse{StatusCode: 403, Body: pointer("no"), ContentType: "text/plain"}}}}
		}), `{"allow":{"a.b":[{"response":{"statusCode":403,"body":"no","contentType":"text/plain"}}]}}`, ""},
		{"rule that does nothing", custom(func(p *NetworkPolicy) { p.Rules = map[string][]PolicyRule{"a.b": {{}}} }), "", ""},
		{"rule that does two things", custom(func(p *NetworkPolicy) {
			p.Rules = map[string][]PolicyRule{"a.b": {{ForwardURL: "https://c.d", Transform: []HeaderTransform{{}}}}}
		}), "", ""},
		{"mode with domains", NetworkPolicy{Mode: PolicyDenyAll, AllowedDomains: []string{"a.b"}}, "", ""},
		{"mode of old", NetworkPolicy{Mode: "default-deny"}, "", ""},
	} {
		for form, want := range map[NetworkPolicyForm]string{AllowForm: test.allow, CustomForm: test.custom} {
			got, err := encodePolicy(&test.policy, form)
			if want == "" {
				if !errors.Is(err, backends.Invalid) {
					t.Errorf("%s, %s: got %s and %v", test.name, form, got, err)
				}
			} else if err != nil || !sameJSON(string(got), want) {
				t.Errorf("%s, %s: got %s and %v, want %s", test.name, form, got, err, want)
			}
		}
	}
	if got, err := encodePolicy(nil, AllowForm); got != nil || err != nil {
		t.Errorf("no policy stays none: %s, %v", got, err)
	}
}

// TestPolicyForm: the switch reaches every call that sends a policy.
func TestPolicyForm(t *testing.T) {
	s := serve(t, anyAnswer)
	c := clientOf(t, s, func(c *Config) { c.NetworkPolicyForm = CustomForm })
	policy := NetworkPolicy{Mode: PolicyCustom, AllowedDomains: []string{"a.b"}}
	ctx := t.Context()
	for _, send := range []func() error{
		func() error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "a", NetworkPolicy: &policy})
			return err
		},
		func() error {
			_, err := c.ForkSandbox(ctx, "a", ForkRequest{Name: "b", NetworkPolicy: &policy})
			return err
		},
		func() error { _, err := c.UpdateSandbox(ctx, "a", UpdateRequest{NetworkPolicy: &policy}); return err },
		func() error { _, err := c.SetNetworkPolicy(ctx, "sbx_S", policy); return err },
	} {
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"mode":"custom","allowedDomains":["a.b"]}`
	for i, body := range []string{
		`{"name":"a","ports":[],"projectId":"prj_p","networkPolicy":` + want + `}`, `{"name":"b","networkPolicy":` + want + `}`,
		`{"networkPolicy":` + want + `}`, want,
	} {
		if got := s.all()[i].body; !sameJSON(got, body) {
			t.Errorf("got %s, want %s", got, body)
		}
	}
}

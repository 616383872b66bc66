package api

import (
	"encoding/json"
	"maps"
	"slices"
)

// NetworkPolicyForm is how a custom network policy is written in requests. The endpoints are known
// to accept one or the other (section 5.6); the modes without members look the same in both.
type NetworkPolicyForm string

const (
	// AllowForm is what the SDK sends: {"allow": …, "subnets": …}.
	AllowForm NetworkPolicyForm = "allow"
	// CustomForm is the reference's: {"mode": "custom", "allowedDomains": …}. It has no place for
	// rules that forward or respond.
	CustomForm NetworkPolicyForm = "custom"
)

type subnets struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

type customPolicy struct {
	Mode           string               `json:"mode"`
	AllowedDomains []string             `json:"allowedDomains"`
	AllowedCIDRs   []string             `json:"allowedCIDRs,omitempty"`
	DeniedCIDRs    []string             `json:"deniedCIDRs,omitempty"`
	InjectionRules []injectionRuleToAsk `json:"injectionRules,omitempty"`
}

type injectionRuleToAsk struct {
	Domain  string            `json:"domain"`
	Headers map[string]string `json:"headers"`
	Match   *RuleMatch        `json:"match,omitempty"`
}

// encodePolicy writes a policy in the given form; nil stays nil. Errors: [backends.Invalid].
func encodePolicy(policy *NetworkPolicy, form NetworkPolicyForm) (json.RawMessage, error) {
	if policy == nil {
		return nil, nil
	}
	var shape any
	switch {
	case policy.Mode == PolicyAllowAll || policy.Mode == PolicyDenyAll:
		if policy.hasMembers() {
			return nil, invalidPolicy("The mode " + policy.Mode + " takes no domains, subnets and rules.")
		}
		shape = map[string]string{"mode": policy.Mode}
	case policy.Mode != PolicyCustom:
		return nil, invalidPolicy("The mode is none of allow-all, deny-all, custom.")
	default:
		if err := policy.checkRules(form); err != nil {
			return nil, err
		}
		shape = policy.allowShape()
		if form == CustomForm {
			shape = policy.customShape()
		}
	}
	data, err := json.Marshal(shape)
	if err != nil {
		return nil, invalidPolicy("It cannot be written as JSON.")
	}
	return data, nil
}

func (p *NetworkPolicy) hasMembers() bool {
	return len(p.AllowedDomains)+len(p.AllowedCIDRs)+len(p.DeniedCIDRs)+len(p.Rules) > 0
}

func (p *NetworkPolicy) checkRules(form NetworkPolicyForm) error {
	for _, rules := range p.Rules {
		for _, rule := range rules {
			set := 0
			for _, is := range []bool{len(rule.Transform) > 0, rule.ForwardURL != "", rule.Response != nil} {
				if is {
					set++
				}
			}
			if set != 1 {
				return invalidPolicy("A rule does exactly one of transform, forward and respond.")
			}
			if form == CustomForm && len(rule.Transform) == 0 {
				return invalidPolicy("Rules that forward or respond cannot be written in the form \"custom\".")
			}
		}
	}
	return nil
}

// allowShape always has the member allow: without it, an empty policy would be an empty object.
func (p *NetworkPolicy) allowShape() any {
	shape := struct {
		Allow   any      `json:"allow"`
		Subnets *subnets `json:"subnets,omitempty"`
	}{Allow: append([]string{}, p.AllowedDomains...)}
	if len(p.Rules) > 0 {
		byDomain := map[string][]PolicyRule{}
		for _, domain := range p.AllowedDomains {
			byDomain[domain] = []PolicyRule{}
		}
		for domain, rules := range p.Rules {
			byDomain[domain] = append([]PolicyRule{}, rules...)
		}
		shape.Allow = byDomain
	}
	if len(p.AllowedCIDRs)+len(p.DeniedCIDRs) > 0 {
		shape.Subnets = &subnets{Allow: p.AllowedCIDRs, Deny: p.DeniedCIDRs}
	}
	return shape
}

func (p *NetworkPolicy) customShape() customPolicy {
	shape := customPolicy{
		Mode: PolicyCustom, AllowedDomains: append([]string{}, p.AllowedDomains...),
		AllowedCIDRs: p.AllowedCIDRs, DeniedCIDRs: p.DeniedCIDRs,
	}
	for _, domain := range slices.Sorted(maps.Keys(p.Rules)) {
		if !slices.Contains(shape.AllowedDomains, domain) {
			shape.AllowedDomains = append(shape.AllowedDomains, domain)
		}
		for _, rule := range p.Rules[domain] {
			for _, transform := range rule.Transform {
				shape.InjectionRules = append(shape.InjectionRules, injectionRuleToAsk{domain, transform.Headers, rule.Match})
			}
		}
	}
	return shape
}

// secrets are the values of headers and direct responses.
func (p *NetworkPolicy) secrets() []string {
	if p == nil {
		return nil
	}
	var values []string
	for _, rules := range p.Rules {
		for _, rule := range rules {
			for _, transform := range rule.Transform {
				values = slices.AppendSeq(values, maps.Values(transform.Headers))
			}
			if rule.Response != nil {
				values = slices.AppendSeq(values, maps.Values(rule.Response.Headers))
				if rule.Response.Body != nil {
					values = append(values, *rule.Response.Body)
				}
			}
		}
	}
	return values
}

func invalidPolicy(detail string) error {
	return invalid("set network policy", "network", detail, "")
}

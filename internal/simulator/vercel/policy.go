package vercel

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// policy is a network policy as it is answered: by mode, with the values of headers left out.
type policy struct {
	Mode           string          `json:"mode"`
	AllowedDomains []string        `json:"allowedDomains,omitempty"`
	AllowedCIDRs   []string        `json:"allowedCIDRs,omitempty"`
	DeniedCIDRs    []string        `json:"deniedCIDRs,omitempty"`
	InjectionRules []injectionRule `json:"injectionRules,omitempty"`
	ForwardRules   []forwardRule   `json:"forwardRules,omitempty"`
}

type injectionRule struct {
	Domain      string     `json:"domain"`
	HeaderNames []string   `json:"headerNames"`
	Match       *ruleMatch `json:"match,omitempty"`
}

type forwardRule struct {
	Domain     string     `json:"domain"`
	ForwardURL string     `json:"forwardURL"`
	Match      *ruleMatch `json:"match,omitempty"`
}

type ruleMatch struct {
	Path        *matcher          `json:"path,omitempty"`
	Method      []string          `json:"method,omitempty"`
	QueryString []keyValueMatcher `json:"queryString,omitempty"`
	Headers     []keyValueMatcher `json:"headers,omitempty"`
}

type keyValueMatcher struct {
	Key   *matcher `json:"key,omitempty"`
	Value *matcher `json:"value,omitempty"`
}

type matcher struct {
	Exact      *string `json:"exact,omitempty"`
	StartsWith *string `json:"startsWith,omitempty"`
	Regex      *string `json:"regex,omitempty"`
}

const (
	modeAllowAll = "allow-all"
	modeDenyAll  = "deny-all"
	modeCustom   = "custom"
)

// requestRule is a rule of the form with "allow".
type requestRule struct {
	Match      *ruleMatch        `json:"match"`
	Transform  []headerTransform `json:"transform"`
	ForwardURL *string           `json:"forwardURL"`
	Response   *directResponse   `json:"response"`
}

type headerTransform struct {
	Headers map[string]string `json:"headers"`
}

type directResponse struct {
	StatusCode  int               `json:"statusCode"`
	Headers     map[string]string `json:"headers"`
	Body        *string           `json:"body"`
	ContentType *string           `json:"contentType"`
}

// allowForm is the form of a restricted policy that the SDK sends.
type allowForm struct {
	Allow   json.RawMessage `json:"allow"`
	Subnets struct {
		Allow []string `json:"allow"`
		Deny  []string `json:"deny"`
	} `json:"subnets"`
}

// customForm is the form that the reference of the API also lists.
type customForm struct {
	Mode           string   `json:"mode"`
	AllowedDomains []string `json:"allowedDomains"`
	AllowedCIDRs   []string `json:"allowedCIDRs"`
	DeniedCIDRs    []string `json:"deniedCIDRs"`
	InjectionRules []struct {
		Domain  string            `json:"domain"`
		Headers map[string]string `json:"headers"`
		Match   *ruleMatch        `json:"match"`
	} `json:"injectionRules"`
}

// parsePolicy reads any form of request and returns the form of answers.
func parsePolicy(content json.RawMessage, settings Settings) (*policy, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(content, &keys); err != nil {
		return nil, badRequest("`networkPolicy` should be object")
	}
	if raw, present := keys["mode"]; present {
		var mode string
		if err := json.Unmarshal(raw, &mode); err != nil {
			return nil, badRequest("`networkPolicy.mode` should be string")
		}
		switch mode {
		case modeAllowAll, modeDenyAll:
			if len(keys) > 1 {
				return nil, badRequest("`networkPolicy` of mode %s takes no other property", mode)
			}
			return &policy{Mode: mode}, nil
		case modeCustom:
			if settings.PolicyForm == PolicyFormAllow {
				return nil, badRequest("`networkPolicy.mode` should be equal to one of the allowed values \"allow-all, deny-all\"")
			}
			return parseCustomForm(content)
		}
		return nil, badRequest("`networkPolicy.mode` should be equal to one of the allowed values")
	}
	if settings.PolicyForm == PolicyFormCustom {
		return nil, badRequest("`networkPolicy` should have required property `mode`")
	}
	return parseAllowForm(content)
}

func parseCustomForm(content json.RawMessage) (*policy, error) {
	var form customForm
	if err := decodeStrictly(content, &form, "networkPolicy"); err != nil {
		return nil, err
	}
	result := &policy{Mode: modeCustom, AllowedDomains: form.AllowedDomains, AllowedCIDRs: form.AllowedCIDRs, DeniedCIDRs: form.DeniedCIDRs}
	for _, rule := range form.InjectionRules {
		if err := rule.Match.check(); err != nil {
			return nil, err
		}
		result.InjectionRules = append(result.InjectionRules, injectionRule{
			Domain: rule.Domain, HeaderNames: slices.Sorted(maps.Keys(rule.Headers)), Match: rule.Match,
		})
	}
	return result, result.check()
}

func parseAllowForm(content json.RawMessage) (*policy, error) {
	var form allowForm
	if err := decodeStrictly(content, &form, "networkPolicy"); err != nil {
		return nil, err
	}
	result := &policy{Mode: modeCustom, AllowedCIDRs: form.Subnets.Allow, DeniedCIDRs: form.Subnets.Deny}
	if len(form.Allow) == 0 {
		return result, result.check()
	}
	if json.Unmarshal(form.Allow, &result.AllowedDomains) == nil {
		return result, result.check()
	}
	var rules map[string][]requestRule
	if err := decodeStrictly(form.Allow, &rules, "networkPolicy.allow"); err != nil {
		return nil, err
	}
	for _, domain := range slices.Sorted(maps.Keys(rules)) {
		result.AllowedDomains = append(result.AllowedDomains, domain)
		for _, rule := range rules[domain] {
			if err := result.add(domain, rule); err != nil {
				return nil, err
			}
		}
	}
	return result, result.check()
}

// add puts a rule into the place where it is answered. Rules that answer requests themselves are
// checked and cannot be read back.
func (p *policy) add(domain string, rule requestRule) error {
	kinds := 0
	for _, present := range []bool{rule.Transform != nil, rule.ForwardURL != nil, rule.Response != nil} {
		if present {
			kinds++
		}
	}
	if kinds != 1 {
		return badRequest("a rule of `networkPolicy.allow` takes exactly one of `transform`, `forwardURL` and `response`")
	}
	if err := rule.Match.check(); err != nil {
		return err
	}
	switch {
	case rule.ForwardURL != nil:
		target, err := url.Parse(*rule.ForwardURL)
		if err != nil || target.Scheme != "https" || target.Host == "" || target.RawQuery != "" || target.Fragment != "" {
			return badRequest("`forwardURL` should be an HTTPS URL without query and fragment")
		}
		p.ForwardRules = append(p.ForwardRules, forwardRule{Domain: domain, ForwardURL: *rule.ForwardURL, Match: rule.Match})
	case rule.Response != nil:
		return rule.Response.check()
	default:
		names := []string{}
		for _, transform := range rule.Transform {
			names = slices.AppendSeq(names, maps.Keys(transform.Headers))
		}
		slices.Sort(names)
		p.InjectionRules = append(p.InjectionRules, injectionRule{Domain: domain, HeaderNames: slices.Compact(names), Match: rule.Match})
	}
	return nil
}

func (r *directResponse) check() error {
	if r.StatusCode < 200 || r.StatusCode > 599 {
		return badRequest("`response.statusCode` should be between 200 and 599")
	}
	if r.Body != nil && r.ContentType == nil {
		return badRequest("`response.body` needs `contentType`")
	}
	if r.Body != nil && slices.Contains([]int{http.StatusNoContent, http.StatusResetContent, http.StatusNotModified}, r.StatusCode) {
		return badRequest("a response of status %d has no body", r.StatusCode)
	}
	seen := map[string]bool{}
	for name := range r.Headers {
		lower := strings.ToLower(name)
		if slices.Contains([]string{"connection", "content-length", "transfer-encoding"}, lower) {
			return badRequest("`response.headers` must not set %s", lower)
		}
		if seen[lower] {
			return badRequest("`response.headers` has %s twice", lower)
		}
		seen[lower] = true
	}
	return nil
}

func (p *policy) check() error {
	for _, domain := range p.AllowedDomains {
		labels := strings.Split(domain, ".")
		for _, label := range labels {
			if label == "" || strings.Contains(label, "*") && label != "*" || strings.ContainsAny(label, "/: ") {
				return badRequest("%q is not a domain; a wildcard replaces a whole label", domain)
			}
		}
	}
	for _, cidr := range append(slices.Clone(p.AllowedCIDRs), p.DeniedCIDRs...) {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return badRequest("%q is not a CIDR", cidr)
		}
	}
	return nil
}

func (m *ruleMatch) check() error {
	if m == nil {
		return nil
	}
	all := []*matcher{m.Path}
	for _, pair := range append(slices.Clone(m.QueryString), m.Headers...) {
		all = append(all, pair.Key, pair.Value)
	}
	for _, one := range all {
		if err := one.check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *matcher) check() error {
	if m == nil {
		return nil
	}
	kinds := 0
	for _, value := range []*string{m.Exact, m.StartsWith, m.Regex} {
		if value != nil {
			kinds++
		}
	}
	if kinds != 1 {
		return badRequest("a matcher takes exactly one of `exact`, `startsWith` and `regex`")
	}
	if m.Regex != nil {
		if _, err := regexp.Compile(*m.Regex); err != nil {
			return badRequest("%q is not a regular expression of RE2", *m.Regex)
		}
	}
	return nil
}

package api

// Modes of network policies (section 5.6).
const (
	PolicyAllowAll = "allow-all"
	PolicyDenyAll  = "deny-all"
	// PolicyCustom denies everything that is not allowed.
	PolicyCustom = "custom"
)

// NetworkPolicy is what a sandbox may reach, as it is asked for. What the API tells is [PolicyState].
type NetworkPolicy struct {
	// Mode is one of the constants. The other members mean something in [PolicyCustom] only.
	Mode string
	// AllowedDomains may be `*`, or have `*` as one of their labels.
	AllowedDomains []string
	AllowedCIDRs   []string
	// DeniedCIDRs win over what is allowed.
	DeniedCIDRs []string
	// Rules by domain. Such a domain is allowed, too.
	Rules map[string][]PolicyRule
}

// PolicyRule does one thing with requests to a domain: exactly one of Transform, ForwardURL and
// Response is set.
type PolicyRule struct {
	Match      *RuleMatch        `json:"match,omitempty"`
	Transform  []HeaderTransform `json:"transform,omitempty"`
	ForwardURL string            `json:"forwardURL,omitempty"`
	Response   *DirectResponse   `json:"response,omitempty"`
}

// RuleMatch narrows a rule to some requests.
type RuleMatch struct {
	Path        *Matcher       `json:"path,omitempty"`
	Method      []string       `json:"method,omitempty"`
	QueryString []EntryMatcher `json:"queryString,omitempty"`
	Headers     []EntryMatcher `json:"headers,omitempty"`
}

// Matcher has one member set. Regex is RE2.
type Matcher struct {
	Exact      string `json:"exact,omitempty"`
	StartsWith string `json:"startsWith,omitempty"`
	Regex      string `json:"regex,omitempty"`
}

// EntryMatcher matches a header or a query parameter.
type EntryMatcher struct {
	Key   *Matcher `json:"key,omitempty"`
	Value *Matcher `json:"value,omitempty"`
}

// HeaderTransform sets headers. The values are secrets and are never told again.
type HeaderTransform struct {
	Headers map[string]string `json:"headers,omitempty"`
}

// DirectResponse answers in place of the domain.
type DirectResponse struct {
	StatusCode  int               `json:"statusCode"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        *string           `json:"body,omitempty"` // needs ContentType
	ContentType string            `json:"contentType,omitempty"`
}

// PolicyState is a network policy as the API tells it: without header values and without rules
// that respond.
type PolicyState struct {
	Mode           string          `json:"mode" wire:"id"`
	AllowedDomains []string        `json:"allowedDomains"`
	AllowedCIDRs   []string        `json:"allowedCIDRs"`
	DeniedCIDRs    []string        `json:"deniedCIDRs"`
	InjectionRules []InjectionRule `json:"injectionRules"`
	ForwardRules   []ForwardRule   `json:"forwardRules"`
}

// InjectionRule sets the named headers. Values that old answers still hold are not read.
type InjectionRule struct {
	Domain      string     `json:"domain" wire:"required"`
	HeaderNames []string   `json:"headerNames"`
	Match       *RuleMatch `json:"match"`
}

// ForwardRule sends requests elsewhere.
type ForwardRule struct {
	Domain     string     `json:"domain" wire:"required"`
	ForwardURL string     `json:"forwardURL" wire:"required"`
	Match      *RuleMatch `json:"match"`
}

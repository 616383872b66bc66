package vercel

import (
	"encoding/json"
	"testing"
)

func TestPolicyForms(t *testing.T) {
	for name, one := range map[string]struct{ request, want string }{
		"mode":    {`{"mode":"deny-all"}`, `{"mode":"deny-all"}`},
		"domains": {`{"allow":["example.com","*.example.net","*"]}`, `{"mode":"custom","allowedDomains":["example.com","*.example.net","*"]}`},
		"subnets": {`{"subnets":{"allow":["10.1.0.0/16"],"deny":["10.0.0.0/8"]}}`, `{"mode":"custom","allowedCIDRs":["10.1.0.0/16"],"deniedCIDRs":["10.0.0.0/8"]}`},
		"empty":   {`{}`, `{"mode":"custom"}`},
		"rules": {
			`{"allow":{"b.com":[{"match":{"path":{"startsWith":"/x"}},"transform":[{"headers":{"X-Key":"secret","A":"secret"}}]}],"a.com":[{"forwardURL":"https://f.com/x"},{"response":{"statusCode":403,"body":"no","contentType":"text/plain"}}]}}`,
			`{"mode":"custom","allowedDomains":["a.com","b.com"],"injectionRules":[{"domain":"b.com","headerNames":["A","X-Key"],"match":{"path":{"startsWith":"/x"}}}],"forwardRules":[{"domain":"a.com","forwardURL":"https://f.com/x"}]}`,
		},
		"custom": {
			`{"mode":"custom","allowedDomains":["a.com"],"allowedCIDRs":["10.0.0.0/8"],"injectionRules":[{"domain":"a.com","headers":{"K":"secret"}}]}`,
			`{"mode":"custom","allowedDomains":["a.com"],"allowedCIDRs":["10.0.0.0/8"],"injectionRules":[{"domain":"a.com","headerNames":["K"]}]}`,
		},
	} {
		parsed, err := parsePolicy(json.RawMessage(one.request), Settings{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := json.Marshal(parsed)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, string(got), one.want)
	}
}

func TestPolicyRefuses(t *testing.T) {
	for _, request := range []string{
		`[]`, `{"mode":"default-deny"}`, `{"mode":"allow-all","allow":["a.com"]}`, `{"allow":["a*.com"]}`, `{"allow":["https://a.com"]}`, `{"deny":["a.com"]}`,
		`{"subnets":{"deny":["10.0.0.1"]}}`, `{"allow":{"a.com":[{}]}}`, `{"allow":{"a.com":[{"forwardURL":"http://f.com"}]}}`, `{"allow":{"a.com":[{"forwardURL":"https://f.com?x"}]}}`,
		`{"allow":{"a.com":[{"forwardURL":"https://f.com","transform":[]}]}}`, `{"allow":{"a.com":[{"response":{"statusCode":100}}]}}`,
		`{"allow":{"a.com":[{"response":{"statusCode":200,"body":"x"}}]}}`, `{"allow":{"a.com":[{"response":{"statusCode":204,"body":"x","contentType":"a/b"}}]}}`,
		`{"allow":{"a.com":[{"response":{"statusCode":200,"headers":{"Connection":"x"}}}]}}`, `{"allow":{"a.com":[{"response":{"statusCode":200,"headers":{"A":"x","a":"y"}}}]}}`,
		`{"allow":{"a.com":[{"match":{"path":{"regex":"("}},"transform":[]}]}}`, `{"allow":{"a.com":[{"match":{"path":{"exact":"a","regex":"b"}},"transform":[]}]}}`,
	} {
		if parsed, err := parsePolicy(json.RawMessage(request), Settings{}); err == nil {
			t.Errorf("%s was taken as %+v", request, parsed)
		}
	}
	if _, err := parsePolicy(json.RawMessage(`{"allow":["a.com"]}`), Settings{PolicyForm: PolicyFormCustom}); err == nil {
		t.Error("the form with allow was taken")
	}
	if _, err := parsePolicy(json.RawMessage(`{"mode":"custom"}`), Settings{PolicyForm: PolicyFormAllow}); err == nil {
		t.Error("the custom form was taken")
	}
}

func TestPolicyOfASession(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(nil)
	answer := c.want(200, "POST", within(session, "/network-policy"), object{"allow": []string{"a.com"}})
	equal(t, "session", text(answer, "session", "networkPolicy", "mode"), "custom")
	equal(t, "sandbox", text(c.get(name), "sandbox", "networkPolicy", "mode"), "allow-all")
}

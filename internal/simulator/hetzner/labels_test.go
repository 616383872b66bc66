package hetzner

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/exp/labelutil"
)

func TestLabelsAreThoseOfTheClient(t *testing.T) {
	p := newProject(t, Config{})
	long, longer := strings.Repeat("a", 63), strings.Repeat("a", 64)
	for _, one := range []struct {
		key, value string
		valid      bool
	}{
		{"k", "v", true},
		{"k", "", true},
		{"sandlot.owner", "a-b_c.d", true},
		{"example.com/k", "1", true},
		{long, long, true},
		{"A9", "Z0", true},
		{"", "v", false},
		{longer, "v", false},
		{"k", longer, false},
		{"-k", "v", false},
		{"k-", "v", false},
		{"k", "-v", false},
		{"k", "v.", false},
		{"k", "a:b", false},
		{"k", "a/b", false},
		{"k", "a+b=", false},
		{"k", "a@b", false},
		{"k/", "v", false},
		{"/k", "v", false},
		{"a b", "v", false},
		{"k", "ä", false},
	} {
		labels := map[string]string{one.key: one.value}
		asAny := map[string]any{one.key: one.value}
		if ok, _ := hcloud.ValidateResourceLabels(asAny); ok != one.valid {
			t.Fatalf("%q=%q: the client takes it for %v", one.key, one.value, ok)
		}
		got := p.send("POST", "/placement_groups", fields{"name": one.key + "=" + one.value, "type": "spread", "labels": labels})
		equal(t, one.key+"="+one.value, got.status == 201, one.valid)
	}
	p.refused(422, codeInvalid, "labels", "POST", "/placement_groups", fields{"name": "r", "type": "spread", "labels": fields{"hetzner.cloud/k": "v"}})
}

func TestSelectors(t *testing.T) {
	p := newProject(t, Config{})
	for name, labels := range map[string]fields{
		"bare": {}, "dev": {"env": "dev"}, "prod": {"env": "prod", "tier": ""}, "mine": {"env": "prod", "sandlot.owner": "us"},
	} {
		p.want(201, "POST", "/placement_groups", fields{"name": name, "type": "spread", "labels": labels})
	}
	for selector, want := range map[string]string{
		"":                           "bare dev mine prod",
		"env":                        "dev mine prod",
		"!env":                       "bare",
		"env=prod":                   "mine prod",
		"env==prod":                  "mine prod",
		"env!=prod":                  "bare dev",
		"env in (prod,dev)":          "dev mine prod",
		"env in (dev)":               "dev",
		"env notin (prod)":           "bare dev",
		"env=prod,sandlot.owner":     "mine",
		"env=prod,!sandlot.owner":    "prod",
		"env in (prod, dev), !tier":  "dev mine",
		"tier=":                      "prod",
		"env=prod,sandlot.owner=him": "",
		labelutil.Selector(map[string]string{"env": "prod", "sandlot.owner": "us"}): "mine",
	} {
		found, err := p.hcloud.PlacementGroup.AllWithOpts(t.Context(), hcloud.PlacementGroupListOpts{ListOpts: hcloud.ListOpts{LabelSelector: selector}})
		if err != nil {
			t.Fatalf("%s: %v", selector, err)
		}
		var names []string
		for _, one := range found {
			names = append(names, one.Name)
		}
		slices.Sort(names)
		equal(t, selector, strings.Join(names, " "), want)
	}
	for _, wrong := range []string{"=v", "k=v=w", "k in", "k in (a", "k in a,b)", "a b", "k=v,", "k=a/b", "!", "k>1", "k in (a b)"} {
		p.refused(422, codeInvalid, "label_selector", "GET", "/placement_groups?label_selector="+url.QueryEscape(wrong), nil)
	}
}

// TestUpdatesOfLabels: they replace the whole map, none leaves it alone, and an empty one clears it.
func TestUpdatesOfLabels(t *testing.T) {
	p := newProject(t, Config{})
	ctx, client := t.Context(), p.hcloud.SSHKey
	key := must[*hcloud.SSHKey](t)(client.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "k", PublicKey: publicKey(t), Labels: map[string]string{"a": "1", "b": "2"}}))
	key = must[*hcloud.SSHKey](t)(client.Update(ctx, key, hcloud.SSHKeyUpdateOpts{Name: "renamed"}))
	equal(t, "left alone", len(key.Labels), 2)
	equal(t, "name", key.Name, "renamed")
	key = must[*hcloud.SSHKey](t)(client.Update(ctx, key, hcloud.SSHKeyUpdateOpts{Name: "renamed", Labels: map[string]string{"c": "3"}}))
	equal(t, "replaced", len(key.Labels), 1)
	key = must[*hcloud.SSHKey](t)(client.Update(ctx, key, hcloud.SSHKeyUpdateOpts{Labels: map[string]string{}}))
	equal(t, "cleared", len(key.Labels), 0)
	equal(t, "name", key.Name, "renamed")
}

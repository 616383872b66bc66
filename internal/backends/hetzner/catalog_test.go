package hetzner_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{OutOfStock: []simulator.Offer{{ServerType: "cx33", Location: "fsn1"}}})
	for name, row := range map[string]struct {
		serverType, location, image string
		attribute                   string
		warning                     bool
		says                        []string
	}{
		"offered":          {"cx23", "fsn1", "ubuntu-24.04", "", false, nil},
		"debian":           {"cx23", "hel1", "debian-13", "", false, nil},
		"arm":              {"cax11", "fsn1", "ubuntu-24.04", "", false, nil},
		"no such type":     {"cx99", "fsn1", "ubuntu-24.04", "server_type", false, []string{"cx99", "cx23"}},
		"no such location": {"cx23", "mars1", "ubuntu-24.04", "location", false, []string{"mars1", "fsn1"}},
		"not offered":      {"cax11", "ash", "ubuntu-24.04", "location", false, []string{"cax11", "ash", "fsn1"}},
		"no such image":    {"cx23", "fsn1", "ubuntu-99.99", "image", false, []string{"ubuntu-99.99", "ubuntu-24.04", "debian-13"}},
		"out of stock":     {"cx33", "fsn1", "ubuntu-24.04", "server_type", true, []string{"out of stock", "nbg1"}},
		"nothing known":    {"", "", "", "", false, nil},
		"only a type":      {"cx23", "", "", "", false, nil},
	} {
		problems, err := f.client.CheckCatalog(t.Context(), row.serverType, row.location, row.image)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if row.attribute == "" {
			if len(problems) != 0 {
				t.Errorf("%s: %+v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Attribute != row.attribute || problems[0].Warning != row.warning {
			t.Errorf("%s: %+v", name, problems)
			continue
		}
		for _, said := range row.says {
			if !strings.Contains(problems[0].Detail, said) {
				t.Errorf("%s: it does not say %q: %s", name, said, problems[0].Detail)
			}
		}
	}
	// One reading serves all: the types, and each image once.
	f.api.ResetRequests()
	for range 50 {
		if _, err := f.client.CheckCatalog(t.Context(), "cx23", "fsn1", "ubuntu-24.04"); err != nil {
			t.Fatal(err)
		}
	}
	if sent := f.api.Requests(); len(sent) != 0 {
		t.Errorf("%d requests were sent again", len(sent))
	}
}

// Offers that end, or have ended, and systems that hosts are not set up on.
func TestCatalogImages(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		flavor, ends string
		warning      bool
		says         string
	}{
		"another system": {"fedora", "null", true, "neither Ubuntu nor Debian"},
		"ends":           {"ubuntu", `{"announced":"2026-01-01T00:00:00Z","unavailable_after":"2099-05-06T00:00:00Z"}`, true, "until 2099-05-06"},
		"has ended":      {"debian", `{"announced":"2024-01-01T00:00:00Z","unavailable_after":"2025-05-06T00:00:00Z"}`, false, "until 2025-05-06"},
	} {
		f := newFixture(t, simulator.Settings{})
		f.inject(simkit.Fault{
			Method: "GET", Path: "/images", Status: 200, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"images":[{"id":7,"type":"system","status":"available","name":"x-1","os_flavor":"` + row.flavor + `","architecture":"x86","deprecation":` + row.ends + `}],"meta":{}}`,
		})
		problems, err := f.client.CheckCatalog(t.Context(), "cx23", "fsn1", "x-1")
		if err != nil || len(problems) != 1 || problems[0].Attribute != "image" || problems[0].Warning != row.warning || !strings.Contains(problems[0].Detail, row.says) {
			t.Errorf("%s: %+v, %v", name, problems, err)
		}
	}
}

func TestCatalogUnreadable(t *testing.T) {
	t.Parallel()
	client := hetzner.New(hetzner.Config{Endpoint: "http://127.0.0.1:1/v1", Token: strings.Repeat("a", 64), Retries: -1})
	if problems, err := client.CheckCatalog(t.Context(), "cx23", "fsn1", "ubuntu-24.04"); err == nil || problems != nil {
		t.Errorf("%+v, %v", problems, err)
	}
}

// A create that finds no capacity names what was asked for and what else there is.
func TestNoCapacity(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{StaleStock: true, OutOfStock: []simulator.Offer{{ServerType: "cx23", Location: "fsn1"}}})
	key, err := f.client.CreateSSHKey(t.Context(), "key", publicKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	address, err := f.client.CreatePrimaryIP(t.Context(), "ip", "fsn1", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = f.client.CreateServer(f.bounded(time.Minute), hetzner.ServerRequest{
		Name: "s", ServerType: "cx23", Location: "fsn1", Image: "debian-13", KeyID: key.ID, PrimaryIPID: address.ID,
	}, func(hetzner.Server) error { return errors.New("it was made") })
	if !errors.Is(err, backends.NoCapacity) || !errors.Is(err, hetzner.CodeUnavailable) {
		t.Fatalf("it ends with %v", err)
	}
	for _, said := range []string{`"cx23"`, `"fsn1"`, "nbg1", "cx33"} {
		if !strings.Contains(err.Error(), said) {
			t.Errorf("it does not say %s: %v", said, err)
		}
	}
}

// A quota is named.
func TestQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{Quotas: map[string]int{"primary_ip_limit": 0}})
	_, err := f.client.CreatePrimaryIP(t.Context(), "ip", "fsn1", nil)
	var answer *hetzner.APIError
	if !errors.Is(err, backends.NoCapacity) || !errors.As(err, &answer) || len(answer.Limits) != 1 || answer.Limits[0] != "primary_ip_limit" || !strings.Contains(err.Error(), "primary_ip_limit") {
		t.Errorf("it ends with %v, %+v", err, answer)
	}
}

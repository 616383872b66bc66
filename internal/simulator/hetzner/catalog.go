package hetzner

import (
	"strconv"
	"time"
)

// The catalog names a part of what the service offers, with all that a client may trip over: a type
// that is no longer sold, one that will not be for long, one that is not offered everywhere, an image
// that exists for two architectures, one that is deprecated, and one that can no longer be used.

type location struct {
	ID          int64   `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Country     string  `json:"country"`
	City        string  `json:"city"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	NetworkZone string  `json:"network_zone"`
}

var locations = []location{
	{1, "fsn1", "Falkenstein DC Park 1", "DE", "Falkenstein", 50.47612, 12.370071, "eu-central"},
	{2, "nbg1", "Nuremberg DC Park 1", "DE", "Nuremberg", 49.452102, 11.076665, "eu-central"},
	{3, "hel1", "Helsinki DC Park 1", "FI", "Helsinki", 60.169855, 24.938379, "eu-central"},
	{4, "ash", "Ashburn, VA", "US", "Ashburn, VA", 39.045821, -77.487073, "us-east"},
	{5, "hil", "Hillsboro, OR", "US", "Hillsboro, OR", 45.54222, -122.951924, "us-west"},
	{6, "sin", "Singapore", "SG", "Singapore", 1.283333, 103.833333, "ap-southeast"},
}

const (
	x86 = "x86"
	arm = "arm"
)

type serverType struct {
	ID           int64
	Name         string
	Description  string
	Category     string
	Cores        int
	Memory       float64 // GB
	Disk         int     // GB
	CPUType      string
	Architecture string
	Locations    []string
	// Announced and UnavailableAfter are the deprecation, as days from the start of the simulator; both
	// 0 for none.
	Announced, UnavailableAfter int
	// Hourly is the net price in ten thousandths of a euro.
	Hourly int
}

var (
	europe     = []string{"fsn1", "nbg1", "hel1"}
	everywhere = []string{"fsn1", "nbg1", "hel1", "ash", "hil", "sin"}
)

var serverTypes = []serverType{
	{ID: 1, Name: "cx11", Description: "CX11", Category: "Shared vCPU", Cores: 1, Memory: 2, Disk: 20, CPUType: "shared", Architecture: x86, Locations: europe, Announced: -400, UnavailableAfter: -100, Hourly: 53},
	{ID: 22, Name: "cpx11", Description: "CPX 11", Category: "Shared vCPU", Cores: 2, Memory: 2, Disk: 40, CPUType: "shared", Architecture: x86, Locations: []string{"ash", "hil", "sin"}, Hourly: 70},
	{ID: 45, Name: "cax11", Description: "CAX11", Category: "Shared vCPU", Cores: 2, Memory: 4, Disk: 40, CPUType: "shared", Architecture: arm, Locations: europe, Hourly: 60},
	{ID: 96, Name: "ccx13", Description: "CCX13 Dedicated CPU", Category: "Dedicated vCPU", Cores: 2, Memory: 8, Disk: 80, CPUType: "dedicated", Architecture: x86, Locations: everywhere, Hourly: 200},
	{ID: 104, Name: "cx22", Description: "CX22", Category: "Shared vCPU", Cores: 2, Memory: 4, Disk: 40, CPUType: "shared", Architecture: x86, Locations: europe, Announced: -30, UnavailableAfter: 60, Hourly: 60},
	{ID: 114, Name: "cx23", Description: "CX23", Category: "Shared vCPU", Cores: 2, Memory: 4, Disk: 40, CPUType: "shared", Architecture: x86, Locations: europe, Hourly: 56},
	{ID: 115, Name: "cx33", Description: "CX33", Category: "Shared vCPU", Cores: 4, Memory: 8, Disk: 80, CPUType: "shared", Architecture: x86, Locations: europe, Hourly: 88},
}

// systemImages are those that every project has. They are made anew by each simulator, at its start.
func systemImages(start time.Time) []*image {
	day := 24 * time.Hour
	start = start.Truncate(day)
	system := func(id int64, flavor, version, description, architecture string) *image {
		return &image{
			meta: meta{ID: id, Name: flavor + "-" + version, Labels: map[string]string{}, Created: start.Add(-365 * day)},
			Type: "system", Status: "available", Description: description, DiskSize: 5, Flavor: flavor, Version: version, Architecture: architecture,
		}
	}
	all := []*image{
		system(67794396, "ubuntu", "22.04", "Ubuntu 22.04", x86),
		system(114690387, "debian", "12", "Debian 12", x86),
		system(114690389, "debian", "12", "Debian 12", arm),
		system(161547269, "ubuntu", "24.04", "Ubuntu 24.04", x86),
		system(161547270, "ubuntu", "24.04", "Ubuntu 24.04", arm),
		system(310556183, "debian", "13", "Debian 13", x86),
		system(310556184, "debian", "13", "Debian 13", arm),
		system(15512617, "ubuntu", "20.04", "Ubuntu 20.04", x86),
		system(2, "debian", "10", "Debian 10", x86),
	}
	ubuntu, debian := all[len(all)-2], all[len(all)-1]
	ubuntu.Announced, ubuntu.UnavailableAfter = start.Add(-30*day), start.Add(60*day)
	debian.Announced, debian.UnavailableAfter = start.Add(-400*day), start.Add(-100*day)
	return all
}

type iso struct {
	ID           int64   `json:"id"`
	Name         *string `json:"name"`
	Description  string  `json:"description"`
	Type         string  `json:"type"`
	Architecture *string `json:"architecture"`
	Deprecation  *string `json:"deprecation"`
}

var isos = []iso{
	{ID: 26842, Name: pointer("debian-13.0.0-amd64-netinst.iso"), Description: "Debian 13 (amd64/netinstall)", Type: "public", Architecture: pointer(x86)},
	{ID: 26843, Name: pointer("debian-13.0.0-arm64-netinst.iso"), Description: "Debian 13 (arm64/netinstall)", Type: "public", Architecture: pointer(arm)},
}

func pointer[T any](value T) *T { return &value }

// find returns what an id or a name names; nil when there is nothing.
func find[T any](all []T, reference string, key func(*T) (int64, string)) *T {
	number, err := strconv.ParseInt(reference, 10, 64)
	for i := range all {
		id, name := key(&all[i])
		if err == nil && id == number || err != nil && name == reference {
			return &all[i]
		}
	}
	return nil
}

func findLocation(reference string) *location {
	return find(locations, reference, func(l *location) (int64, string) { return l.ID, l.Name })
}

func findServerType(reference string) *serverType {
	return find(serverTypes, reference, func(t *serverType) (int64, string) { return t.ID, t.Name })
}

func locationByID(id int64) *location { return findLocation(strconv.FormatInt(id, 10)) }

func serverTypeByID(id int64) *serverType { return findServerType(strconv.FormatInt(id, 10)) }

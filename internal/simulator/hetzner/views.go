package hetzner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// timestamp is a time as the service writes it.
type timestamp time.Time

func (t timestamp) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(time.Time(t).UTC().Format("2006-01-02T15:04:05+00:00"))), nil
}

// maybe is null for the zero time.
func maybe(t time.Time) *timestamp {
	if t.IsZero() {
		return nil
	}
	return pointer(timestamp(t))
}

// maybeID is null for 0.
func maybeID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

type deprecationView struct {
	Announced        timestamp `json:"announced"`
	UnavailableAfter timestamp `json:"unavailable_after"`
}

type priceView struct {
	Net   string `json:"net"`
	Gross string `json:"gross"`
}

// price writes ten thousandths of a euro, and with the tax of Germany.
func price(net int) priceView {
	return priceView{fmt.Sprintf("%.10f", float64(net)/10000), fmt.Sprintf("%.16f", float64(net)*1.19/10000)}
}

type locationPriceView struct {
	Location          string    `json:"location"`
	PriceHourly       priceView `json:"price_hourly"`
	PriceMonthly      priceView `json:"price_monthly"`
	IncludedTraffic   int64     `json:"included_traffic"`
	PricePerTBTraffic priceView `json:"price_per_tb_traffic"`
}

type offerView struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Available   bool             `json:"available"`
	Recommended bool             `json:"recommended"`
	Deprecation *deprecationView `json:"deprecation"`
}

type serverTypeView struct {
	ID           int64               `json:"id"`
	Name         string              `json:"name"`
	Description  string              `json:"description"`
	Category     string              `json:"category"`
	Cores        int                 `json:"cores"`
	Memory       float64             `json:"memory"`
	Disk         int                 `json:"disk"`
	StorageType  string              `json:"storage_type"`
	CPUType      string              `json:"cpu_type"`
	Architecture string              `json:"architecture"`
	Prices       []locationPriceView `json:"prices"`
	Deprecated   bool                `json:"deprecated"`
	Deprecation  *deprecationView    `json:"deprecation"`
	Locations    []offerView         `json:"locations"`
}

// includedTraffic in bytes.
const includedTraffic = 20 << 40

const hoursInMonth = 624 // where the service caps the month

func (s *Simulator) viewServerType(t *serverType) serverTypeView {
	view := serverTypeView{
		ID: t.ID, Name: t.Name, Description: t.Description, Category: t.Category, Cores: t.Cores, Memory: t.Memory, Disk: t.Disk,
		StorageType: "local", CPUType: t.CPUType, Architecture: t.Architecture, Prices: []locationPriceView{}, Locations: []offerView{},
	}
	if announced, unavailable := s.deprecation(t); !unavailable.IsZero() {
		view.Deprecated, view.Deprecation = true, &deprecationView{timestamp(announced), timestamp(unavailable)}
	}
	for _, name := range t.Locations {
		where := findLocation(name)
		available := s.settings.StaleStock || !s.settings.outOfStock(t.Name, name)
		if view.Deprecation != nil && s.now().After(time.Time(view.Deprecation.UnavailableAfter)) {
			available = false
		}
		view.Locations = append(view.Locations, offerView{where.ID, where.Name, available, available && view.Deprecation == nil, view.Deprecation})
		view.Prices = append(view.Prices, locationPriceView{where.Name, price(t.Hourly), price(t.Hourly * hoursInMonth), includedTraffic, price(10000)})
	}
	return view
}

// deprecation is when a type was announced to go, and goes; zero for one that stays.
func (s *Simulator) deprecation(t *serverType) (announced, unavailable time.Time) {
	if t.UnavailableAfter == 0 {
		return time.Time{}, time.Time{}
	}
	start := s.started.Truncate(24 * time.Hour)
	return start.AddDate(0, 0, t.Announced), start.AddDate(0, 0, t.UnavailableAfter)
}

type imageOriginView struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type deleteProtection struct {
	Delete bool `json:"delete"`
}

type imageView struct {
	ID           int64             `json:"id"`
	Type         string            `json:"type"`
	Status       string            `json:"status"`
	Name         *string           `json:"name"`
	Description  string            `json:"description"`
	ImageSize    *float64          `json:"image_size"`
	DiskSize     float64           `json:"disk_size"`
	Created      timestamp         `json:"created"`
	CreatedFrom  *imageOriginView  `json:"created_from"`
	BoundTo      *int64            `json:"bound_to"`
	Flavor       string            `json:"os_flavor"`
	Version      *string           `json:"os_version"`
	Architecture string            `json:"architecture"`
	RapidDeploy  bool              `json:"rapid_deploy"`
	Protection   deleteProtection  `json:"protection"`
	Deprecated   *timestamp        `json:"deprecated"`
	Deprecation  *deprecationView  `json:"deprecation"`
	Deleted      *timestamp        `json:"deleted"`
	Labels       map[string]string `json:"labels"`
}

func viewImage(i *image) imageView {
	view := imageView{
		ID: i.ID, Type: i.Type, Status: i.Status, Description: i.Description, DiskSize: float64(i.DiskSize), Created: timestamp(i.Created),
		Flavor: i.Flavor, Architecture: i.Architecture, RapidDeploy: i.Type == "system", Protection: deleteProtection{i.ProtectDelete}, Labels: i.Labels,
	}
	if i.Version != "" {
		view.Version = &i.Version
	}
	if i.Type == "system" {
		view.Name = &i.Name
	} else {
		view.CreatedFrom = &imageOriginView{i.CreatedFrom, i.CreatedFromName}
		if i.Status == "available" {
			view.ImageSize = pointer(2.3)
		}
	}
	if !i.UnavailableAfter.IsZero() {
		view.Deprecated = pointer(timestamp(i.Announced))
		view.Deprecation = &deprecationView{timestamp(i.Announced), timestamp(i.UnavailableAfter)}
	}
	return view
}

type pointerRecord struct {
	IP     string `json:"ip"`
	DNSPtr string `json:"dns_ptr"`
}

type publicIPv4View struct {
	ID      int64  `json:"id"`
	IP      string `json:"ip"`
	Blocked bool   `json:"blocked"`
	DNSPtr  string `json:"dns_ptr"`
}

type publicIPv6View struct {
	ID      int64           `json:"id"`
	IP      string          `json:"ip"`
	Blocked bool            `json:"blocked"`
	DNSPtr  []pointerRecord `json:"dns_ptr"`
}

type publicNetView struct {
	IPv4        *publicIPv4View `json:"ipv4"`
	IPv6        *publicIPv6View `json:"ipv6"`
	FloatingIPs []int64         `json:"floating_ips"`
	Firewalls   []struct{}      `json:"firewalls"`
}

type serverProtection struct {
	Delete  bool `json:"delete"`
	Rebuild bool `json:"rebuild"`
}

type serverView struct {
	ID              int64               `json:"id"`
	Name            string              `json:"name"`
	Status          status              `json:"status"`
	Created         timestamp           `json:"created"`
	Locked          bool                `json:"locked"`
	RescueEnabled   bool                `json:"rescue_enabled"`
	PublicNet       publicNetView       `json:"public_net"`
	PrivateNet      []struct{}          `json:"private_net"`
	ServerType      serverTypeView      `json:"server_type"`
	Location        *location           `json:"location"`
	Image           *imageView          `json:"image"`
	ISO             *iso                `json:"iso"`
	PlacementGroup  *placementGroupView `json:"placement_group"`
	Protection      serverProtection    `json:"protection"`
	Labels          map[string]string   `json:"labels"`
	Volumes         []int64             `json:"volumes"`
	LoadBalancers   []int64             `json:"load_balancers"`
	PrimaryDiskSize int                 `json:"primary_disk_size"`
	IncludedTraffic *int64              `json:"included_traffic"`
	OutgoingTraffic *int64              `json:"outgoing_traffic"`
	IngoingTraffic  *int64              `json:"ingoing_traffic"`
	BackupWindow    *string             `json:"backup_window"`
}

// viewServer needs the mutex.
func (s *Simulator) viewServer(sv *server) serverView {
	view := serverView{
		ID: sv.ID, Name: sv.Name, Status: sv.Status, Created: timestamp(sv.Created), Locked: s.locked(sv),
		PublicNet: publicNetView{FloatingIPs: []int64{}, Firewalls: []struct{}{}}, PrivateNet: []struct{}{},
		ServerType: s.viewServerType(serverTypeByID(sv.TypeID)), Location: locationByID(sv.LocationID),
		Protection: serverProtection{sv.ProtectDelete, sv.ProtectRebuild}, Labels: sv.Labels, Volumes: []int64{}, LoadBalancers: []int64{},
		PrimaryDiskSize: sv.DiskSize, IncludedTraffic: pointer(int64(includedTraffic)),
	}
	if from := s.images[sv.ImageID]; from != nil {
		view.Image = pointer(viewImage(from))
	}
	if group := s.groups[sv.PlacementGroup]; group != nil {
		view.PlacementGroup = pointer(s.viewPlacementGroup(group))
	}
	if ip := s.ipOf(sv.ID, ipv4); ip != nil {
		view.PublicNet.IPv4 = &publicIPv4View{ID: ip.ID, IP: ip.Address.String(), DNSPtr: ip.pointerRecord()}
	}
	if ip := s.ipOf(sv.ID, ipv6); ip != nil {
		view.PublicNet.IPv6 = &publicIPv6View{ID: ip.ID, IP: ip.text(), DNSPtr: []pointerRecord{}}
	}
	return view
}

type primaryIPView struct {
	ID           int64             `json:"id"`
	Name         string            `json:"name"`
	Type         string            `json:"type"`
	IP           string            `json:"ip"`
	Labels       map[string]string `json:"labels"`
	Created      timestamp         `json:"created"`
	Blocked      bool              `json:"blocked"`
	AutoDelete   bool              `json:"auto_delete"`
	Protection   deleteProtection  `json:"protection"`
	DNSPtr       []pointerRecord   `json:"dns_ptr"`
	AssigneeID   *int64            `json:"assignee_id"`
	AssigneeType string            `json:"assignee_type"`
	Location     *location         `json:"location"`
}

// text is the address as the service writes it: an ipv6 is a network.
func (ip *primaryIP) text() string {
	if ip.Type == ipv6 {
		return ip.Address.String() + "/64"
	}
	return ip.Address.String()
}

func (ip *primaryIP) pointerRecord() string {
	four := ip.Address.As4()
	return fmt.Sprintf("static.%d.%d.%d.%d.clients.your-server.de", four[3], four[2], four[1], four[0])
}

func (s *Simulator) viewPrimaryIP(ip *primaryIP) primaryIPView {
	view := primaryIPView{
		ID: ip.ID, Name: ip.Name, Type: ip.Type, IP: ip.text(), Labels: ip.Labels, Created: timestamp(ip.Created), AutoDelete: ip.AutoDelete,
		Protection: deleteProtection{ip.ProtectDelete}, DNSPtr: []pointerRecord{}, AssigneeID: maybeID(ip.AssigneeID),
		AssigneeType: typeServer, Location: locationByID(ip.LocationID),
	}
	if ip.AssigneeID == 0 && !s.settings.AssigneeServer {
		view.AssigneeType = "unassigned"
	}
	if ip.Type == ipv4 {
		view.DNSPtr = append(view.DNSPtr, pointerRecord{ip.Address.String(), ip.pointerRecord()})
	}
	return view
}

type sshKeyView struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Fingerprint string            `json:"fingerprint"`
	PublicKey   string            `json:"public_key"`
	Labels      map[string]string `json:"labels"`
	Created     timestamp         `json:"created"`
}

func viewSSHKey(k *sshKey) sshKeyView {
	return sshKeyView{k.ID, k.Name, k.Fingerprint, k.PublicKey, k.Labels, timestamp(k.Created)}
}

type placementGroupView struct {
	ID      int64             `json:"id"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels"`
	Created timestamp         `json:"created"`
	Servers []int64           `json:"servers"`
	Type    string            `json:"type"`
}

func (s *Simulator) viewPlacementGroup(g *placementGroup) placementGroupView {
	view := placementGroupView{ID: g.ID, Name: g.Name, Labels: g.Labels, Created: timestamp(g.Created), Servers: []int64{}, Type: "spread"}
	for _, sv := range s.servers {
		if sv.PlacementGroup == g.ID && !sv.Removed {
			view.Servers = append(view.Servers, sv.ID)
		}
	}
	slices.Sort(view.Servers)
	return view
}

type actionErrorView struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type actionView struct {
	ID        int64            `json:"id"`
	Command   string           `json:"command"`
	Status    actionStatus     `json:"status"`
	Progress  int              `json:"progress"`
	Started   timestamp        `json:"started"`
	Finished  *timestamp       `json:"finished"`
	Error     *actionErrorView `json:"error"`
	Resources []resource       `json:"resources"`
}

func (s *Simulator) viewAction(a *action) actionView {
	view := actionView{ID: a.ID, Command: a.Command, Status: a.Status, Progress: 100, Started: timestamp(a.Started), Finished: maybe(a.Finished), Resources: a.Resources}
	if !a.final() {
		elapsed := s.now().Sub(a.Started).Milliseconds()
		if view.Progress = 0; !a.Waits {
			view.Progress = int(min(95, 95*elapsed/max(1, a.Latency)))
		}
	}
	if a.Status == actionError {
		view.Error = &actionErrorView{cmp.Or(a.ErrorCode, "action_failed"), a.ErrorMessage}
	}
	return view
}

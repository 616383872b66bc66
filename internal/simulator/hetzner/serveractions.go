package hetzner

import (
	"crypto/rand"
	"fmt"
	"net/http"
)

// act accepts a command for a server that nothing holds. prepare checks and changes more, if not nil.
func (s *Simulator) act(c *call, command string, prepare func(sv *server) error) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	if prepare != nil {
		if err := prepare(sv); err != nil {
			return reply{}, err
		}
	}
	return s.accepted(http.StatusCreated, s.begin(command, sv, nil))
}

func (s *Simulator) powerOn(c *call) (reply, error) {
	return s.act(c, commandStartServer, func(sv *server) error {
		if s.ipOf(sv.ID, ipv4) == nil && s.ipOf(sv.ID, ipv6) == nil {
			return unprocessable(codeInvalid, "a server without a network interface cannot be powered on")
		}
		if sv.Status == statusOff || sv.Status == statusUnknown {
			sv.Status = statusStarting
		}
		return nil
	})
}

func (s *Simulator) powerOff(c *call) (reply, error) {
	return s.act(c, commandStopServer, func(sv *server) error {
		sv.Before = sv.Status
		if sv.Status == statusRunning {
			sv.Status = statusStopping
		}
		return nil
	})
}

// shutdown only sends a signal; what comes of it is the guest's affair.
func (s *Simulator) shutdown(c *call) (reply, error) { return s.act(c, commandShutdownServer, nil) }

func (s *Simulator) reboot(c *call) (reply, error) { return s.act(c, commandRebootServer, nil) }

func (s *Simulator) reset(c *call) (reply, error) { return s.act(c, commandResetServer, nil) }

func (s *Simulator) checkStopped(sv *server) error {
	if sv.Status != statusOff {
		return unprocessable(codeNotStopped, "server should be stopped")
	}
	return nil
}

func (s *Simulator) changeType(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		ServerType  reference `json:"server_type"`
		UpgradeDisk *bool     `json:"upgrade_disk"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.ServerType == "" {
		return reply{}, missing("server_type")
	}
	if body.UpgradeDisk == nil {
		return reply{}, missing("upgrade_disk")
	}
	kind := findServerType(string(body.ServerType))
	if kind == nil {
		return reply{}, invalid("server_type", "server type %q not found", body.ServerType)
	}
	_, unavailable := s.deprecation(kind)
	if kind.Architecture != serverTypeByID(sv.TypeID).Architecture || kind.Disk < sv.DiskSize || elapsed(unavailable, c.now) {
		return reply{}, unprocessable(codeInvalidServerType, "server type %s is not possible for this server", kind.Name)
	}
	if err := s.checkStopped(sv); err != nil {
		return reply{}, err
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	if s.settings.outOfStock(kind.Name, locationByID(sv.LocationID).Name) {
		return reply{}, fail(http.StatusPreconditionFailed, codeUnavailable, "error during placement")
	}
	sv.Status = statusMigrating
	return s.accepted(http.StatusCreated, s.begin(commandChangeServerType, sv, func(a *action) {
		a.ServerType, a.UpgradeDisk = kind.ID, *body.UpgradeDisk
	}))
}

type rebuildAnswer struct {
	Action       actionView `json:"action"`
	RootPassword *string    `json:"root_password"`
}

// rebuild is the only way to other user data. Without any the earlier is used again.
func (s *Simulator) rebuild(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Image    reference `json:"image"`
		UserData *string   `json:"user_data"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Image == "" {
		return reply{}, missing("image")
	}
	from := s.findImage(string(body.Image))
	if from == nil || from.Status != "available" {
		return reply{}, invalid("image", "image %q not found", body.Image)
	}
	if from.Architecture != serverTypeByID(sv.TypeID).Architecture {
		return reply{}, invalidAlone("image architecture differs from that of the server type")
	}
	if body.UserData != nil && len(*body.UserData) > maxUserData {
		return reply{}, invalid("user_data", "Longer than maximum length %d.", maxUserData)
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	if sv.ProtectRebuild {
		return reply{}, protected("server")
	}
	if body.UserData != nil {
		sv.UserData = []byte(*body.UserData)
	}
	sv.Status = statusRebuilding
	a := s.begin(commandRebuildServer, sv, func(a *action) {
		a.Image = from.ID
		a.Resources = append(a.Resources, resource{from.ID, typeImage})
	})
	answer := rebuildAnswer{Action: s.viewAction(a)}
	if len(sv.PublicKeys) == 0 {
		answer.RootPassword = pointer(rand.Text()[:20])
	}
	return reply{http.StatusCreated, answer}, nil
}

// changeServerProtection takes effect at once. Both protections must end up equal.
func (s *Simulator) changeServerProtection(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Delete  *bool `json:"delete"`
		Rebuild *bool `json:"rebuild"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	remove, rebuild := sv.ProtectDelete, sv.ProtectRebuild
	if body.Delete != nil {
		remove = *body.Delete
	}
	if body.Rebuild != nil {
		rebuild = *body.Rebuild
	}
	if remove != rebuild {
		return reply{}, invalid("delete", "Must be equal to rebuild.")
	}
	sv.ProtectDelete, sv.ProtectRebuild = remove, rebuild
	return s.accepted(http.StatusCreated, s.done(commandChangeProtection, resource{sv.ID, typeServer}))
}

// done is an action that was over when it began. The mutex is held.
func (s *Simulator) done(command string, on ...resource) *action {
	a := s.newAction(command)
	a.Resources = on
	a.Finished, a.Status = a.Started, actionSuccess
	if a.Fault != nil {
		a.Status, a.ErrorCode, a.ErrorMessage = actionError, a.Fault.Code, a.Fault.Message
	}
	return a
}

type createImageAnswer struct {
	Action actionView `json:"action"`
	Image  imageView  `json:"image"`
}

func (s *Simulator) createImage(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Description string             `json:"description"`
		Type        string             `json:"type"`
		Labels      *map[string]string `json:"labels"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	switch body.Type {
	case "", "snapshot":
	case "backup":
		return reply{}, unprocessable(codeUnsupported, "backups are not enabled for this server")
	default:
		return reply{}, invalid("type", "Must be one of: snapshot, backup.")
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	if s.exceeds(limitImages, len(s.ownImages())+1) {
		return reply{}, limitExceeded(limitImages)
	}
	made := &image{
		meta: meta{ID: s.nextID(), Labels: labelsOf(body.Labels), Created: s.now()},
		Type: "snapshot", Status: "creating", Description: body.Description, DiskSize: sv.DiskSize,
		Flavor: "unknown", Architecture: serverTypeByID(sv.TypeID).Architecture, CreatedFrom: sv.ID, CreatedFromName: sv.Name,
	}
	if made.Description == "" {
		made.Description = fmt.Sprintf("snapshot %s", sv.Name)
	}
	if from := s.images[sv.ImageID]; from != nil {
		made.Flavor, made.Version = from.Flavor, from.Version
	}
	s.images[made.ID] = made
	a := s.begin(commandCreateImage, sv, func(a *action) {
		a.Image = made.ID
		a.Resources = append(a.Resources, resource{made.ID, typeImage})
	})
	return reply{http.StatusCreated, createImageAnswer{s.viewAction(a), viewImage(made)}}, nil
}

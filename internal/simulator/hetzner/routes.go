package hetzner

import (
	"net/http"
	"strconv"
	"strings"
)

// handler answers one kind of request. The mutex is held.
type handler func(c *call) (reply, error)

// route is a path of the API, where * stands for a segment.
type route struct {
	segments []string
	methods  map[string]handler
}

// allRoutes are the endpoints. A path that stands earlier counts.
func (s *Simulator) allRoutes() []route {
	var all []route
	add := func(path string, methods map[string]handler) {
		all = append(all, route{strings.Split(path, "/"), methods})
	}
	get, post, put, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

	add("/actions", map[string]handler{get: s.getActionsByID})
	add("/actions/*", map[string]handler{get: s.getAction("", 0)})
	add("/datacenters", map[string]handler{get: removedEndpoint})
	add("/datacenters/*", map[string]handler{get: removedEndpoint})

	add("/servers", map[string]handler{get: s.listServers, post: s.createServer})
	s.addActionRoutes(add, "servers", typeServer)
	for command, handle := range map[string]handler{
		"poweron": s.powerOn, "poweroff": s.powerOff, "shutdown": s.shutdown, "reboot": s.reboot, "reset": s.reset,
		"change_type": s.changeType, "rebuild": s.rebuild, "change_protection": s.changeServerProtection, "create_image": s.createImage,
	} {
		add("/servers/*/actions/"+command, map[string]handler{post: handle})
	}
	add("/servers/*/actions/*", map[string]handler{get: s.getAction(typeServer, 1)})
	add("/servers/*", map[string]handler{get: s.getServer, put: s.updateServer, remove: s.deleteServer})

	add("/primary_ips", map[string]handler{get: s.listPrimaryIPs, post: s.createPrimaryIP})
	s.addActionRoutes(add, "primary_ips", typePrimaryIP)
	for command, handle := range map[string]handler{
		"assign": s.assignPrimaryIP, "unassign": s.unassignPrimaryIP, "change_protection": s.changePrimaryIPProtection,
	} {
		add("/primary_ips/*/actions/"+command, map[string]handler{post: handle})
	}
	add("/primary_ips/*/actions/*", map[string]handler{get: s.getAction(typePrimaryIP, 1)})
	add("/primary_ips/*", map[string]handler{get: s.getPrimaryIP, put: s.updatePrimaryIP, remove: s.deletePrimaryIP})

	add("/ssh_keys", map[string]handler{get: s.listSSHKeys, post: s.createSSHKey})
	add("/ssh_keys/*", map[string]handler{get: s.getSSHKey, put: s.updateSSHKey, remove: s.deleteSSHKey})
	add("/images", map[string]handler{get: s.listImages})
	add("/images/*", map[string]handler{get: s.getImage, put: s.updateImage, remove: s.deleteImage})
	add("/images/*/actions/change_protection", map[string]handler{post: s.changeImageProtection})
	add("/placement_groups", map[string]handler{get: s.listPlacementGroups, post: s.createPlacementGroup})
	add("/placement_groups/*", map[string]handler{get: s.getPlacementGroup, put: s.updatePlacementGroup, remove: s.deletePlacementGroup})
	add("/server_types", map[string]handler{get: s.listServerTypes})
	add("/server_types/*", map[string]handler{get: s.getServerType})
	add("/locations", map[string]handler{get: s.listLocations})
	add("/locations/*", map[string]handler{get: s.getLocation})
	add("/isos", map[string]handler{get: s.listISOs})
	add("/isos/*", map[string]handler{get: s.getISO})
	return all
}

// addActionRoutes adds those that all kinds of objects with actions have.
func (s *Simulator) addActionRoutes(add func(string, map[string]handler), kind, resourceType string) {
	add("/"+kind+"/actions", map[string]handler{http.MethodGet: s.listActions(resourceType, false)})
	add("/"+kind+"/actions/*", map[string]handler{http.MethodGet: s.getAction(resourceType, 0)})
	add("/"+kind+"/*/actions", map[string]handler{http.MethodGet: s.listActions(resourceType, true)})
}

// route finds who answers.
func (s *Simulator) route(method, path string) (handler, []string, error) {
	segments, known := strings.Split(path, "/"), false
	for _, one := range s.routes {
		wildcards, fits := one.match(segments)
		if !fits {
			continue
		}
		if handle, ok := one.methods[method]; ok {
			return handle, wildcards, nil
		}
		known = true
	}
	if known {
		return nil, nil, fail(http.StatusMethodNotAllowed, codeMethod, "method not allowed")
	}
	return nil, nil, fail(http.StatusNotFound, codeNotFound, "endpoint not found")
}

func (r route) match(segments []string) (wildcards []string, fits bool) {
	if len(segments) != len(r.segments) {
		return nil, false
	}
	for i, segment := range r.segments {
		switch {
		case segment == "*" && segments[i] != "":
			wildcards = append(wildcards, segments[i])
		case segment != segments[i]:
			return nil, false
		}
	}
	return wildcards, true
}

// id is the number that a wildcard stands for; 0, which nothing has, when it is none.
func (c *call) id(wildcard int) int64 {
	id, err := strconv.ParseInt(c.path[wildcard], 10, 64)
	if err != nil {
		return 0
	}
	return id
}

func removedEndpoint(*call) (reply, error) {
	err := fail(http.StatusGone, codeDeprecated, "this functionality was removed from the API")
	err.details = struct {
		Announcement string `json:"announcement"`
	}{"https://docs.hetzner.cloud/changelog"}
	return reply{}, err
}

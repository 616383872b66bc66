package hetzner

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

type sshKeyAnswer struct {
	SSHKey sshKeyView `json:"ssh_key"`
}

// sshKey finds the one that the path names. The mutex is held.
func (s *Simulator) sshKey(c *call) (*sshKey, error) {
	if key := s.sshKeys[c.id(0)]; key != nil {
		return key, nil
	}
	return nil, notFound("ssh_key", c.path[0])
}

// findSSHKey finds one by id or name; nil when there is none.
func (s *Simulator) findSSHKey(given string) *sshKey {
	if id, err := strconv.ParseInt(given, 10, 64); err == nil {
		return s.sshKeys[id]
	}
	for _, key := range s.sshKeys {
		if key.Name == given {
			return key
		}
	}
	return nil
}

func (s *Simulator) getSSHKey(c *call) (reply, error) {
	key, err := s.sshKey(c)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, sshKeyAnswer{viewSSHKey(key)}}, nil
}

func (s *Simulator) listSSHKeys(c *call) (reply, error) {
	all, err := labeled(c, values(c, s.sshKeys))
	if err != nil {
		return reply{}, err
	}
	wanted := c.request.URL.Query().Get("fingerprint")
	all = slices.DeleteFunc(all, func(key *sshKey) bool { return wanted != "" && key.Fingerprint != wanted })
	return list(c, "ssh_keys", all, orders[*sshKey]("id", "name"), viewSSHKey)
}

func (s *Simulator) createSSHKey(c *call) (reply, error) {
	var body struct {
		settable
		PublicKey string `json:"public_key"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Name == nil {
		return reply{}, missing("name")
	}
	if err := checkName(*body.Name); err != nil {
		return reply{}, err
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if body.PublicKey == "" {
		return reply{}, missing("public_key")
	}
	public, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(body.PublicKey))
	if err != nil || len(rest) > 0 || strings.ContainsAny(strings.TrimSpace(body.PublicKey), "\r\n") {
		return reply{}, invalid("public_key", "Not a valid public key.")
	}
	fingerprint := ssh.FingerprintLegacyMD5(public)
	if nameTaken(s.sshKeys, *body.Name, 0) {
		return reply{}, taken("name")
	}
	for _, other := range s.sshKeys {
		if other.Fingerprint == fingerprint {
			return reply{}, taken("public_key")
		}
	}
	if s.exceeds(limitSSHKeys, len(s.sshKeys)+1) {
		return reply{}, limitExceeded(limitSSHKeys)
	}
	key := &sshKey{meta: meta{ID: s.nextID(), Name: *body.Name, Labels: labelsOf(body.Labels), Created: s.now()}, PublicKey: body.PublicKey, Fingerprint: fingerprint}
	s.sshKeys[key.ID] = key
	return reply{http.StatusCreated, sshKeyAnswer{viewSSHKey(key)}}, nil
}

func (s *Simulator) updateSSHKey(c *call) (reply, error) {
	key, err := s.sshKey(c)
	if err != nil {
		return reply{}, err
	}
	if err := updateMeta(c, s.sshKeys, &key.meta); err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, sshKeyAnswer{viewSSHKey(key)}}, nil
}

// updateMeta changes what objects have that can be renamed and labeled only.
func updateMeta[T object](c *call, all map[int64]T, m *meta) error {
	var body settable
	if err := c.decodeBody(&body); err != nil {
		return err
	}
	if body.Name != nil {
		if err := checkName(*body.Name); err != nil {
			return err
		}
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return err
	}
	if body.Name != nil && nameTaken(all, *body.Name, m.ID) {
		return taken("name")
	}
	body.apply(m)
	return nil
}

// deleteSSHKey leaves the servers alone that were made with the key.
func (s *Simulator) deleteSSHKey(c *call) (reply, error) {
	key, err := s.sshKey(c)
	if err != nil {
		return reply{}, err
	}
	delete(s.sshKeys, key.ID)
	return reply{status: http.StatusNoContent}, nil
}

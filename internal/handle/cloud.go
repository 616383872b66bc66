package handle

import "time"

// cloudRecord is the metadata of a host, which travels inside the specification. It never holds a
// key or a token.
type cloudRecord struct {
	Provider        string  `json:"provider"`
	Type            string  `json:"type"`
	Location        string  `json:"location"`
	Image           string  `json:"image"`
	IdleTimeoutMs   int64   `json:"idleTimeoutMs"`
	ExpiresAt       *string `json:"expiresAt"` // null means never, and is written
	RecordID        string  `json:"recordId,omitempty"`
	Owner           string  `json:"owner,omitempty"`
	Name            string  `json:"name,omitempty"`
	ServerID        int64   `json:"serverId,omitempty"`
	KeyID           int64   `json:"keyId,omitempty"`
	PrimaryIPIDs    []int64 `json:"primaryIpIds,omitempty"`
	CreatedAt       string  `json:"createdAt,omitempty"`
	CreatedForStart bool    `json:"createdForStart"`
}

func printCloud(c *Cloud) *cloudRecord {
	if c == nil {
		return nil
	}
	record := &cloudRecord{
		Provider: c.Provider, Type: c.Type, Location: c.Location, Image: c.Image, IdleTimeoutMs: c.IdleTimeout.Milliseconds(),
		RecordID: c.RecordID, Owner: c.Owner, Name: c.Name, ServerID: c.ServerID, KeyID: c.KeyID,
		PrimaryIPIDs: c.PrimaryIPIDs, CreatedAt: FormatTime(c.CreatedAt), CreatedForStart: c.CreatedForStart,
	}
	if !c.ExpiresAt.IsZero() {
		text := FormatTime(c.ExpiresAt)
		record.ExpiresAt = &text
	}
	return record
}

// longestIdle is the largest number of milliseconds that a duration holds.
const longestIdle = int64(1<<63-1) / int64(time.Millisecond)

func parseCloud(spec *fields) *Cloud {
	if !spec.has("cloud") {
		return nil
	}
	f := spec.object("cloud")
	c := &Cloud{
		Provider: f.needText("provider"), Type: f.text("type"), Location: f.text("location"), Image: f.text("image"),
		ExpiresAt: f.time("expiresAt"), RecordID: f.text("recordId"), Owner: f.text("owner"), Name: f.text("name"),
		ServerID: f.number("serverId"), KeyID: f.number("keyId"), CreatedAt: f.time("createdAt"),
		CreatedForStart: isTrue(f.flag("createdForStart")),
	}
	f.read("primaryIpIds", "a list of whole numbers", &c.PrimaryIPIDs)
	idle := f.number("idleTimeoutMs")
	if idle < 0 || idle > longestIdle {
		f.fail("idleTimeoutMs", "is out of range")
		return c
	}
	c.IdleTimeout = time.Duration(idle) * time.Millisecond
	return c
}

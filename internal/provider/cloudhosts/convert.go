package cloudhosts

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
)

// settings are what only the configuration knows. The record keeps them for imports.
type settings struct {
	IdleTimeout string `json:"idle_timeout,omitempty"`
	ExpiresAt   string `json:"expires_at,omitempty"`
	OnDestroy   string `json:"on_destroy,omitempty"`
	OnMissing   string `json:"on_missing,omitempty"`
	// DesiredState is absent when the run state is left alone.
	DesiredState string `json:"desired_state,omitempty"`
}

// request turns a planned model into what the domain takes.
func request(m *model, diags *diag.Diagnostics) cloudhost.Request {
	asked := cloudhost.Request{
		Name: m.Name.ValueString(), ServerType: m.ServerType.ValueString(), Location: m.Location.ValueString(), Image: m.Image.ValueString(),
		DockerPackages: m.DockerPackages.ValueString(), AuthorizedKeys: convert.Texts(m.AuthorizedKeys.Elements()), Labels: convert.TextMap(m.Labels),
		IdleTimeout: convert.Duration(m.IdleTimeout), DesiredState: m.DesiredState.ValueString(),
	}
	asked.ExpiresAt = expiryOf(m)
	raw, err := json.Marshal(settings{
		IdleTimeout: m.IdleTimeout.ValueString(), ExpiresAt: m.ExpiresAt.ValueString(), OnDestroy: m.OnDestroy.ValueString(),
		OnMissing: m.OnMissing.ValueString(), DesiredState: m.DesiredState.ValueString(),
	})
	if err != nil {
		diags.AddError("Settings Cannot Be Kept", err.Error())
	}
	asked.Settings = raw
	return asked
}

// expiryOf reads a value that the schema has checked; the zero time stands for none.
func expiryOf(m *model) time.Time {
	expires, err := time.Parse(time.RFC3339, m.ExpiresAt.ValueString())
	if err != nil {
		return time.Time{}
	}
	return expires
}

// applySettings fills an import with what the record keeps of the configuration.
func applySettings(raw json.RawMessage, m *model) error {
	var kept settings
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &kept); err != nil {
			return fmt.Errorf("the settings in the record cannot be read: %w", err)
		}
	}
	m.IdleTimeout, m.ExpiresAt = convert.TextOrNull(kept.IdleTimeout), convert.TextOrNull(kept.ExpiresAt)
	m.OnDestroy, m.OnMissing, m.DesiredState = convert.TextOrNull(kept.OnDestroy), convert.TextOrNull(kept.OnMissing), convert.TextOrNull(kept.DesiredState)
	return nil
}

// fill writes what an apply made known. What the plan promised stays.
func fill(m *model, host cloudhost.Host) {
	if m.ID.IsUnknown() {
		m.ID = types.StringValue(host.ID())
	}
	if m.RecordID.IsUnknown() {
		m.RecordID = convert.TextOrNull(host.Attachment.Record)
	}
	if m.AttachmentID.IsUnknown() {
		m.AttachmentID = convert.TextOrNull(host.Attachment.Token)
	}
	if m.OnDestroy.IsUnknown() {
		m.OnDestroy = types.StringValue("retain")
	}
	server(m, host, true)
}

// observe writes what a read found.
func observe(m *model, host cloudhost.Host) {
	server(m, host, false)
	if host.Status == cloudhost.StatusMissing {
		return // of a host that is gone, the state says what it was
	}
	write := func(target *types.String, found string) {
		if found != "" {
			*target = types.StringValue(found)
		}
	}
	write(&m.ServerType, host.ServerType)
	write(&m.Location, host.Location)
	write(&m.Image, host.Image)
	if host.Recorded {
		write(&m.DockerPackages, host.DockerPackages)
		if len(host.AuthorizedKeys) > 0 || !m.AuthorizedKeys.IsNull() {
			m.AuthorizedKeys = convert.Set(host.AuthorizedKeys)
		}
	}
	if len(host.Labels) > 0 || !m.Labels.IsNull() {
		m.Labels = convert.Map(host.Labels)
	}
}

// server writes the computed values about the server. unknownOnly keeps what a plan promised.
func server(m *model, host cloudhost.Host, unknownOnly bool) {
	text := func(target *types.String, value types.String) {
		if !unknownOnly || target.IsUnknown() {
			*target = value
		}
	}
	text(&m.IPv4Address, convert.TextOrNull(host.IPv4))
	text(&m.HostKeyFingerprint, convert.TextOrNull(host.HostKeyFingerprint))
	text(&m.SSHConfigPath, convert.TextOrNull(host.SSHConfigPath))
	text(&m.Status, convert.TextOrNull(string(host.Status)))
	text(&m.CreatedAt, convert.TimeOrNull(host.CreatedAt))
	if !unknownOnly || m.ServerID.IsUnknown() {
		m.ServerID = convert.Int64OrNull(host.ServerID)
	}
	if !unknownOnly || m.Details.IsUnknown() {
		m.Details = types.ObjectValueMust(detailsType, map[string]attr.Value{
			"ssh_key_id": convert.Int64OrNull(host.KeyID), "primary_ip_id": convert.Int64OrNull(host.PrimaryIPID), "committed": types.BoolValue(host.Committed),
			"created_for_start": types.BoolValue(host.CreatedForStart()), "destroying": types.BoolValue(host.Destroying),
		})
	}
}

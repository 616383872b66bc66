package vercel

import (
	"maps"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// Tags on every sandbox of ours. The API allows five (section 6.1), which leaves two for labels.
const (
	ownerTag     = "sandlot-owner"
	recordTag    = "sandlot-record"
	workspaceTag = "sandlot-workspace"
	ownTags      = "sandlot-"
	mostLabels   = 2
	longestTag   = 256 // bytes of a name and of a value
)

// markTags are the tags that stand for marks.
func markTags(marks backends.Marks) map[string]string {
	tags := map[string]string{ownerTag: marks.Owner, recordTag: marks.Record}
	if marks.Workspace != "" {
		tags[workspaceTag] = marks.Workspace
	}
	return tags
}

// tagsOf are all tags of a sandbox.
func tagsOf(marks backends.Marks, labels map[string]string) map[string]string {
	tags := maps.Clone(labels)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, markTags(marks))
	return tags
}

// marksOf reads the marks of a sandbox, the zero value when it carries none of ours.
func marksOf(found api.Sandbox) backends.Marks {
	if found.Tags[ownerTag] == "" {
		return backends.Marks{}
	}
	kind := backends.Session
	if found.Persistent {
		kind = backends.Persistent
	}
	return backends.Marks{
		Owner: found.Tags[ownerTag], Name: found.Name, Kind: kind,
		Workspace: found.Tags[workspaceTag], Record: found.Tags[recordTag],
	}
}

// labelsOf are the tags that are not ours.
func labelsOf(found api.Sandbox) map[string]string {
	labels := map[string]string{}
	for name, value := range found.Tags {
		if !strings.HasPrefix(name, ownTags) {
			labels[name] = value
		}
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

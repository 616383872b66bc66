package docker

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// mostLayers is when the layers of a sandbox's image are made one, before the engine's storage
// runs into its own limit of a bit over a hundred.
const mostLayers = 60

// imageLabels describe an image that is to be made.
type imageLabels struct {
	marks backends.Marks
	role  string
	// snapshot is the id, for a snapshot.
	snapshot string
	// private is true when the image serves only the sandbox it was made from, which may see its
	// own plain environment. Secrets are kept out of any image.
	private bool
}

func (l imageLabels) labels(below inherited) (map[string]string, error) {
	text, err := below.encode()
	if err != nil {
		return nil, err
	}
	labels := markLabels(l.marks, l.role)
	labels[labelSnapshot] = l.snapshot
	labels[labelInherited] = text
	// A commit takes over the container's labels. These are of no use on an image.
	labels[labelConfiguration] = ""
	labels[labelResume] = ""
	return labels, nil
}

// saveRoot returns an image with the root file system of a container, as it is now. It is the
// container's own image when nothing was changed in it, and then made is false.
//
// The container's environment must not get into it: it holds secrets. A commit always writes the
// container's whole configuration into the image, beside the one that is given, so a container
// with secrets, or for a snapshot with any environment, is exported and imported instead. That
// costs the space of all layers again.
func (b *Backend) saveRoot(ctx context.Context, e *engine, c container.InspectResponse, labels imageLabels, reference string) (id string, made bool, err error) {
	changes, err := e.ContainerDiff(ctx, c.ID)
	if err != nil {
		return "", false, err
	}
	below, err := b.images.inherited(ctx, e, c.Image)
	if err != nil {
		return "", false, err
	}
	// What is written into a scratch container where its image declares a volume does not get into
	// an image; only an import takes the declaration back.
	_, covered := below.Volumes[workspacePath]
	covered = covered && labels.role == roleLayer
	if !covered && !rootChanged(changes, c) {
		return c.Image, false, nil
	}
	kept := configurationOf(c.Config.Labels)
	hidden := len(kept.Spec.SecretNames) > 0 || !labels.private && len(kept.Spec.Environment) > 0
	if covered || hidden || e.layers(ctx, c.Image) >= mostLayers {
		id, err = e.flatten(ctx, c, below, labels, reference)
	} else {
		id, err = e.commit(ctx, c, below, labels, reference)
	}
	return id, true, err
}

// layers counts the layers of an image; one that is gone or unreadable counts as too many, since
// an export needs no image.
func (e *engine) layers(ctx context.Context, id string) int {
	found, err := e.ImageInspect(ctx, id)
	if err != nil {
		return mostLayers
	}
	return len(found.RootFS.Layers)
}

// rootChanged tells whether somebody changed the root file system. The engine itself adds the
// directories on which something is mounted, the init program and a few files below /dev and /etc.
func rootChanged(changes []container.FilesystemChange, c container.InspectResponse) bool {
	ours := []string{"/sbin/docker-init", "/.dockerenv", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/mtab", "/dev/console"}
	for _, m := range c.Mounts {
		ours = append(ours, m.Destination)
	}
	if c.Config.WorkingDir != "" {
		// The engine makes the working directory when the image has none.
		ours = append(ours, path.Clean(c.Config.WorkingDir))
	}
	expected := map[string]bool{}
	for _, p := range ours {
		for ; p != "/" && p != "."; p = path.Dir(p) {
			expected[p] = true
		}
	}
	return slices.ContainsFunc(changes, func(change container.FilesystemChange) bool {
		return change.Kind == container.ChangeDelete || !expected[change.Path]
	})
}

// commit saves what the container added to its image as one layer.
func (e *engine) commit(ctx context.Context, c container.InspectResponse, below inherited, labels imageLabels, reference string) (string, error) {
	all, err := labels.labels(below)
	if err != nil {
		return "", err
	}
	for name := range withoutOurs(c.Config.Labels) {
		if _, ok := all[name]; !ok {
			all[name] = below.Labels[name] // Empty, unless the image below had it.
		}
	}
	config := &container.Config{
		Labels: all,
		User:   firstOf(below.User, "0"),
		Env:    slices.Clone(below.Env),
	}
	for _, entry := range c.Config.Env {
		// A variable cannot be taken out by a commit, only emptied.
		if name, _, _ := strings.Cut(entry, "="); below.value(name) == nil {
			config.Env = append(config.Env, name+"=")
		}
	}
	response, err := e.ContainerCommit(ctx, c.ID, container.CommitOptions{Reference: reference, Config: config})
	if err != nil {
		return "", err
	}
	return response.ID, nil
}

// flatten saves the whole root file system as one layer, with nothing of the container's
// configuration.
func (e *engine) flatten(ctx context.Context, c container.InspectResponse, below inherited, labels imageLabels, reference string) (string, error) {
	all, err := labels.labels(below)
	if err != nil {
		return "", err
	}
	changes := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			changes = append(changes, "LABEL "+quoteInstruction(name)+"="+quoteInstruction(all[name]))
		}
	}
	export, err := e.ContainerExport(ctx, c.ID)
	if err != nil {
		return "", err
	}
	defer export.Close()
	stream, err := e.ImageImport(ctx, image.ImportSource{Source: export, SourceName: "-"}, reference, image.ImportOptions{Changes: changes})
	if err != nil {
		return "", err
	}
	id, err := readProgress(stream)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(id, "sha256:") {
		return "", fmt.Errorf("the engine told no id for the imported image, but %q", id)
	}
	return id, nil
}

// quoteInstruction quotes a word of a Dockerfile instruction.
func quoteInstruction(text string) string {
	return strconv.Quote(strings.ReplaceAll(text, "$", `\$`))
}

// ownImages lists the images of a role that were made for the record.
func (e *engine) ownImages(ctx context.Context, marks backends.Marks, role string) ([]image.Summary, error) {
	return e.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(
		filters.Arg("label", labelRole+"="+role),
		filters.Arg("label", labelOwner+"="+marks.Owner),
		filters.Arg("label", labelRecord+"="+marks.Record),
	)})
}

// removeImages removes the root images of a sandbox and, when asked for, its snapshots.
func (e *engine) removeImages(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	roles := []string{roleRoot, roleLayer}
	if options.Snapshots {
		roles = []string{roleRoot, roleSnapshot, roleLayer}
	}
	for _, role := range roles {
		list, err := e.ownImages(ctx, marks, role)
		if err != nil {
			return err
		}
		for _, found := range list {
			if err := e.removeImage(ctx, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeSuperseded removes the root images that no container of the sandbox uses any more.
func (e *engine) removeSuperseded(ctx context.Context, marks backends.Marks, used string) error {
	list, err := e.ownImages(ctx, marks, roleRoot)
	if err != nil {
		return err
	}
	for _, found := range list {
		if found.ID == used {
			continue
		}
		if err := e.removeImage(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// removeImage removes an image by its names. One on which another image was built only loses
// them: the engine removes it together with the last of those.
func (e *engine) removeImage(ctx context.Context, found image.Summary) error {
	names := slices.DeleteFunc(slices.Clone(found.RepoTags), func(name string) bool { return name == "<none>:<none>" })
	byID := len(names) == 0
	if byID {
		names = []string{found.ID}
	}
	for _, name := range names {
		_, err := e.ImageRemove(ctx, name, image.RemoveOptions{PruneChildren: true})
		switch {
		case err == nil || cerrdefs.IsNotFound(err):
		case byID && cerrdefs.IsConflict(err) && strings.Contains(err.Error(), "dependent child images"):
		default:
			return err
		}
	}
	return nil
}

// removeReference removes an image that has only this name.
func (e *engine) removeReference(ctx context.Context, reference string) error {
	return e.removeImage(ctx, image.Summary{RepoTags: []string{reference}})
}

// rootReference is a new name for an image of a sandbox. It keeps the image from being pruned.
func rootReference(name string) (string, error) {
	tag, err := randomHex(6)
	if err != nil {
		return "", err
	}
	return "sandlot-sandbox/" + name + ":" + tag, nil
}

package file

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

type model struct {
	ID            types.String   `tfsdk:"id"`
	SandboxID     types.String   `tfsdk:"sandbox_id"`
	Path          types.String   `tfsdk:"path"`
	Content       types.String   `tfsdk:"content"`
	ContentBase64 types.String   `tfsdk:"content_base64"`
	Source        types.String   `tfsdk:"source"`
	Mode          types.String   `tfsdk:"mode"`
	Overwrite     types.Bool     `tfsdk:"overwrite"`
	OnDestroy     types.String   `tfsdk:"on_destroy"`
	SHA256        types.String   `tfsdk:"sha256"`
	Size          types.Int64    `tfsdk:"size"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
}

// errUnknownContent is returned while the content is not known yet.
var errUnknownContent = errors.New("the content is not known yet")

// contentPath is the attribute that the content comes from.
func (m *model) contentPath() path.Path {
	switch {
	case !m.ContentBase64.IsNull():
		return path.Root("content_base64")
	case !m.Source.IsNull():
		return path.Root("source")
	}
	return path.Root("content")
}

// wanted returns the content that the configuration asks for.
func (m *model) wanted(_ context.Context) ([]byte, error) {
	if m.Content.IsUnknown() || m.ContentBase64.IsUnknown() || m.Source.IsUnknown() {
		return nil, errUnknownContent
	}
	switch {
	case !m.ContentBase64.IsNull():
		content, err := base64.StdEncoding.DecodeString(m.ContentBase64.ValueString())
		if err != nil {
			return nil, fmt.Errorf("this is not standard Base64: %w", err)
		}
		return content, checkSize(int64(len(content)))
	case !m.Source.IsNull():
		return readSource(m.Source.ValueString())
	}
	return []byte(m.Content.ValueString()), checkSize(int64(len(m.Content.ValueString())))
}

// readSource reads a file of the machine that Terraform runs on.
func readSource(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("the source cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the source %q is not a regular file", name)
	}
	if err := checkSize(info.Size()); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the source cannot be read: %w", err)
	}
	return content, nil
}

func checkSize(size int64) error {
	if size > sandbox.MaxFileSize {
		return fmt.Errorf("the content has %d bytes; at most %d are possible", size, sandbox.MaxFileSize)
	}
	return nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// parseMode reads permission bits in octal. Set-id and sticky bits are not accepted.
func parseMode(text string) (fs.FileMode, error) {
	bits, err := strconv.ParseUint(text, 8, 32)
	if err != nil || bits > 0o777 || len(text) < 3 || len(text) > 4 {
		return 0, fmt.Errorf("%q is not a file mode: write three octal digits, with or without a leading 0, for example \"0644\"", text)
	}
	return fs.FileMode(bits), nil
}

func checkMode(text string) error {
	_, err := parseMode(text)
	return err
}

func formatMode(mode fs.FileMode) string { return fmt.Sprintf("%04o", mode.Perm()) }

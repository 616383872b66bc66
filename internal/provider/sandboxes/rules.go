package sandboxes

import (
	"errors"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

func checkWorkspaceID(id string) error {
	if sandbox.NormalizeWorkspaceID(id) == "" {
		return errors.New("the workspace id is empty")
	}
	return nil
}

func checkSandboxID(id string) error {
	_, _, err := sandbox.ParseID(id)
	return err
}

package sandboxes

import (
	"errors"
	"fmt"
	"time"

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

func checkMainTimeout(text string) error {
	duration, err := sandbox.ParseDuration(text)
	if err != nil {
		return err
	}
	if duration < time.Second {
		return fmt.Errorf("%q is shorter than one second", text)
	}
	return nil
}

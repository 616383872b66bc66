package client

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Offline(m, "") }

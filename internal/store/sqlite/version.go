package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

func readVersion(ctx context.Context, from sqlrows.Reader) (sqlrows.Version, error) {
	var tables int
	row := from.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`)
	if err := row.Scan(&tables); err != nil {
		return sqlrows.Version{}, err
	}
	if tables == 0 {
		return sqlrows.Version{}, nil
	}
	var found sqlrows.Version
	err := from.QueryRowContext(ctx, `SELECT major, minor FROM schema_version WHERE id = 1`).Scan(&found.Major, &found.Minor)
	if errors.Is(err, sql.ErrNoRows) {
		return sqlrows.Version{}, fmt.Errorf("%w: it has no schema version", store.ErrCorrupt)
	}
	return found, err
}

package sqlrows

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// snapshotsSince is the minor schema version that added the registry.
const snapshotsSince = 2

// snapshotColumns stand in the order that scanSnapshot and snapshotValues use.
func snapshotColumns() []column {
	return added(snapshotsSince,
		"id", "lane", "backend", "binding", "owner", "manifest_hash", "version", "snapshot_id", "status", "is_current",
		"seed", "manifest", "source_digest", "size_bytes", "last_error", "ready_at", "retired_at", "expires_at",
		"revision", "created_at", "updated_at",
	)
}

func snapshotValues(s store.Snapshot) []any {
	return []any{
		s.ID, s.Lane, s.Backend, s.Binding, s.Owner, s.ManifestHash, s.Version, s.SnapshotID, s.Status, s.Current,
		s.Seed, nullable(s.Manifest), s.SourceDigest, s.SizeBytes, s.LastError,
		optionalTimeText(s.ReadyAt), optionalTimeText(s.RetiredAt), optionalTimeText(s.ExpiresAt),
		s.Revision, timeText(s.CreatedAt), timeText(s.UpdatedAt),
	}
}

func scanSnapshot(scan func(...any) error) (store.Snapshot, error) {
	var s store.Snapshot
	var manifest sql.NullString
	ready, retired := parsedTime{into: &s.ReadyAt, optional: true}, parsedTime{into: &s.RetiredAt, optional: true}
	expires := parsedTime{into: &s.ExpiresAt, optional: true}
	created, updated := parsedTime{into: &s.CreatedAt}, parsedTime{into: &s.UpdatedAt}
	err := scan(
		&s.ID, &s.Lane, &s.Backend, &s.Binding, &s.Owner, &s.ManifestHash, &s.Version, &s.SnapshotID, &s.Status, &s.Current,
		&s.Seed, &manifest, &s.SourceDigest, &s.SizeBytes, &s.LastError,
		&ready.text, &retired.text, &expires.text,
		&s.Revision, &created.text, &updated.text,
	)
	if err == nil {
		err = parseTimes(&ready, &retired, &expires, &created, &updated)
	}
	if err != nil {
		return store.Snapshot{}, err
	}
	s.Manifest = document(manifest)
	return s, nil
}

func rowOfSnapshot(s store.Snapshot) row {
	return row{table: "{snapshots}", id: s.ID, revision: s.Revision, title: "base snapshot " + s.ID}
}

// snapshotObject names an entry among effects by what every run of one configuration has alike.
func snapshotObject(s store.Snapshot) string {
	if s.ManifestHash == "" {
		return s.ID
	}
	return s.ManifestHash
}

// FindSnapshots reads the entries that match query, newest first.
func (r Rows) FindSnapshots(ctx context.Context, query store.SnapshotQuery) ([]store.Snapshot, error) {
	var snapshots []store.Snapshot
	err := r.engine.Read(ctx, "read base snapshots", func(ctx context.Context, from Reader, version Version) (err error) {
		if version.Minor < snapshotsSince {
			return nil
		}
		clause, arguments := where(snapshotColumns(), version.Minor,
			member{"lane", query.Lane},
			member{"backend", query.Backend},
			member{"binding", query.Binding},
			member{"owner", query.Owner},
			member{"manifest_hash", query.ManifestHash},
			member{"snapshot_id", query.SnapshotID},
		)
		snapshots, err = collect(ctx, from, scanSnapshot, r.sql("SELECT "+selectList(snapshotColumns(), version.Minor)+
			" FROM {snapshots}"+clause+" ORDER BY created_at DESC, id DESC"), arguments)
		return err
	})
	return snapshots, err
}

// InsertSnapshot adds an entry that is not the current one.
func (r Rows) InsertSnapshot(ctx context.Context, snapshot store.Snapshot) (store.Snapshot, error) {
	if err := checkSnapshot(snapshot); err != nil {
		return store.Snapshot{}, err
	}
	snapshot.Current = false
	snapshot.Revision = 1
	snapshot.CreatedAt = now()
	snapshot.UpdatedAt = snapshot.CreatedAt
	err := r.engine.Write(ctx, "insert snapshot", snapshotObject(snapshot), func(ctx context.Context, tx Writer) error {
		_, err := tx.ExecContext(ctx, r.sql(insertStatement("{snapshots}", snapshotColumns())), snapshotValues(snapshot)...)
		return r.engine.Dialect.conflictIfTaken(err, rowOfSnapshot(snapshot).title)
	})
	if err != nil {
		return store.Snapshot{}, err
	}
	return snapshot, nil
}

// UpdateSnapshot replaces an entry that has the revision of snapshot, all but Current.
func (r Rows) UpdateSnapshot(ctx context.Context, snapshot store.Snapshot) (store.Snapshot, error) {
	if err := checkSnapshot(snapshot); err != nil {
		return store.Snapshot{}, err
	}
	updated := snapshot
	err := r.engine.Write(ctx, "update snapshot", snapshotObject(snapshot), func(ctx context.Context, tx Writer) error {
		updated = snapshot
		created, err := r.engine.Dialect.fence(ctx, tx, rowOfSnapshot(snapshot))
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, r.sql("SELECT is_current FROM {snapshots} WHERE id = ?"), snapshot.ID).Scan(&updated.Current)
		if err != nil {
			return err
		}
		updated.CreatedAt = created
		updated, err = r.replaceSnapshot(ctx, tx, updated)
		return err
	})
	if err != nil {
		return store.Snapshot{}, err
	}
	return updated, nil
}

// PromoteSnapshot replaces an entry that has the revision of snapshot and makes it the current one
// of its lane. The one that was current before gets a new revision too.
func (r Rows) PromoteSnapshot(ctx context.Context, lane string, snapshot store.Snapshot) (store.Snapshot, error) {
	if lane == "" {
		return store.Snapshot{}, fmt.Errorf("base snapshot %q is to be promoted in no lane", snapshot.ID)
	}
	if snapshot.ID == "" {
		return store.Snapshot{}, r.engine.Write(ctx, "promote snapshot", lane, func(ctx context.Context, tx Writer) error {
			return r.demote(ctx, tx, lane)
		})
	}
	if err := checkSnapshot(snapshot); err != nil {
		return store.Snapshot{}, err
	}
	if snapshot.Lane != lane {
		return store.Snapshot{}, fmt.Errorf("base snapshot %s belongs to lane %s, not %s", snapshot.ID, snapshot.Lane, lane)
	}
	promoted := snapshot
	err := r.engine.Write(ctx, "promote snapshot", snapshotObject(snapshot), func(ctx context.Context, tx Writer) error {
		promoted = snapshot
		if err := r.holdLane(ctx, tx, lane); err != nil {
			return err
		}
		created, err := r.engine.Dialect.fence(ctx, tx, rowOfSnapshot(snapshot))
		if err != nil {
			return err
		}
		if err := r.demote(ctx, tx, lane); err != nil {
			return err
		}
		promoted.Current, promoted.CreatedAt = true, created
		promoted, err = r.replaceSnapshot(ctx, tx, promoted)
		return err
	})
	if err != nil {
		return store.Snapshot{}, err
	}
	return promoted, nil
}

// DeleteSnapshot removes an entry that has the revision of snapshot. It makes no store to find it
// absent.
func (r Rows) DeleteSnapshot(ctx context.Context, snapshot store.Snapshot) error {
	if made, err := r.engine.Made(ctx); err != nil || !made {
		return err
	}
	return r.engine.Write(ctx, "delete snapshot", snapshotObject(snapshot), func(ctx context.Context, tx Writer) error {
		_, err := r.engine.Dialect.remove(ctx, tx, rowOfSnapshot(snapshot))
		return err
	})
}

// holdLane makes promotions in one lane take turns, always in the same order of rows.
func (r Rows) holdLane(ctx context.Context, tx Writer, lane string) error {
	scanID := func(scan func(...any) error) (id string, err error) {
		err = scan(&id)
		return id, err
	}
	_, err := collect(ctx, tx, scanID,
		r.sql("SELECT id FROM {snapshots} WHERE lane = ? ORDER BY id"+r.engine.Dialect.ForUpdate), []any{lane})
	return err
}

// demote leaves a lane without a current entry.
func (r Rows) demote(ctx context.Context, tx Writer, lane string) error {
	_, err := tx.ExecContext(ctx, r.sql(`UPDATE {snapshots} SET is_current = ?, revision = revision + 1, updated_at = ?
		WHERE lane = ? AND is_current = ?`), false, timeText(now()), lane, true)
	return err
}

// replaceSnapshot writes an entry under its next revision.
func (r Rows) replaceSnapshot(ctx context.Context, tx Writer, snapshot store.Snapshot) (store.Snapshot, error) {
	snapshot.Revision, snapshot.UpdatedAt = snapshot.Revision+1, now()
	_, err := tx.ExecContext(ctx, r.sql(updateStatement("{snapshots}", snapshotColumns())), append(snapshotValues(snapshot), snapshot.ID)...)
	return snapshot, r.engine.Dialect.conflictIfTaken(err, "the current base snapshot of lane "+snapshot.Lane)
}

// checkSnapshot refuses what could never be read back or found.
func checkSnapshot(s store.Snapshot) error {
	if s.ID == "" || s.Lane == "" {
		return fmt.Errorf("base snapshot %q of lane %q needs both ids", s.ID, s.Lane)
	}
	if s.Manifest != nil && !json.Valid(s.Manifest) {
		return fmt.Errorf("base snapshot %s: manifest is not JSON", s.ID)
	}
	return nil
}

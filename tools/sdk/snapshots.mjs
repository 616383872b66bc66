// Stopping, resuming, snapshots and what is made of them.
import assert from "node:assert/strict";
import { Sandbox, Snapshot } from "@vercel/sandbox";
import { collect, failure, options, report, step, told } from "./harness.mjs";

const sandbox = await Sandbox.create({ ...options, name: "saved" });
await sandbox.writeFiles([{ path: "kept.txt", content: "one" }]);
const before = sandbox.currentSession().sessionId;
const stopped = await step("stop", () => sandbox.stop());
assert.equal(stopped.status, "stopped");
assert.equal(sandbox.status, "stopped");
const automatic = sandbox.currentSnapshotId ?? stopped.snapshot?.id;
assert.match(automatic, /^snap_/);

const asleep = await Sandbox.get({ ...options, name: "saved", resume: false });
assert.equal(asleep.status, "stopped");

let resumes = 0;
const waking = await Sandbox.get({ ...options, name: "saved", onResume: async () => void resumes++ });
const read = await step("run after stop", () => waking.runCommand("cat", ["kept.txt"]));
assert.equal(await read.stdout(), "one");
assert.equal(resumes, 1);
assert.notEqual(waking.currentSession().sessionId, before);

await waking.writeFiles([{ path: "kept.txt", content: "two" }]);
const snapshot = await step("snapshot", () => waking.snapshot({ expiration: 0 }));
assert.equal(snapshot.status, "created");
assert.equal(snapshot.expiresAt, undefined);

const copy = await step("create name and snapshot", () =>
  Sandbox.create({ ...options, name: "demo2", source: { type: "snapshot", snapshotId: snapshot.snapshotId } }),
);
assert.equal(copy.sourceSnapshotId, snapshot.snapshotId);
assert.equal((await copy.readFileToBuffer({ path: "kept.txt" })).toString(), "two");

// A fork begins at the snapshot, not at the live disk.
const live = await Sandbox.get({ ...options, name: "saved", resume: true });
await live.writeFiles([{ path: "kept.txt", content: "three" }]);
const fork = await Sandbox.fork({ ...options, sourceSandbox: "saved", name: "saved-fork" });
assert.equal((await fork.readFileToBuffer({ path: "kept.txt" })).toString(), "two");

await step("update currentSnapshotId", () => live.update({ currentSnapshotId: automatic }));
assert.equal(live.currentSnapshotId, automatic);

const found = await step("snapshot get", () => Snapshot.get({ ...options, snapshotId: snapshot.snapshotId }));
assert.equal(found.snapshotId, snapshot.snapshotId);
const own = await step("list snapshots", async () => collect(await Snapshot.list({ ...options, name: "saved" })));
assert.deepEqual(
  own.map((one) => one.id),
  [snapshot.snapshotId, automatic],
);
const sessions = await step("list sessions", async () => collect(await live.listSessions({ limit: 2 })));
assert.equal(sessions.length, 3);
const tree = await step("snapshot tree", async () => collect(await Snapshot.tree({ ...options, snapshotId: snapshot.snapshotId })));
assert.deepEqual(
  tree.map((node) => node.snapshot.id),
  [snapshot.snapshotId, automatic],
);
assert.deepEqual(
  tree.map((node) => [node.snapshot.creationMethod, node.snapshot.parentId]),
  [
    ["manual", automatic],
    ["automatic", undefined],
  ],
);

await step("snapshot delete", () => found.delete());
assert.equal(found.status, "deleted");
const expired = await step("create from deleted", () =>
  failure(Sandbox.create({ ...options, source: { type: "snapshot", snapshotId: snapshot.snapshotId } })),
);
assert.deepEqual(told(expired), { status: 410, code: "snapshot_not_found" });

// What cannot be resumed is made anew by getOrCreate.
const brief = await Sandbox.create({ ...options, name: "brief", persistent: false });
await brief.stop();
const dead = await step("resume non-persistent", () => failure(Sandbox.get({ ...options, name: "brief", resume: true })));
assert.deepEqual(told(dead), { status: 410, code: "snapshot_not_found" });
const renewed = await step("getOrCreate unresumable", () => Sandbox.getOrCreate({ ...options, name: "brief", resume: true }));
assert.equal(renewed.status, "running");

report({ automatic, manual: snapshot.snapshotId });

// What the provider's backend does with a sandbox, done by the SDK: the same operations in the same order,
// with the same values. The backend's own tests compare its requests with what this one sends.
import assert from "node:assert/strict";
import { Sandbox, Snapshot } from "@vercel/sandbox";
import { collect, options, report, step } from "./harness.mjs";

const tags = { "sandlot-owner": "owner", "sandlot-record": "record-box", team: "a" };
// All that the provider always says, since the defaults differ between versions of the API.
const said = { ports: [], timeout: 300000, resources: { vcpus: 2 }, networkPolicy: "allow-all", snapshotExpiration: 0 };

const box = await step("create", () =>
  Sandbox.create({
    ...options,
    ...said,
    name: "box",
    ports: [3000],
    timeout: 600000,
    persistent: true,
    env: { A: "1" },
    tags,
    keepLastSnapshots: { count: 2, deleteEvicted: true },
    region: "iad1",
    failoverRegions: ["fra1"],
  }),
);
await step("read", () => Sandbox.get({ ...options, name: "box", resume: false }));
await step("command", async () => {
  const command = await box.runCommand({ cmd: "sh", args: ["-c", "echo $A $B"], cwd: "/tmp", env: { B: "2" }, timeoutMs: 90000, detached: true });
  const lines = await collect(command.logs());
  assert.deepEqual(lines, [{ stream: "stdout", data: "1 2\n" }]);
  assert.equal((await command.wait()).exitCode, 0);
});
await step("write file", () => box.writeFiles([{ path: "/vercel/sandbox/notes/a.txt", content: "text", mode: 0o640 }]));
const read = await step("read file", () => box.readFileToBuffer({ path: "/vercel/sandbox/notes/a.txt" }));
assert.equal(read.toString(), "text");
await step("update", () =>
  box.update({
    resources: { vcpus: 4 },
    timeout: 900000,
    networkPolicy: "deny-all",
    tags: { ...tags, team: "b" },
    ports: [3000, 4000],
    snapshotExpiration: 172800000,
    keepLastSnapshots: { count: 3, deleteEvicted: true },
  }),
);
await step("update nothing but the retention", () => box.update({ keepLastSnapshots: null }));
const snapshot = await step("snapshot", () => box.snapshot({ expiration: 172800000 }));
const resumed = await step("start", () => Sandbox.get({ ...options, name: "box", resume: true }));
await step("stop", () => resumed.stop());
const copy = await step("create from snapshot", () =>
  Sandbox.create({
    ...options,
    ...said,
    name: "copy",
    persistent: false,
    tags: { "sandlot-owner": "owner", "sandlot-record": "record-copy" },
    source: { type: "snapshot", snapshotId: snapshot.snapshotId },
  }),
);
await step("create by runtime", () =>
  Sandbox.create({
    ...options,
    ...said,
    name: "legacy",
    persistent: false,
    tags: { "sandlot-owner": "owner", "sandlot-record": "record-legacy" },
    runtime: "node24",
  }),
);
await step("fork", () =>
  Sandbox.fork({ ...options, sourceSandbox: "box", name: "fork", tags: { "sandlot-owner": "owner", "sandlot-record": "record-fork" } }),
);
const all = await step("list", async () => collect(await Sandbox.list(options)));
assert.equal(all.length, 4);
const snapshots = await step("list snapshots", async () => collect(await Snapshot.list({ ...options, name: "box" })));
assert.equal(snapshots.length, 2);
await step("delete", () => copy.delete());
await step("delete with its snapshots", async () => (await Sandbox.get({ ...options, name: "fork", resume: false })).delete({ deleteOrphanSnapshots: true }));
const last = await Snapshot.get({ ...options, snapshotId: snapshot.snapshotId });
await step("delete snapshot", () => last.delete());

report({ finished: true });

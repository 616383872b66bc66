// The last beta before the second generation: two-line command streams, create on the path of then.
import assert from "node:assert/strict";
import { Sandbox, Snapshot } from "vercel-sandbox-beta";
import { everywhere, failure, options, report, step, told } from "./harness.mjs";

everywhere(); // Snapshot.get has no fetch option yet

const sandbox = await step("create", () =>
  Sandbox.create({ ...options, name: "beta", ports: [8080], runtime: "node24", timeout: 120000, env: { A: "1" }, tags: { k: "v" } }),
);
assert.equal(sandbox.status, "running");
assert.equal(sandbox.runtime, "node24");
assert.match(sandbox.domain(8080), /^https:\/\/sb-/);

const run = await step("run", () => sandbox.runCommand("sh", ["-c", "echo $A; echo oops >&2; exit 4"]));
assert.equal(run.exitCode, 4);
assert.equal(await step("logs", () => run.stdout()), "1\n");
assert.equal(await run.stderr(), "oops\n");
const detached = await step("run detached", () => sandbox.runCommand({ cmd: "sleep", args: ["300"], detached: true }));
await step("kill", () => detached.kill("SIGKILL"));
assert.equal((await step("wait", () => detached.wait())).exitCode, 137);

await step("writeFiles", () => sandbox.writeFiles([{ path: "a.txt", content: Buffer.from("beta") }]));
assert.equal((await step("readFile", () => sandbox.readFileToBuffer({ path: "a.txt" }))).toString(), "beta");
assert.equal(await sandbox.readFileToBuffer({ path: "none" }), null);
await step("mkDir", () => sandbox.mkDir("new"));

await step("update", () => sandbox.update({ timeout: 240000, tags: { k: "w" } }));
await step("extendTimeout", () => sandbox.extendTimeout(60000));
await step("updateNetworkPolicy", () => sandbox.updateNetworkPolicy({ allow: ["example.com"] }));

const stopped = await step("stop", () => sandbox.stop({ blocking: true }));
assert.equal(stopped.status, "stopped");
const again = await step("get", () => Sandbox.get({ ...options, name: "beta", resume: true }));
assert.equal((await again.readFileToBuffer({ path: "a.txt" })).toString(), "beta");
const snapshot = await step("snapshot", () => again.snapshot());
const copy = await step("create from snapshot", () =>
  Sandbox.create({ ...options, name: "beta-copy", source: { type: "snapshot", snapshotId: snapshot.snapshotId } }),
);
assert.equal((await copy.readFileToBuffer({ path: "a.txt" })).toString(), "beta");

const listed = await step("list", () => Sandbox.list({ ...options, sortBy: "name", namePrefix: "beta" }));
const sandboxes = listed.sandboxes ?? listed.json?.sandboxes;
assert.equal(sandboxes.length, 2);
const found = await step("snapshot get", () => Snapshot.get({ ...options, snapshotId: snapshot.snapshotId }));
await step("snapshot delete", () => found.delete());
await step("delete", () => again.delete());
const gone = await step("get deleted", () => failure(Sandbox.get({ ...options, name: "beta" })));
assert.deepEqual(told(gone), { status: 404, code: "not_found" });

report({ finished: true });

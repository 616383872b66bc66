// A session that ends while requests come in. The test makes the simulator slow to stop.
import assert from "node:assert/strict";
import { Sandbox } from "@vercel/sandbox";
import { options, report, step } from "./harness.mjs";

const sandbox = await Sandbox.create({ ...options, name: "slow" });
await sandbox.writeFiles([{ path: "kept.txt", content: "kept" }]);
const first = sandbox.currentSession().sessionId;
const stopped = await step("lazy stop", () => sandbox.stop());
assert.equal(stopped.status, "stopping");

// Both calls meet 422 and resume; there is one new session.
const [one, other] = await Promise.all([
  Sandbox.get({ ...options, name: "slow", resume: true }),
  Sandbox.get({ ...options, name: "slow", resume: true }),
]);
assert.equal(one.currentSession().sessionId, other.currentSession().sessionId);
assert.notEqual(one.currentSession().sessionId, first);
assert.equal((await one.readFileToBuffer({ path: "kept.txt" })).toString(), "kept");

await one.stop();
const made = await step("mkDir while stopping", () => one.mkDir("made"));
assert.equal(made, undefined);
assert.equal((await one.readFileToBuffer({ path: "kept.txt" })).toString(), "kept");

report({ finished: true });

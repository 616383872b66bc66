// An application that finds what Terraform made by nothing but Terraform's outputs, and works in it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Sandbox } from "@vercel/sandbox";
import { options, report } from "./harness.mjs";

const outputs = JSON.parse(process.env.OUTPUTS);
const given = (name) => outputs[name].value;
const attach = (name) => Sandbox.get({ ...options, name });

// A name.
const named = await attach(given("name"));
assert.equal(named.name, given("name"));
assert.equal(named.persistent, true);
assert.equal(named.cwd, given("workspace"));
const file = await named.readFileToBuffer({ path: given("file") });
assert.equal(file.toString(), given("content"));
const printed = await named.runCommand("sh", ["-c", `cat ${given("file")}; printf %s "$COLOR"`]);
assert.equal(printed.exitCode, 0);
assert.equal(await printed.stdout(), `${given("content")}green`);

// The record of a persistent sandbox.
const persistent = JSON.parse(given("persistent_record"));
assert.equal(persistent.kind, "vercel-persistent");
const recorded = await attach(persistent.sandboxName);
assert.equal(recorded.persistent, true);
assert.equal((await recorded.readFileToBuffer({ path: "TASK.md" })).toString(), "Go on.\n");

// The record of a session names the session itself.
const session = JSON.parse(given("session_record"));
assert.equal(session.kind, "vercel-session");
const brief = await attach(given("session_name"));
assert.equal(brief.persistent, false);
assert.equal(brief.currentSession().sessionId, session.sandboxId);
assert.equal(await (await brief.runCommand("echo", ["hi"])).stdout(), "hi\n");

// The environment of an application, which derives the name by itself.
const environment = given("agent_environment");
assert.equal(environment.BORING_AGENT_MODE, "vercel-sandbox");
const hash = createHash("sha256").update(given("workspace_id")).digest("hex").slice(0, 12);
const derived = `${environment.BORING_AGENT_VERCEL_SANDBOX_NAME_PREFIX}-${environment.BORING_AGENT_VERCEL_SANDBOX_NAMESPACE}-ws-${hash}`;
assert.equal(derived, persistent.sandboxName);
const workspace = await attach(derived);
assert.equal(workspace.timeout, Number(environment.BORING_AGENT_VERCEL_SANDBOX_TIMEOUT_MS));
await workspace.writeFiles([{ path: "done.txt", content: "by the application" }]);

report({ named: named.currentSession().sessionId, workspace: workspace.currentSession().sessionId });

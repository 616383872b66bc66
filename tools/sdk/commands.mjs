// Running commands: attached, detached, with logs, signals, time-outs and errors.
import assert from "node:assert/strict";
import { Sandbox } from "@vercel/sandbox";
import { collect, failure, options, report, step, told } from "./harness.mjs";

const sandbox = await Sandbox.create({ ...options, name: "commands", env: { COLOR: "blue", SIZE: "small" } });

const hello = await step("run", () => sandbox.runCommand("echo", ["hi"]));
assert.equal(hello.exitCode, 0);
assert.equal(await hello.stdout(), "hi\n");

const options2 = await step("run with options", () =>
  sandbox.runCommand({ cmd: "sh", args: ["-c", "pwd; echo $COLOR $SIZE; echo oops >&2; exit 3"], cwd: "/tmp", env: { SIZE: "large" }, timeoutMs: 30000 }),
);
assert.equal(options2.exitCode, 3);
assert.equal(await options2.stdout(), "/tmp\nblue large\n");
assert.equal(await options2.stderr(), "oops\n");

const text = await sandbox.runCommand("printf", ["%s", "grüße 🌍"]);
assert.equal(await text.stdout(), "grüße 🌍");
const large = await sandbox.runCommand("sh", ["-c", "head -c 300000 /dev/zero | tr '\\0' x"]);
assert.equal((await large.stdout()).length, 300000);

const missing = await step("run missing", () => failure(sandbox.runCommand("no-such-program")));
assert.deepEqual(told(missing), { status: 400, code: "executable_not_found" });
const inShell = await sandbox.runCommand("sh", ["-c", "no-such-program"]);
assert.equal(inShell.exitCode, 127);
const sudo = await step("run with sudo", () => failure(sandbox.runCommand({ cmd: "true", sudo: true })));
assert.deepEqual(told(sudo), { status: 400, code: "simulator_unsupported" });

const started = await step("run detached", () =>
  sandbox.runCommand({ cmd: "sh", args: ["-c", "echo begun; sleep 300"], detached: true }),
);
assert.equal(started.exitCode, null);
const firstLine = await step("logs", async () => {
  for await (const line of started.logs()) return line;
});
assert.deepEqual(firstLine, { stream: "stdout", data: "begun\n" });
const known = await step("getCommand", () => sandbox.getCommand(started.cmdId));
assert.equal(known.exitCode, null);
await step("kill", () => started.kill());
const killed = await step("wait", () => started.wait());
assert.equal(killed.exitCode, 143);
await step("kill finished", () => started.kill("SIGKILL"));
const replayed = await collect(killed.logs());
assert.deepEqual(replayed, [{ stream: "stdout", data: "begun\n" }]);

const polite = await sandbox.runCommand({ cmd: "sh", args: ["-c", 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.05; done'], detached: true });
for await (const line of polite.logs()) {
  if (line.data.includes("ready")) break;
}
await step("kill with signal", () => polite.kill("SIGINT"));
assert.equal((await polite.wait()).exitCode, 9);

const slow = await step("run with timeout", () => sandbox.runCommand({ cmd: "sleep", args: ["300"], timeoutMs: 300 }));
assert.equal(slow.exitCode, 137);

report({ finished: true });

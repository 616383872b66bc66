// Files, and the helpers that are commands in disguise.
import assert from "node:assert/strict";
import { Sandbox } from "@vercel/sandbox";
import { failure, options, report, step, told } from "./harness.mjs";

const sandbox = await Sandbox.create({ ...options, name: "files" });
assert.equal(sandbox.cwd, "/vercel/sandbox");

const long = `${"long-".repeat(30)}name.txt`;
await step("writeFiles", () =>
  sandbox.writeFiles([
    { path: "a/b.txt", content: Buffer.from("hello") },
    { path: "/tmp/x", content: Buffer.from("#!/bin/sh\necho run\n"), mode: 0o755 },
    { path: "grüße.txt", content: "unicode" },
    { path: long, content: "long" },
  ]),
);
const buffer = await step("readFile", () => sandbox.readFileToBuffer({ path: "a/b.txt" }));
assert.equal(buffer.toString(), "hello");
assert.equal((await sandbox.readFileToBuffer({ path: "grüße.txt" })).toString(), "unicode");
assert.equal((await sandbox.readFileToBuffer({ path: long })).toString(), "long");
assert.equal(await step("readFile missing", () => sandbox.readFileToBuffer({ path: "missing" })), null);
assert.equal(await sandbox.readFile({ path: "missing" }), null);
const directory = await step("readFile directory", () => failure(sandbox.readFileToBuffer({ path: "a" })));
assert.equal(told(directory).status, 400);
assert.equal(await (await sandbox.runCommand("/tmp/x")).stdout(), "run\n");
assert.equal(await (await sandbox.runCommand("stat", ["-c", "%a %u", "a/b.txt"])).stdout(), "644 1000\n");

await sandbox.writeFiles([{ path: "a/b.txt", content: "again" }]);
assert.equal((await sandbox.readFileToBuffer({ path: "a/b.txt" })).toString(), "again");
const refused = await step("writeFiles refused", () => failure(sandbox.writeFiles([{ path: "/etc/x", content: "no" }])));
assert.deepEqual(told(refused), { status: 400, code: "bad_request" });

await step("mkDir", () => sandbox.mkDir("new"));
const twice = await step("mkDir existing", () => failure(sandbox.mkDir("new")));
assert.deepEqual(told(twice), { status: 400, code: "bad_request" });

const fs = sandbox.fs;
await step("fs.writeFile", () => fs.writeFile("fs/one.txt", "one"));
await fs.appendFile("fs/one.txt", " two");
assert.equal(await fs.readFile("fs/one.txt", "utf8"), "one two");
assert.equal((await failure(fs.readFile("fs/none"))).code, "ENOENT");
await fs.mkdir("fs/deep/er", { recursive: true });
assert.deepEqual((await fs.readdir("fs")).sort(), ["deep", "one.txt"]);
const entries = await fs.readdir("fs", { withFileTypes: true });
assert.deepEqual(entries.map((entry) => [entry.name, entry.isDirectory()]).sort(), [
  ["deep", true],
  ["one.txt", false],
]);
const stat = await step("fs.stat", () => fs.stat("fs/one.txt"));
assert.equal(stat.size, 7);
assert.ok(stat.isFile());
await fs.chmod("fs/one.txt", 0o600);
assert.equal((await fs.stat("fs/one.txt")).mode & 0o777, 0o600);
await fs.symlink("one.txt", "fs/link");
assert.equal(await fs.readlink("fs/link"), "one.txt");
assert.ok((await fs.lstat("fs/link")).isSymbolicLink());
assert.equal(await fs.realpath("fs/link"), "/vercel/sandbox/fs/one.txt");
await fs.rename("fs/one.txt", "fs/two.txt");
assert.equal(await fs.exists("fs/one.txt"), false);
await fs.copyFile("fs/two.txt", "fs/three.txt");
await fs.truncate("fs/three.txt", 3);
assert.equal(await fs.readFile("fs/three.txt", "utf8"), "one");
await fs.unlink("fs/three.txt");
await fs.rm("fs", { recursive: true });
assert.equal(await fs.exists("fs"), false);
const temporary = await fs.mkdtemp("/tmp/made-");
assert.ok(temporary.startsWith("/tmp/made-"));

report({ finished: true });

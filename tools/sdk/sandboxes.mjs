// Creating, reading, listing, updating, forking and deleting sandboxes.
import assert from "node:assert/strict";
import { Sandbox } from "@vercel/sandbox";
import { collect, failure, options, report, step, told } from "./harness.mjs";

const demo = await step("create with options", () =>
  Sandbox.create({
    ...options,
    name: "demo",
    ports: [3000],
    timeout: 600000,
    resources: { vcpus: 2 },
    persistent: true,
    networkPolicy: "deny-all",
    env: { A: "1" },
    tags: { k: "v" },
    snapshotExpiration: 0,
    keepLastSnapshots: { count: 2 },
  }),
);
assert.equal(demo.name, "demo");
assert.equal(demo.status, "running");
assert.equal(demo.persistent, true);
assert.equal(demo.vcpus, 2);
assert.equal(demo.memory, 4096);
assert.equal(demo.timeout, 600000);
assert.equal(demo.region, "iad1");
assert.equal(demo.snapshotExpiration, 0);
assert.deepEqual(demo.tags, { k: "v" });
assert.deepEqual(demo.keepLastSnapshots, { count: 2, deleteEvicted: true });
assert.equal(demo.networkPolicy, "deny-all");
assert.equal(demo.currentSnapshotId, undefined);
assert.match(demo.image, /^vercel\/sandbox\/universal@sha256:[0-9a-f]{64}$/);
assert.match(demo.domain(3000), /^https:\/\/sb-[a-z0-9]+\.vercel\.run$/);
assert.equal(demo.routes.length, 1);
assert.ok(demo.expiresAt > new Date());

const duplicate = await step("create duplicate", () => failure(Sandbox.create({ ...options, name: "demo" })));
assert.deepEqual(told(duplicate), { status: 400, code: "bad_request" });

const legacy = await step("create runtime", () => Sandbox.create({ ...options, name: "legacy", runtime: "node22" }));
assert.equal(legacy.runtime, "node22");
assert.equal(legacy.image, undefined);
const unnamed = await step("create unnamed", () => Sandbox.create(options));
assert.match(unnamed.name, /^[a-zA-Z0-9_-]+$/);
assert.equal(unnamed.timeout, 300000);
assert.equal(unnamed.networkPolicy, "allow-all");

const got = await step("get", () => Sandbox.get({ ...options, name: "demo" }));
assert.equal(got.currentSession().sessionId, demo.currentSession().sessionId);
await step("get without resume", () => Sandbox.get({ ...options, name: "demo", resume: false }));
await step("get with resume", () => Sandbox.get({ ...options, name: "demo", resume: true }));
const missing = await step("get missing", () => failure(Sandbox.get({ ...options, name: "nobody" })));
assert.deepEqual(told(missing), { status: 404, code: "not_found" });

await step("update", () =>
  demo.update({
    persistent: false,
    resources: { vcpus: 4 },
    timeout: 900000,
    networkPolicy: "allow-all",
    tags: {},
    ports: [],
    keepLastSnapshots: null,
  }),
);
assert.equal(demo.persistent, false);
assert.equal(demo.routes.length, 0);
assert.deepEqual(demo.tags, {});
assert.equal(demo.keepLastSnapshots, undefined);
assert.equal(demo.networkPolicy, "allow-all");
assert.equal(demo.currentSession().timeout, 900000);
await step("update tags", () => demo.update({ tags: { k: "v" }, persistent: true }));
assert.deepEqual(demo.tags, { k: "v" });

await step("extendTimeout", () => demo.extendTimeout(60000));
assert.equal(demo.currentSession().timeout, 960000);

await step("updateNetworkPolicy", () => demo.updateNetworkPolicy("deny-all"));
await step("updateNetworkPolicy rules", () =>
  demo.update({
    networkPolicy: {
      allow: {
        "example.com": [],
        "*.example.net": [{ transform: [{ headers: { authorization: "secret" } }] }],
      },
      subnets: { deny: ["10.0.0.0/8"] },
    },
  }),
);
const restricted = demo.networkPolicy;
assert.ok(!JSON.stringify(restricted).includes("secret"));

const forked = await step("fork", () => Sandbox.fork({ ...options, sourceSandbox: "demo", name: "f1" }));
assert.equal(forked.name, "f1");
assert.equal(forked.timeout, 900000);
assert.deepEqual(forked.tags, { k: "v" });

const filtered = await step("list by name and tag", () =>
  Sandbox.list({ ...options, limit: 1, sortBy: "name", namePrefix: "de", tags: { k: "v" } }),
);
assert.deepEqual(
  filtered.sandboxes.map((one) => one.name),
  ["demo"],
);
const first = await step("list with cursor", async () => {
  const pages = await Sandbox.list({ ...options, limit: 2, sortBy: "name", sortOrder: "asc" });
  return collect(pages);
});
const names = first.map((one) => one.name);
assert.deepEqual(names, [...names].sort());
assert.equal(new Set(names).size, 4);

const created = await step("getOrCreate unknown", () => Sandbox.getOrCreate({ ...options, name: "later" }));
assert.equal(created.name, "later");
const again = await step("getOrCreate known", () => Sandbox.getOrCreate({ ...options, name: "later" }));
assert.equal(again.currentSession().sessionId, created.currentSession().sessionId);

await step("delete", () => demo.delete());
const gone = await step("get deleted", () => failure(Sandbox.get({ ...options, name: "demo" })));
assert.deepEqual(told(gone), { status: 404, code: "not_found" });
await step("delete with orphans", () => forked.delete({ deleteOrphanSnapshots: true }));

report({ names, restricted });

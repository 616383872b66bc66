// What the scripts share. Each drives the vendor's SDK against a simulator, asserts what comes back, and
// prints one line of JSON. The simulator records the requests; their header x-operation tells which
// step they belong to.
import assert from "node:assert/strict";

const origin = process.env.SIMULATOR_ORIGIN;
const send = globalThis.fetch;
let operation = "";

// The SDK has no option for its base URL.
async function simulated(input, init) {
  const url = String(input);
  assert.ok(url.startsWith("https://vercel.com/api/"), `unexpected request to ${url}`);
  const headers = new Headers(init?.headers);
  headers.set("x-operation", operation);
  return send(origin + url.slice("https://vercel.com".length), { ...init, headers });
}

// What is not sent by the option below is not sent at all.
globalThis.fetch = async (input) => assert.fail(`unexpected request to ${input}`);

export const options = {
  token: process.env.SIMULATOR_TOKEN,
  teamId: process.env.SIMULATOR_TEAM,
  projectId: process.env.SIMULATOR_PROJECT,
  fetch: simulated,
};

// everywhere makes also those calls go to the simulator that take no fetch option.
export function everywhere() {
  globalThis.fetch = simulated;
}

// step names the requests that follow and runs what makes them.
export async function step(name, run) {
  operation = name;
  try {
    return await run();
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  } finally {
    operation = "";
  }
}

// failure returns the error that a promise ends with.
export async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail("it did not fail");
}

// status and code of an API error.
export function told(error) {
  return { status: error.response?.status, code: error.json?.error?.code };
}

export async function collect(iterable) {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
}

export function report(result) {
  console.log(JSON.stringify(result));
}

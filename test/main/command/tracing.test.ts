// From KubeletConfiguration.tracing to what the threads trace with.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { SettingsError } from "../../../src/main/command/errors.js";
import { loadSettings, type Settings } from "../../../src/main/command/settings.js";
import { tracesIn } from "../../../src/main/threads/traced-threads.js";
import { CONFIG_FILE, filesOf, ioOf } from "../../support/config-kit.js";

async function load(file: string): Promise<Settings> {
  const request = await loadSettings([`--config=${CONFIG_FILE}`], ioOf(filesOf({ file })));
  if (request.action !== "run") throw new Error(`expected to run, not: ${JSON.stringify(request)}`);
  return request.settings;
}

const tracingOf = async (fields: string) => (await load(`tracing: {${fields}}`)).tracing;

describe("tracing", () => {
  test("is off unless a field of it is set", async () => equal((await load("maxPods: 5")).tracing, undefined));
  test("goes to localhost:4317 by default", async () =>
    deepEqual(await tracingOf("samplingRatePerMillion: 10"), { target: "localhost:4317", samplingRatePerMillion: 10 }));
  test("samples nothing of its own by default", async () =>
    deepEqual(await tracingOf("endpoint: otel:4317"), { target: "otel:4317", samplingRatePerMillion: 0 }));

  const targets = [
    ["dns://otel:4317", "otel:4317"],
    ["dns:///otel:80", "otel:80"],
    ["dns://10.0.0.10/otel:4317", "otel:4317"],
    ["[::1]:4317", "[::1]:4317"],
    ["unix:///run/otel.sock", "unix:///run/otel.sock"],
  ] as const;
  for (const [endpoint, target] of targets) {
    test(`the endpoint ${endpoint} is the gRPC target ${target}`, async () =>
      equal((await tracingOf(`endpoint: "${endpoint}"`))?.target, target));
  }

  test("an abstract socket is named in the start-up log, and nothing is traced", async () => {
    const { tracing, notices } = await load("tracing: {endpoint: 'unix-abstract://otel', samplingRatePerMillion: 5}");
    equal(tracing, undefined);
    match(notices.join("\n"), /tracing\.endpoint "unix-abstract:\/\/otel": .*no traces are sent/);
  });

  test("its fields are not among those without effect", async () => {
    const { notices } = await load("tracing: {endpoint: otel:4317, samplingRatePerMillion: 5}");
    deepEqual(
      notices.filter((line) => line.includes("tracing")),
      [],
    );
  });

  for (const rate of [-1, 1_000_001]) {
    test(`samplingRatePerMillion ${rate} is refused`, async () => {
      const problem = await tracingOf(`samplingRatePerMillion: ${rate}`).catch((error: unknown) => error);
      match(problem instanceof SettingsError ? problem.problems.join() : "", /tracing\.samplingRatePerMillion/);
    });
  }
});

describe("threads that trace", () => {
  const tracing = { target: "otel:4317", hostName: "node-1" };
  test("without a sampling rate only the servers' threads have callers", () => {
    const config = { ...tracing, samplingRatePerMillion: 0 };
    deepEqual(
      ["main", "pleg", "server", "secure-server", "prober"].filter((name) => tracesIn(name, config)),
      ["server", "secure-server"],
    );
  });
  test("every thread traces with a sampling rate", () => {
    const config = { ...tracing, samplingRatePerMillion: 1 };
    equal(tracesIn("pleg", config), config);
  });
  test("no thread traces while tracing is off", () => equal(tracesIn("server", undefined), undefined));
});

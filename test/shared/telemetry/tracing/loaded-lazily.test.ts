// The libraries of OpenTelemetry cost memory and start-up time in every thread that loads them. This test follows the
// imports that run when a thread starts. None of them leads to the libraries; only import() does.
// @promise Server: OpenTelemetry is loaded only with `tracing`, without a sampling rate only by the servers' threads.
// @with test/main/command/tracing.test.ts, test/integration/tracing.test.ts

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { globSync } from "../../../harness/glob.js";

const SRC = join(import.meta.dirname, "../../../../../src");
/** `import type` is gone at run time. */
const VALUES = /^(?:import|export) (?!type\b)[^;]*?from "([^"]+)";|^import "([^"]+)";/gm;

function importsOf(file: string): string[] {
  const found = readFileSync(join(SRC, file), "utf8").matchAll(VALUES);
  return [...found].map(([, from, bare]) => from ?? bare ?? "");
}

const files = globSync(SRC, ".ts").filter((file) => !file.includes("/gen/"));

test("only the tracer and its exporters import OpenTelemetry", () => {
  assert.deepEqual(files.filter((file) => importsOf(file).some((name) => name.startsWith("@opentelemetry/"))).sort(), [
    "shared/telemetry/tracing/otel.ts",
    "shared/telemetry/tracing/otlp-exporter.ts",
    "shared/telemetry/tracing/span-export.ts",
  ]);
});

test("no file imports the tracer or its exporter but by import()", () => {
  const modules = [
    "./otel.js",
    "./otlp-exporter.js",
    "/tracing/otel.js",
    "/tracing/otlp-exporter.js",
    "start-tracing.js",
  ];
  const importers = files.filter((file) =>
    importsOf(file).some((name) => modules.some((module) => name.endsWith(module))),
  );
  assert.deepEqual(importers, []);
});

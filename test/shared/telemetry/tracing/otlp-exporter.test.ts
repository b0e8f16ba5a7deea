// Spans on their way to a collector by OTLP over gRPC: over TCP, over a socket, and to an absent one.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { otlpExporter } from "../../../../src/shared/telemetry/tracing/otlp-exporter.js";
import { startTracing } from "../../../../src/shared/telemetry/tracing/start-tracing.js";
import { tracer } from "../../../../src/shared/telemetry/tracing/tracing.js";
import { freePort } from "../../../support/free-port.js";
import { OtlpCollector } from "../../../support/otlp-collector.js";
import { CALLER, SAMPLED, TRACE, traceThis } from "../../../support/tracing-kit.js";

for (const transport of ["TCP", "a socket"]) {
  test(`a collector behind ${transport} gets the span with all that belongs to it`, async (context) => {
    const directory = await mkdtemp(join(tmpdir(), "otlp-"));
    context.after(() => rm(directory, { recursive: true, force: true }));
    const address = transport === "TCP" ? undefined : `unix://${directory}/otlp.sock`;
    const { collector, target } = await OtlpCollector.start(address);
    context.after(() => collector.stop());
    const config = { target, samplingRatePerMillion: 0, hostName: "node-1" };
    const warnings: string[] = [];
    const log = { warn: (_fields: object, line: string) => void warnings.push(line) } as unknown as Logger;
    const tracing = await startTracing(config, systemClock, log);
    const span = tracer()?.start("work", {
      kind: "client",
      parent: { headers: SAMPLED },
      attributes: { text: "a", number: 7, flag: true },
    });
    span?.fail(new Error("no space left"));
    span?.end();
    await tracing.stop();
    assert.equal(tracer(), undefined);
    assert.deepEqual(warnings, []);
    const [seen] = collector.spans;
    assert.ok(seen !== undefined);
    const { spanId, startNanos, endNanos, ...rest } = seen;
    assert.match(spanId, /^[0-9a-f]{16}$/);
    assert.ok(startNanos > 0n && endNanos >= startNanos);
    assert.deepEqual(rest, {
      traceId: TRACE,
      parentId: CALLER,
      name: "work",
      kind: 3,
      attributes: { text: "a", number: 7, flag: true },
      status: { code: 2, message: "no space left" },
      links: [],
      resource: { "service.name": "kubelet", "host.name": "node-1" },
      scope: "k8s.io/kubernetes/pkg/kubelet",
    });
  });
}

test("a collector that is not there costs a line in the log", async (context) => {
  const exporter = otlpExporter(`127.0.0.1:${await freePort()}`);
  const { tracer: own, lines } = traceThis(context, { exporter });
  own.start("work", { parent: "none" }).end();
  await own.stop();
  assert.match(lines.join("\n"), /traces are lost/);
});

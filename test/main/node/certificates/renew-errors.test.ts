// Certificates that cannot be renewed are counted, each kind in its own metric.

import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateMetrics } from "../../../../src/main/node/certificates/metrics.js";
import { clientCertificate, servingCertificate } from "../../../../src/main/node/certificates/rotation.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { renderExposition } from "../../../../src/workers/server/metrics/merge-metrics.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const CLIENT = "kubelet_certificate_manager_client_expiration_renew_errors";
const SERVING = "kubelet_server_expiration_renew_errors";

for (const kind of ["client", "serving"] as const) {
  test(`a ${kind} certificate that cannot be requested is one error of its metric`, async (t) => {
    const registry = new ThreadRegistry("main");
    const clock = new SteppedClock();
    const { log, errors } = keptLog();
    const failing = (): Promise<never> => Promise.reject(new Error("no entropy"));
    const deps = {
      ...{ nodeName: "n1", clock, log, metrics: certificateMetrics(registry, clock) },
      client: {} as never,
      store: { read: () => Promise.resolve(undefined), keep: failing } as never,
      tasks: { request: failing, selfSigned: failing, describe: failing },
    };
    const addresses = () => [{ type: "InternalIP" as const, address: "192.0.2.1" }];
    const manager =
      kind === "client"
        ? clientCertificate(deps, () => undefined)
        : servingCertificate(deps, { addresses, allowDNSOnly: false });
    manager.start();
    t.after(() => manager.stop());
    await until("the failure", () => errors().length === 1);
    const page = renderExposition([await registry.exportSnapshot()]);
    const value = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, "m").exec(page)?.[1];
    assert.deepEqual([value(CLIENT), value(SERVING)], kind === "client" ? ["1", "0"] : ["0", "1"]);
  });
}

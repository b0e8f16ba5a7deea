// The certificate that the kubelet makes itself: an error is logged, an interruption by the kubelet's own stop is not.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { provideServingCertificate } from "../../../src/main/agent/serving-certificate.js";
import type { TasksPool } from "../../../src/main/threads/tasks-pool.js";
import { systemClock } from "../../../src/shared/clock/clock.js";
import { keptLog } from "../../support/sources-kit.js";

/** The errors of a start whose threads never run. */
async function errorsWhen(signal: AbortSignal): Promise<string[]> {
  const { log, errors } = keptLog();
  const parts: Parameters<typeof provideServingCertificate>[0] = {
    files: { certFile: "/none/kubelet.crt", keyFile: "/none/kubelet.key", from: "self-signed" },
    nodeName: "node",
    nodeIPs: [],
    running: Promise.reject(new Error("thread server was stopped")),
    // Not reached.
    tasks: {} as TasksPool,
    clock: systemClock,
    log,
    signal,
  };
  await provideServingCertificate(parts);
  return errors();
}

test("a certificate that can't be made is an error", async () => {
  deepEqual(await errorsWhen(new AbortController().signal), [
    "cannot create a serving certificate; the kubelet opens no port without one: thread server was stopped",
  ]);
});

test("a kubelet that stops logs no error about an unfinished certificate", async () => {
  deepEqual(await errorsWhen(AbortSignal.abort()), []);
});

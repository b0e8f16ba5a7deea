// The certificate that the kubelet makes itself: an error is logged, an interruption by the kubelet's own stop is not.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { deferredServingCertificate } from "../../../src/main/kubelet/serving-certificate.js";
import type { TasksPool } from "../../../src/main/threads/tasks-pool.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

/** A start whose threads never run. */
function build(running: Promise<void>) {
  const { log, errors } = keptLog();
  const clock = new SteppedClock();
  const certificate = deferredServingCertificate({
    files: { certFile: "/none/kubelet.crt", keyFile: "/none/kubelet.key", from: "self-signed" },
    nodeName: "node",
    nodeIPs: [],
    running,
    // Not reached.
    tasks: {} as TasksPool,
    clock,
    log,
  });
  certificate?.start();
  clock.step(0);
  return { certificate, errors };
}

test("a certificate that can't be made is an error", async () => {
  const { certificate, errors } = build(Promise.reject(new Error("thread server was stopped")));
  await settle();
  deepEqual(errors(), [
    "cannot create a serving certificate; the kubelet opens no port without one: thread server was stopped",
  ]);
  await certificate?.stop();
});

test("a kubelet that stops waits for no thread, and logs no error about an unfinished certificate", async () => {
  const { certificate, errors } = build(new Promise(() => undefined));
  await settle();
  await certificate?.stop();
  deepEqual(errors(), []);
});

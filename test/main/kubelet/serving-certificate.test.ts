// The certificate that the kubelet makes itself: an error is logged, an interruption by the kubelet's own stop is not.

import { deepEqual } from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deferredServingCertificate } from "../../../src/main/kubelet/serving-certificate.js";
import type { TasksPool } from "../../../src/main/threads/tasks-pool.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

type Run = () => Promise<unknown>;
const notReached: Run = () => Promise.reject(new Error("the threads do not run"));
const PROBLEM = "cannot create a serving certificate; the kubelet opens no port without one";

function build(running: Promise<void>, { folder = "/none", run = notReached }: { folder?: string; run?: Run } = {}) {
  const { log, errors } = keptLog();
  const clock = new SteppedClock();
  const certificate = deferredServingCertificate({
    files: { certFile: `${folder}/kubelet.crt`, keyFile: `${folder}/kubelet.key`, from: "self-signed" },
    nodeName: "node",
    nodeIPs: [],
    running,
    tasks: { run } as unknown as TasksPool,
    clock,
    log,
  });
  certificate?.start();
  clock.step(0);
  return { certificate, errors, clock };
}

test("a certificate that can't be made is an error", async () => {
  const { certificate, errors } = build(Promise.reject(new Error("thread server was stopped")));
  await settle();
  deepEqual(errors(), [`${PROBLEM}: thread server was stopped; it is tried again in 10 s`]);
  await certificate?.stop();
});

test("a kubelet that stops waits for no thread, and logs no error about an unfinished certificate", async () => {
  const { certificate, errors } = build(new Promise(() => undefined));
  await settle();
  await certificate?.stop();
  deepEqual(errors(), []);
});

test("a certificate that was not made in time is made by the next try", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "serving-"));
  t.after(() => rm(folder, { recursive: true }));
  let tries = 0;
  const run: Run = () =>
    ++tries === 1 ? Promise.reject(new Error("not done within 30 s")) : Promise.resolve({ key: "k", certificate: "c" });
  const { certificate, errors, clock } = build(Promise.resolve(), { folder, run });
  await waitFor(() => errors().length === 1, { what: "the first failure" });
  clock.step(10_000);
  await waitFor(async () => (await readFile(join(folder, "kubelet.crt"), "utf8")) === "c", { what: "the certificate" });
  deepEqual(errors(), [`${PROBLEM}: not done within 30 s; it is tried again in 10 s`]);
  await certificate?.stop();
});

// Exit of a node whose client certificate is not renewed. It restarts after a refusal by the API server, and not
// before.
// @promise Cluster: An expired client certificate. The kubelet exits after five minutes if the API server refuses the
//   renewal, but not while the server is away.
// @with test/main/node/certificates/expiry-watch.test.ts

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startCredentials, type CredentialsDeps } from "../../../src/main/cluster/credentials.js";
import type { Settings } from "../../../src/main/command/settings.js";
import { kubeconfigText } from "../../../src/main/node/api-server/kubeconfig.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { createApiClient } from "../../../src/shared/kubernetes/api/client/client.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import {
  describeCertificate,
  makeCertificateRequest,
} from "../../../src/workers/tasks/certificates/certificate-jobs.js";
import { FakeApi } from "../../fake-api/fake-api.js";
import { fastClock } from "../../support/fast-clock.js";
import { keptLog, until } from "../../support/sources-kit.js";

/** Five minutes are 0.3 s. */
const SPEED = 1000;
const NODE = { name: "system:node:n1", groups: ["system:nodes"] };
const HOUR = 3_600_000;

let api: FakeApi;
let dir: string;
before(async () => {
  api = await FakeApi.start();
  dir = await mkdtemp(join(tmpdir(), "credentials-"));
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const jobs: Readonly<Record<string, (job: never) => unknown>> = {
  makeCertificateRequest,
  describeCertificate,
};

/** A node with a certificate that ended a minute ago, and no bootstrap kubeconfig. */
async function joined(name: string) {
  const kubeconfig = join(dir, name);
  const pair = api.clientCertificate(NODE.name, NODE.groups, { fromMs: -HOUR, lifeMs: -60_000 });
  await writeFile(kubeconfig, kubeconfigText(api.url, api.ca, pair));
  const reasons: string[] = [];
  const { log, errors } = keptLog();
  const settings = {
    kubeconfig,
    bootstrapKubeconfig: "",
    certDir: join(dir, `${name}.pki`),
    node: { rotateCertificates: true },
  };
  const clock = fastClock(SPEED);
  const parts = {
    settings: settings as unknown as Settings,
    nodeName: "n1",
    tasks: { run: (task: string, job: never) => Promise.resolve(jobs[task]?.(job)) } as unknown,
    registry: new ThreadRegistry("test"),
    clock,
    log,
    signal: new AbortController().signal,
    connect: (config) => createApiClient({ config, clock: systemClock, log, qps: -1 }),
    giveUp: (reason) => reasons.push(reason),
  } as CredentialsDeps;
  const credentials = await startCredentials(parts);
  return {
    reasons,
    errors,
    minutes: (count: number) => clock.sleep(count * 60_000),
    async [Symbol.asyncDispose]() {
      await credentials.stop();
      credentials.client.close();
    },
  };
}

test("an expired certificate that the server refuses to renew ends the kubelet after five minutes", async () => {
  await using node = await joined("refused");
  await node.minutes(3);
  assert.deepEqual(node.reasons, []);
  await until("the agent gives up", () => node.reasons.length > 0);
  assert.match(node.reasons.join(), /client certificate has expired/);
  assert.ok(api.calls.count({ code: 401 }) > 0);
});

test("while the server does not respond the kubelet keeps running; when it refuses, the kubelet exits", async () => {
  await api.stop();
  await using node = await joined("away");
  await node.minutes(15);
  assert.deepEqual(node.reasons, []);
  assert.ok(node.errors().some((line) => line.includes("the API server cannot be reached to renew it")));
  await api.restart();
  await until("the agent gives up", () => node.reasons.length > 0);
});

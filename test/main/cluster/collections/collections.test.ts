// Services and trust bundles: followed from the first need on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { distinctCertificates } from "../../../../src/main/cluster/collections/certificates.js";
import { servicesCollection } from "../../../../src/main/cluster/collections/services.js";
import { TrustBundles } from "../../../../src/main/cluster/collections/trust-bundles.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { followKit, notFound } from "../follow-kit.js";

const never = new AbortController().signal;

test("services: nothing is watched before the first reader; only names, addresses and ports are kept", async () => {
  const { follow, replace, event, live } = followKit();
  const clock = new SteppedClock();
  const services = servicesCollection({ follow, clock });
  assert.deepEqual([live(), services.peek()], [[], undefined]);
  const all = services.all(never);
  const service = {
    metadata: { name: "web", namespace: "ns", labels: { big: "x" }, annotations: { huge: "y" } },
    spec: { clusterIP: "10.0.0.1", type: "ClusterIP", ports: [{ port: 80, name: "http", targetPort: 8080 }] },
  };
  replace("services", service);
  assert.deepEqual(await all, [
    {
      metadata: { name: "web", namespace: "ns" },
      spec: { clusterIP: "10.0.0.1", ports: [{ port: 80, name: "http" }] },
    },
  ]);
  event("services", "ADDED", { metadata: { name: "db", namespace: "ns" } });
  event("services", "DELETED", { metadata: { name: "web", namespace: "ns" } });
  assert.deepEqual(
    services.peek()?.map(({ metadata }) => metadata.name),
    ["db"],
  );
  assert.equal(clock.pending, 0);
  services.stop();
  assert.deepEqual(live(), []);
});

test("services: the first list is waited for, ten seconds at most", async () => {
  const { follow } = followKit();
  const clock = new SteppedClock();
  const services = servicesCollection({ follow, clock });
  const all = services.all(never);
  clock.step(10_000);
  assert.equal(await all, undefined);
  const abort = new AbortController();
  const later = services.all(abort.signal);
  abort.abort(new Error("pod removed"));
  await assert.rejects(later, /pod removed/);
  assert.equal(clock.pending, 0);
});

const pem = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const A = "QUFBQUFB";
const B = "QkJCQkJC";

test("certificates: each once, however wrapped, in one order", () => {
  assert.equal(
    distinctCertificates([`text\n${pem(B)}junk\n${pem(`${A.slice(0, 4)}\n${A.slice(4)}`)}`, pem(A)]),
    pem(A) + pem(B),
  );
  assert.equal(distinctCertificates([pem("x".repeat(100))]).split("\n")[1]?.length, 64);
  assert.equal(distinctCertificates(["no certificate"]), "");
});

function bundles(served: string | undefined, enabled = true) {
  const kit = followKit();
  const asked: string[] = [];
  const client: Pick<ApiClient, "list"> = {
    list: ({ version, resource }) => {
      asked.push(version);
      if (version !== served) return Promise.reject(notFound(resource, ""));
      return Promise.resolve({ metadata: {}, items: [] });
    },
  };
  return {
    ...kit,
    asked,
    anchors: new TrustBundles({ client, follow: kit.follow, clock: new SteppedClock(), enabled }),
  };
}

test("trust bundles: by name, and by signer and labels, in the newest version that is served", async () => {
  const { anchors, asked, live, replace } = bundles("v1beta1");
  const first = anchors.byName("one", false, never);
  await until(() => live().length === 1);
  assert.deepEqual(asked, ["v1", "v1beta1"]);
  replace(
    "clustertrustbundles",
    { metadata: { name: "one" }, spec: { trustBundle: pem(A) } } as object as { metadata: object },
    { metadata: { name: "x:1", labels: { app: "a" } }, spec: { signerName: "x", trustBundle: pem(B) } } as object as {
      metadata: object;
    },
  );
  assert.equal(await first, pem(A));
  await assert.rejects(anchors.byName("two", false, never), /clustertrustbundle.certificates.k8s.io "two" not found/);
  assert.equal(await anchors.byName("two", true, never), "");
  assert.equal(await anchors.bySigner("x", { matchLabels: { app: "a" } }, false, never), pem(B));
  assert.equal(await anchors.bySigner("x", {}, false, never), pem(B));
  await assert.rejects(anchors.bySigner("x", undefined, false, never), /matched zero ClusterTrustBundles/);
  assert.equal(await anchors.bySigner("y", {}, true, never), "");
  assert.equal(asked.length, 2, "the version is found once");
});

test("trust bundles: not without the gate, nor on a server that has none", async () => {
  for (const { anchors, asked, calls } of [
    { ...bundles("v1", false), calls: 0 },
    { ...bundles(undefined), calls: 3 },
  ]) {
    await assert.rejects(anchors.byName("one", true, never), /not supported in static kubelet mode/);
    assert.equal(asked.length, calls);
  }
});

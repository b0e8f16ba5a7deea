// The life of a node's credentials: a bootstrap token becomes a certificate, which is renewed in flight; the cluster
// signs what port 10250 serves; a token file is rotated and the old token refused. The heartbeat must not notice.

import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { PATIENCE } from "../../tools/standalone/wait.js";
import type { User } from "../fake-api/fake-api.js";
import { boundPod, NODE_NAME } from "../support/cluster-node.js";
import {
  agentCalls,
  isNodeReady,
  livesOf,
  NODE_USER,
  PATIENCE_MS,
  settled,
  startFaultyCluster,
  still,
  unready,
  askToEnd,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import { IDLE } from "../support/static-pods.js";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
/** Renewed every 3 s: a renewal may be 9 s late. */
const LEASE_SECONDS = 12;
/**
 * A certificate of 105 s that began 66 s ago: it is renewed 7 to 28 s after it was made, and expires after 39 s. A slow
 * node has 10 s.
 */
const FIRST = { lifeMs: 39_000, backdateMs: 66_000 };
const HOUR_MS = 3600_000;
const CSR = "certificatesigningrequests";

describe("credentials that change", () => {
  let cluster: FaultyCluster;
  let kubeconfig: string;
  let began = 0;
  /** The first client certificate is no longer valid then. */
  let firstEnds = Infinity;

  before(async () => {
    began = Date.now();
    cluster = await startFaultyCluster({
      api: {
        approveServingCertificates: true,
        certificateLifeMs: FIRST.lifeMs,
        certificateBackdateMs: FIRST.backdateMs,
      },
      node: {
        secure: true,
        config: {
          rotateCertificates: true,
          serverTLSBootstrap: true,
          nodeLeaseDurationSeconds: LEASE_SECONDS,
          nodeStatusUpdateFrequency: "1s",
        },
        start: false,
      },
      async join(fixture) {
        fixture.store.put("secrets", {
          metadata: { name: `bootstrap-token-${TOKEN.id}`, namespace: "kube-system" },
          type: "bootstrap.kubernetes.io/token",
          data: {
            "token-id": base64(TOKEN.id),
            "token-secret": base64(TOKEN.secret),
            "usage-bootstrap-authentication": base64("true"),
          },
        });
        const bootstrap = await fixture.kubeconfig({ token: `${TOKEN.id}.${TOKEN.secret}` });
        kubeconfig = `${bootstrap}.node`;
        return [`--bootstrap-kubeconfig=${bootstrap}`, `--kubeconfig=${kubeconfig}`];
      },
    });
    const { fixture } = cluster;
    const signed = settled("the first certificate", () =>
      fixture.store.list(CSR).some(({ status }) => typeof status?.["certificate"] === "string") ? "" : "none",
    );
    await Promise.all([cluster.node.restart(), signed.then(() => (firstEnds = Date.now() + FIRST.lifeMs))]);
    // Those that come next live long.
    fixture.settings.certificateLifeMs = HOUR_MS;
  });
  after(async () => {
    await cluster.stop();
    await rm(kubeconfig, { force: true });
  });

  test("a bootstrap token brings a Ready node that runs pods", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture } = cluster;
    await settled("the node is Ready", () => (isNodeReady(fixture) ? "" : "not Ready"));
    const asked = fixture.store
      .list(CSR)
      .map(({ spec }) => `${String(spec?.["username"])} ${String(spec?.["signerName"])}`);
    assert.ok(asked.includes(`system:bootstrap:${TOKEN.id} kubernetes.io/kube-apiserver-client-kubelet`), asked.join());
    fixture.store.put("pods", boundIn("stays"));
    await settled("a pod", () => unready(fixture, ["stays"]));
  });

  test("the port serves the certificate that the cluster signed", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture, node } = cluster;
    const port = Number(new URL(node.kubelet.secureUrl).port);
    await settled("a certificate of the cluster's authority", async () => {
      const seen = await subjectServed(port, fixture.ca);
      return seen === `system:node:${NODE_NAME}` ? "" : seen;
    });
    const serving = fixture.store
      .list(CSR)
      .filter(({ spec }) => spec?.["signerName"] === "kubernetes.io/kubelet-serving")
      .map(({ spec }) => String(spec?.["username"]));
    assert.ok(serving.length > 0 && serving.every((user) => user === NODE_USER), serving.join());
  });

  test("the client certificate is renewed in flight", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture } = cluster;
    const before = livesOf(fixture, ["stays"]);
    const renewals = (): number =>
      fixture.store
        .list(CSR)
        .filter(({ spec }) => spec?.["signerName"] === "kubernetes.io/kube-apiserver-client-kubelet")
        .filter(({ spec }) => spec?.["username"] === NODE_USER).length;
    await settled("a request in the node's own name", () => (renewals() > 0 ? "" : "none"));
    // Until the first one is over, and one renewal more.
    const over = firstEnds;
    await settled("calls with the second certificate", () =>
      Date.now() > over && leaseRenewals().some(({ at }) => at > over) ? "" : "not yet",
    );
    assert.deepEqual(refusals(), [], "no call was refused");
    noGap();
    assert.ok(renewals() <= 2, `${renewals()} requests: a certificate of an hour is not renewed at once`);
    assert.deepEqual(livesOf(fixture, ["stays"]), before);
    fixture.store.put("pods", boundIn("fresh"));
    await settled("a pod after the renewal", () => unready(fixture, ["fresh"]));
  });

  test("a token file is rotated, and the old token refused", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture, node } = cluster;
    const user: User = { name: NODE_USER, groups: ["system:nodes"] };
    const { tokens } = fixture.settings;
    const file = join(node.kubelet.dir, "token");
    tokens.set("first-token", user);
    await writeFile(file, "first-token");
    const text = fixture.kubeconfigText({ token: "unused" }).replace('"token": "unused"', `"tokenFile": "${file}"`);
    await node.kill9();
    await writeFile(kubeconfig, text);
    await node.restart();
    const since = Date.now();
    const before = livesOf(fixture, ["stays"]);
    await settled("heartbeats with the token", () => (leaseRenewals(since).length > 0 ? "" : "none"));

    tokens.set("second-token", user);
    await writeFile(file, "second-token");
    tokens.delete("first-token");
    const rotated = Date.now();
    await settled("heartbeats with the next token", () => (leaseRenewals(rotated).length > 1 ? "" : "none"));
    fixture.store.put("pods", boundIn("tokens"));
    await settled("a pod by the next token", () => unready(fixture, ["tokens"]));
    noGap(since);
    const refused = fixture.calls.count({ code: 401 }, rotated);
    assert.ok(refused < 20, `${refused} calls with the old token`);

    // The whole is refused for a while: nothing is touched, nothing is asked in a hurry.
    tokens.delete("second-token");
    fixture.dropConnections();
    const locked = Date.now();
    await settled("refusals", () => (fixture.calls.count({ code: 401 }, locked) > 3 ? "" : "none"));
    await settled("some time", () => (Date.now() - locked > 4000 ? "" : "not yet"));
    const many = fixture.calls.count({ code: 401 }, locked) / ((Date.now() - locked) / 1000);
    assert.ok(many < 15, `${many} refused calls a second`);
    tokens.set("second-token", user);
    await askToEnd(cluster, "tokens");
    await settled("what was asked meanwhile", () => still(fixture, ["tokens"]));
    assert.deepEqual(livesOf(fixture, ["stays"]), before);
  });

  const leaseRenewals = (since = began) =>
    agentCalls(cluster.fixture, since).filter(
      ({ verb, resource, code }) => verb === "update" && resource === "leases" && code === 200,
    );

  /** The lease never ran out. */
  function noGap(since = began): void {
    const times = leaseRenewals(since).map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
    assert.ok(Math.max(0, ...gaps) < LEASE_SECONDS * 1000, `between renewals: ${gaps.join(" ")} ms`);
  }

  function refusals(): string[] {
    return cluster.fixture.calls
      .matching({ code: 401 })
      .map(({ verb, path, userAgent }) => `${verb} ${path} ${userAgent}`);
  }
});

function boundIn(name: string): Parameters<FaultyCluster["fixture"]["store"]["put"]>[1] {
  return { ...boundPod(name, IDLE), metadata: { name, namespace: "default" } };
}

/** Common name of the certificate at a port, when `ca` signed it; why not otherwise. */
function subjectServed(port: number, ca: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", ca, checkServerIdentity: () => undefined }, () => {
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      resolve(String(subject.CN));
    });
    socket.once("error", (error: Error) => resolve(error.message));
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

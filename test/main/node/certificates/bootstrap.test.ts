// A node without credentials gets them: key, request, wait, certificate, kubeconfig.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import "reflect-metadata";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PemConverter, Pkcs10CertificateRequest, X509CertificateGenerator } from "@peculiar/x509";
import { bootstrap, type BootstrapDeps } from "../../../../src/main/node/certificates/bootstrap.js";
import { CertificateStore } from "../../../../src/main/node/certificates/certificate-store.js";
import type { CertificateTasks } from "../../../../src/main/node/certificates/certificate-tasks.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { later } from "../../../../src/shared/base/clock/moments.js";
import { ApiConnectionError, ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import { loadClientConfig } from "../../../../src/shared/kubernetes/api/client/kubeconfig/load.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import type { CertificateSigningRequest } from "../../../../src/shared/kubernetes/api/objects.js";
import {
  describeCertificate,
  makeCertificateRequest,
  makeSelfSigned,
} from "../../../../src/workers/tasks/certificates/certificate-jobs.js";
import { silentLog } from "../../../support/silent.js";

const tasks: CertificateTasks = {
  request: makeCertificateRequest,
  selfSigned: makeSelfSigned,
  describe: (pem) => Promise.resolve(describeCertificate({ pem })),
};
const log = silentLog;
const HOUR = 3600_000;

/** Signs requests as a cluster does, or a key of its own where `foreign` is set. */
class Signer {
  foreign = false;
  readonly requests = new Map<string, CertificateSigningRequest>();
  offline = 0;
  deny = 0;

  client(): ApiClient {
    const refused = (): never => assert.fail("not used here");
    return {
      create: (_, object) => {
        if (this.offline-- > 0) return Promise.reject(new ApiConnectionError("connection refused"));
        const request = object as unknown as CertificateSigningRequest;
        const name = request.metadata.name ?? "";
        if (this.requests.has(name)) return Promise.reject(new ApiError(409, "AlreadyExists", "already exists"));
        this.requests.set(name, request);
        return Promise.resolve(object);
      },
      get: async (_, { name }) => {
        const request = this.requests.get(name);
        assert.ok(request);
        request.status = await this.verdict(request);
        return request as never;
      },
      watch: refused,
      list: refused,
      createSub: refused,
      update: refused,
      patch: refused,
      delete: refused,
      closeConnections: () => undefined,
      close: () => undefined,
    };
  }

  private async verdict({
    spec,
  }: CertificateSigningRequest): Promise<NonNullable<CertificateSigningRequest["status"]>> {
    if (this.deny-- > 0) {
      return { conditions: [{ type: "Denied", status: "True", reason: "Nobody", message: "knows this node" }] };
    }
    const now = systemClock.now();
    const own = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const asked = new Pkcs10CertificateRequest(
      PemConverter.decodeFirst(Buffer.from(spec.request, "base64").toString()),
    );
    const certificate = await X509CertificateGenerator.create({
      ...{ serialNumber: "01", issuer: "CN=cluster", subject: asked.subject },
      ...{ notBefore: new Date(now - HOUR), notAfter: new Date(now + HOUR) },
      publicKey: this.foreign ? own.publicKey : asked.publicKey,
      ...{ signingKey: own.privateKey, signingAlgorithm: { name: "ECDSA", hash: "SHA-256" } },
    });
    return {
      conditions: [{ type: "Approved", status: "True" }],
      certificate: Buffer.from(certificate.toString("pem")).toString("base64"),
    };
  }
}

describe("bootstrap", () => {
  let dir = "";
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "bootstrap-"));
  });
  after(async () => rm(dir, { recursive: true, force: true }));

  async function kit(name: string, signer: Signer): Promise<BootstrapDeps> {
    const certDir = join(dir, name, "pki");
    const bootstrapKubeconfig = join(dir, `${name}.bootstrap`);
    await writeFile(
      bootstrapKubeconfig,
      JSON.stringify({
        "current-context": "c",
        clusters: [{ name: "k", cluster: { server: "https://10.0.0.1:6443", "certificate-authority": "ca.crt" } }],
        users: [{ name: "u", user: { token: "abcdef.0123456789abcdef" } }],
        contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      }),
    );
    return {
      kubeconfig: join(dir, name, "kubeconfig"),
      bootstrapKubeconfig,
      certDir,
      nodeName: "n1",
      store: new CertificateStore({ directory: certDir, prefix: "kubelet-client", tasks, clock: systemClock }),
      tasks,
      load: loadClientConfig,
      connect: () => signer.client(),
      clock: { ...systemClock, sleep: () => Promise.resolve() },
      log,
      signal: new AbortController().signal,
    };
  }

  test("refuses a certificate of another key than the request's", async () => {
    const signer = new Signer();
    signer.foreign = true;
    const deps = await kit("foreign", signer);
    const stop = new AbortController();
    await assert.rejects(
      bootstrap({
        ...deps,
        signal: stop.signal,
        clock: {
          ...deps.clock,
          sleep: () => {
            stop.abort(new Error("tried once"));
            return Promise.reject(new Error("tried once"));
          },
        },
      }),
    );
    await assert.rejects(stat(join(deps.certDir, "kubelet-client-current.pem")), { code: "ENOENT" });
  });

  test("writes a kubeconfig that leads to the signed certificate and its key", async () => {
    const signer = new Signer();
    const deps = await kit("new", signer);
    const config = await bootstrap(deps);
    assert.equal(config.server, "https://10.0.0.1:6443");
    assert.deepEqual(config.certificateAuthority, { file: join(dir, "ca.crt") });
    const current = join(deps.certDir, "kubelet-client-current.pem");
    assert.deepEqual(config.clientCertificate, { certificate: { file: current }, key: { file: current } });
    assert.equal(config.token, undefined);
    const pem = describeCertificate({ pem: await readFile(current, "utf8") });
    assert.ok(pem?.hasKey);
    assert.equal((await stat(current)).mode & 0o777, 0o600);
    const [request] = signer.requests.values();
    assert.equal(request?.spec.signerName, "kubernetes.io/kube-apiserver-client-kubelet");
    assert.deepEqual(request.spec.usages, ["digital signature", "client auth"]);
    await assert.rejects(stat(join(deps.certDir, "kubelet-client.key.tmp")));
  });

  test("sends no request when the kubeconfig is valid", async () => {
    const signer = new Signer();
    const deps = await kit("good", signer);
    await bootstrap(deps);
    signer.requests.clear();
    await bootstrap(deps);
    assert.equal(signer.requests.size, 0);
  });

  test("continues with the key and the request of an earlier kubelet", async () => {
    const signer = new Signer();
    const deps = await kit("again", signer);
    const { key, request, keyDigest } = await makeCertificateRequest({ subject: { commonName: "system:node:n1" } });
    const name = `node-csr-${keyDigest.slice(0, 43)}`;
    signer.requests.set(name, {
      metadata: { name },
      spec: { request: Buffer.from(request).toString("base64"), signerName: "s", usages: [] },
    });
    await mkdir(deps.certDir, { recursive: true });
    await writeFile(join(deps.certDir, "kubelet-client.key.tmp"), key);
    await bootstrap(deps);
    assert.deepEqual([...signer.requests.keys()], [name]);
    assert.ok((await readFile(join(deps.certDir, "kubelet-client-current.pem"), "utf8")).includes(key.trim()));
  });

  test("waits for a server that is unreachable, and sends a request with another key after a denial", async () => {
    const signer = new Signer();
    signer.offline = 3;
    signer.deny = 2;
    await bootstrap(await kit("denied", signer));
    assert.equal(signer.requests.size, 3);
  });

  test("is done again when the certificate has expired, and not without a bootstrap kubeconfig", async () => {
    const signer = new Signer();
    const deps = await kit("expired", signer);
    await bootstrap(deps);
    signer.requests.clear();
    const inTwoHours = { ...deps.clock, now: () => later(systemClock.now(), 2 * HOUR) };
    await bootstrap({ ...deps, clock: inTwoHours, bootstrapKubeconfig: "" });
    assert.equal(signer.requests.size, 0);
    await bootstrap({ ...deps, clock: inTwoHours });
    assert.equal(signer.requests.size, 1);
  });
});

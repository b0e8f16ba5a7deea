// A node's credentials on an API server that the test did not start. The client certificate is requested, approved by
// the administrator and signed by the cluster, as for a kubelet.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSigningRequest } from "../fake-api/certificates/signing-request.js";
import type { ApiKit } from "./api-kit.js";

const CSR = "certificatesigningrequests";

export interface NodeCertificate {
  /** PEM. */
  cert: string;
  key: string;
  /** The CertificateSigningRequest, which the caller deletes. */
  request: string;
}

/** `kit`: an administrator's. */
export async function nodeCertificate(kit: ApiKit, node: string): Promise<NodeCertificate> {
  const { request, key } = makeSigningRequest(`system:node:${node}`, ["system:nodes"]);
  const made = await kit.create(CSR, {
    metadata: { generateName: "suite-" },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  });
  const { name } = made.metadata;
  const approval = { type: "Approved", status: "True", reason: "Suite", message: "for the cluster suite" };
  await kit.patch(CSR, "", name, { status: { conditions: [approval] } }, { type: "merge", subresource: "approval" });
  const signed = await kit.waitFor(CSR, "", name, (csr) => typeof csr?.status?.["certificate"] === "string", {
    what: `the certificate of ${node}`,
  });
  return { cert: Buffer.from(String(signed?.status?.["certificate"]), "base64").toString(), key, request: name };
}

/** A kubeconfig file with such a certificate. Disposing removes the file and the request. */
export async function nodeKubeconfig(kit: ApiKit, node: string): Promise<AsyncDisposable & { path: string }> {
  const { request, ...user } = await nodeCertificate(kit, node);
  const directory = await mkdtemp(join(tmpdir(), "node-kubeconfig-"));
  const path = join(directory, "kubeconfig");
  await writeFile(path, kit.as(user).kubeconfig(), { mode: 0o600 });
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
      await kit.delete(CSR, "", request);
    },
  };
}

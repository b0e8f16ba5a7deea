// Renews the node's two certificates from the cluster: the client certificate for the API server, and the serving
// certificate.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { CertificateSubject, DescribedCertificate } from "../../../shared/contracts/tasks.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { NodeAddress } from "../../../shared/kubernetes/api/node.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { CertificateManager } from "./certificate-manager.js";
import type { CertificateStore } from "./certificate-store.js";
import type { CertificateTasks } from "./certificate-tasks.js";
import type { CertificateMetrics } from "./metrics.js";
import { requestCertificate } from "./request-certificate.js";

export interface RotationDeps {
  nodeName: string;
  client: ApiClient;
  store: CertificateStore;
  tasks: CertificateTasks;
  metrics: CertificateMetrics;
  clock: Clock;
  log: Logger;
}

/** Certificate of the kubelet's own calls. `onRotated`: it is in the store. */
export function clientCertificate(deps: RotationDeps, onRotated: () => void): CertificateManager {
  const { metrics, nodeName } = deps;
  const subject = nodeSubject(nodeName);
  const manager: CertificateManager = makeManager(deps, {
    what: "client",
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
    subject: () => subject,
    onRotated,
    onFailed: () => metrics.clientRenewFailed(),
  });
  metrics.watchClient(() => manager.certificate?.notAfter);
  return manager;
}

/** Certificate of port 10250, for the addresses that the node has in the API. */
export function servingCertificate(
  deps: RotationDeps,
  { addresses, allowDNSOnly }: ServingOptions,
): CertificateManager {
  const { metrics, nodeName } = deps;
  const manager: CertificateManager = makeManager(deps, {
    what: "serving",
    signerName: "kubernetes.io/kubelet-serving",
    usages: ["digital signature", "server auth"],
    subject: () => servingSubject(nodeName, addresses(), allowDNSOnly),
    onRotated: (age) => {
      if (age !== undefined) metrics.servingRotated(age);
    },
    onFailed: () => metrics.servingRenewFailed(),
  });
  metrics.watchServing(() => manager.certificate?.notAfter);
  return manager;
}

export interface ServingOptions {
  addresses: () => readonly NodeAddress[];
  /** Gate AllowDNSOnlyNodeCSR: a certificate without addresses is worth asking for. */
  allowDNSOnly: boolean;
}

function nodeSubject(nodeName: string): CertificateSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] };
}

/** Undefined while the node has no address to serve at. @internal */
export function servingSubject(
  nodeName: string,
  addresses: readonly NodeAddress[],
  allowDNSOnly: boolean,
): CertificateSubject | undefined {
  const of = (...types: NodeAddress["type"][]): string[] => [
    ...new Set(addresses.filter(({ type }) => types.includes(type)).map(({ address }) => address)),
  ];
  const ips = of("InternalIP", "ExternalIP").sort();
  const dnsNames = of("Hostname", "InternalDNS", "ExternalDNS").sort();
  if (ips.length === 0 && !(allowDNSOnly && dnsNames.length > 0)) return undefined;
  return { ...nodeSubject(nodeName), dnsNames, ips };
}

interface Kind {
  what: string;
  signerName: string;
  usages: string[];
  subject: () => CertificateSubject | undefined;
  /** Seconds that the certificate before lived. */
  onRotated: (age: number | undefined) => void;
  onFailed?: () => void;
}

function makeManager({ client, store, tasks, clock, log }: RotationDeps, kind: Kind): CertificateManager {
  const { what, signerName, usages, subject, onFailed } = kind;
  return new CertificateManager(
    omitUndefined({
      what,
      store,
      tasks,
      subject,
      sign: (request, signal) => requestCertificate({ request, signerName, usages }, { client, clock, signal }),
      onRotated: (_: DescribedCertificate, age) => kind.onRotated(age),
      onFailed,
      clock,
      log,
    }),
  );
}

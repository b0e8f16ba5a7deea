// Rules for settings that only flags have.

import { isIP, isIPv4 } from "node:net";
import { quoteStart } from "../../../shared/base/text/quote.js";
import { labelValue, qualifiedName } from "../../../shared/kubernetes/api/manifest/formats.js";
import type { DockerFlags } from "../docker-flags.js";
import type { Violation } from "../violation.js";
import { mayLabelItself, SELF_LABEL_DOMAINS, SELF_LABELS } from "./self-labels.js";

export interface CheckedFlags {
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** As given: one address, or two separated by a comma. */
  readonly nodeIP?: string;
  readonly exitOnLockContention: boolean;
  readonly lockFile: string;
  readonly cloudProvider: string;
  /** Absent: as by default. */
  readonly docker?: DockerFlags;
}

export function validateFlags(flags: CheckedFlags): Violation[] {
  return [
    ...nodeLabels(flags.nodeLabels ?? {}),
    ...nodeIPs(flags.nodeIP ?? "", flags.cloudProvider),
    ...cloudProvider(flags),
    ...lock(flags),
    ...(flags.docker === undefined ? [] : docker(flags.docker)),
  ];
}

function* docker({
  given,
  endpoint,
  imagePullProgressDeadlineMs,
  podInfraContainerImage,
}: DockerFlags): Iterable<Violation> {
  const { runtime, networkPlugin } = given;
  if (runtime !== "remote" && runtime !== "docker") {
    yield { path: "--container-runtime", message: `${quoteStart(runtime)} is not remote or docker` };
  }
  if (networkPlugin !== "cni" && networkPlugin !== "none" && networkPlugin !== "") {
    yield { path: "--network-plugin", message: `${quoteStart(networkPlugin)} is not cni or none; kubenet was removed` };
  }
  if (!/^(unix:\/\/\/.|tcp:\/\/[^/]+:\d+$)/.test(endpoint)) {
    yield { path: "--docker-endpoint", message: `${quoteStart(endpoint)} is not unix:///path or tcp://host:port` };
  }
  if (imagePullProgressDeadlineMs <= 0) {
    yield { path: "--image-pull-progress-deadline", message: "must be greater than 0" };
  }
  if (podInfraContainerImage === "") yield { path: "--pod-infra-container-image", message: "must name an image" };
}

function* cloudProvider({ cloudProvider: name }: CheckedFlags): Iterable<Violation> {
  if (name === "" || name === "external") return;
  const message =
    `cloud provider ${quoteStart(name)} was specified, but built-in cloud providers are disabled; ` +
    "set --cloud-provider=external and run the cloud controller manager of your provider";
  yield { path: "--cloud-provider", message };
}

function* lock(flags: CheckedFlags): Iterable<Violation> {
  if (flags.exitOnLockContention && flags.lockFile === "") {
    yield { path: "--exit-on-lock-contention", message: "requires --lock-file; set it to the lock file" };
  }
}

function* nodeLabels(labels: Readonly<Record<string, string>>): Iterable<Violation> {
  const path = "--node-labels";
  for (const [key, value] of Object.entries(labels)) {
    const keyProblem = qualifiedName(key);
    const valueProblem = labelValue(value);
    if (keyProblem !== undefined) yield { path, message: `the key ${quoteStart(key)} is not ${keyProblem}` };
    else if (!mayLabelItself(key)) yield { path, message: foreignLabel(key) };
    if (valueProblem !== undefined) {
      yield { path, message: `the value ${quoteStart(value)} of ${quoteStart(key)} is not ${valueProblem}` };
    }
  }
}

function foreignLabel(key: string): string {
  const domains = SELF_LABEL_DOMAINS.map((domain) => `${domain}/…`).join(", ");
  return `a node may not set its own label ${key}; label the Node object instead. It may set ${domains}, ${SELF_LABELS.join(", ")} and labels outside kubernetes.io and k8s.io`;
}

/** The addresses of --node-ip; empty places, as of an unset variable in a unit file, are left out. */
export function splitNodeIPs(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function* nodeIPs(text: string, cloudProvider: string): Iterable<Violation> {
  const path = "--node-ip";
  const given = splitNodeIPs(text);
  const addresses = given.filter((one) => isIP(one) !== 0);
  for (const one of given) {
    if (isIP(one) === 0)
      yield { path, message: `${quoteStart(one)} is not an IP address; it is ignored`, isTolerated: true };
  }
  if (addresses.length > 2) {
    yield {
      path,
      message: `${text} has ${addresses.length} addresses; set one address, or an IPv4 and an IPv6 address`,
    };
  }
  if (addresses.length !== 2) return;
  const [first = "", second = ""] = addresses;
  if (isIPv4(first) === isIPv4(second)) {
    yield { path, message: `${text} has two addresses of one family; set one address, or an IPv4 and an IPv6 address` };
  }
  if (addresses.some(isUnspecified)) {
    yield { path, message: `${text} has two addresses, one of them unspecified; set 0.0.0.0 or :: alone` };
  }
  if (cloudProvider !== "" && cloudProvider !== "external") {
    yield { path, message: `two addresses are not supported with --cloud-provider=${cloudProvider}; set one address` };
  }
}

function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || (!isIPv4(address) && /^[0:]+$/.test(address));
}

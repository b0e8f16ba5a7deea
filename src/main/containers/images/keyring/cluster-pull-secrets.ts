// imagePullSecrets of the API: secrets of a pod's namespace that hold a docker configuration. Invariant: no message
// contains a part of one; a secret that can't be used counts as missing. A secret is parsed once, in a turn of main's
// event loop: it may have a megabyte, and each container of a pod needs it.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import type { LoopShare } from "../../../../shared/base/turns/loop-share.js";
import { mapAtMost } from "../../../../shared/base/turns/map-at-most.js";
import type { Secret } from "../../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../../shared/telemetry/log/thread-log.js";
import { type ClusterAccess } from "../../../model/cluster-access.js";
import { joined } from "../../../model/joined-cluster.js";
import { type DockerConfigForm, readDockerConfig } from "./docker-config.js";
import { type PullSecrets, type PullSecret, secretNames } from "./pull-secrets.js";

/** Type of the secret to the key and form of its configuration. */
const FORMS: Readonly<Record<string, { key: string; form: DockerConfigForm }>> = {
  "kubernetes.io/dockerconfigjson": { key: ".dockerconfigjson", form: "config.json" },
  "kubernetes.io/dockercfg": { key: ".dockercfg", form: "dockercfg" },
};

/** A pod may name tens of thousands. */
const READS_AT_ONCE = 16;

export class ClusterPullSecrets implements PullSecrets {
  /** By object: another version of a secret is another object. */
  private readonly parsed = new WeakMap<Secret, PullSecret["auths"]>();

  constructor(private readonly deps: { cluster: ClusterAccess; log: Logger; loop: Pick<LoopShare, "turn"> }) {}

  async forPod(pod: Pod, signal: AbortSignal): Promise<{ secrets: PullSecret[]; missing: string[] }> {
    const names = secretNames(pod);
    const read = (name: string): Promise<PullSecret | undefined> => this.read(pod.metadata.namespace, name, signal);
    const found = await mapAtMost(READS_AT_ONCE, names, read);
    return {
      secrets: found.flatMap((secret) => secret ?? []),
      missing: names.filter((_name, index) => found[index] === undefined),
    };
  }

  private async read(namespace: string, name: string, signal: AbortSignal): Promise<PullSecret | undefined> {
    try {
      const secret = await joined(this.deps.cluster).secrets.get(namespace, name, signal);
      const auths = this.parsed.get(secret) ?? (await this.parse(secret, `${namespace}/${name}`));
      return { uid: secret.metadata.uid ?? "", namespace, name, auths };
    } catch (error) {
      signal.throwIfAborted();
      this.warn(`${namespace}/${name}`, messageOf(error));
      return undefined;
    }
  }

  private async parse(secret: Secret, name: string): Promise<PullSecret["auths"]> {
    await this.deps.loop.turn();
    const auths = this.parsed.get(secret) ?? this.authsOf(secret, name);
    this.parsed.set(secret, auths);
    return auths;
  }

  /** A secret of another type is there, and has nothing for us. @throws DockerConfigError */
  private authsOf({ type = "", data = {} }: Secret, name: string): PullSecret["auths"] {
    const { key, form } = FORMS[type] ?? {};
    const text = key === undefined ? undefined : data[key];
    if (form === undefined || text === undefined || text === "") return new Map();
    const { auths, problems } = readDockerConfig(Buffer.from(text, "base64").toString("utf8"), form);
    for (const problem of problems) this.warn(name, problem);
    return auths;
  }

  private warn(name: string, problem: string): void {
    this.deps.log.warn({ secret: name }, `ignoring part of image pull secret ${name}: ${problem}`);
  }
}

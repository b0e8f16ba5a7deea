// imagePullSecrets of the API: secrets of a pod's namespace that hold a docker configuration. Invariant: no message
// contains a part of one; a secret that can't be used counts as missing. A secret is parsed once, in a turn of main's
// event loop: it may have a megabyte, and each container of a pod needs it.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import type { LoopShare } from "../../../../shared/base/turns/loop-share.js";
import { mapAtMost } from "../../../../shared/base/turns/map-at-most.js";
import { SharedRuns } from "../../../../shared/base/turns/shared-runs.js";
import type { Secret } from "../../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../../shared/telemetry/log/thread-log.js";
import { type ClusterAccess } from "../../../model/cluster-access.js";
import { joined } from "../../../model/joined-cluster.js";
import { type DockerConfigForm, readDockerConfig } from "./docker-config.js";
import { MOST_PULL_SECRETS, type PullSecrets, type PullSecret, secretNames } from "./pull-secrets.js";

/** Type of the secret to the key and form of its configuration. */
const FORMS: Readonly<Record<string, { key: string; form: DockerConfigForm }>> = {
  "kubernetes.io/dockerconfigjson": { key: ".dockerconfigjson", form: "config.json" },
  "kubernetes.io/dockercfg": { key: ".dockercfg", form: "dockercfg" },
};

const READS_AT_ONCE = 16;
/** Problems of one pod, or of one secret, that the log names. */
const SHOWN_PROBLEMS = 8;

interface Found {
  secrets: PullSecret[];
  missing: string[];
}

export class ClusterPullSecrets implements PullSecrets {
  /** By object: another version of a secret is another object. */
  private readonly parsed = new WeakMap<Secret, PullSecret["auths"]>();
  /** Reads of the secrets of a pod, for all of its containers that start now. */
  private readonly underWay = new SharedRuns<Found, Pod["spec"]>();

  constructor(private readonly deps: { cluster: ClusterAccess; log: Logger; loop: Pick<LoopShare, "turn"> }) {}

  forPod(pod: Pod, signal: AbortSignal): Promise<Found> {
    return this.underWay.run(pod.spec, signal, (own) => this.read(pod, own));
  }

  private async read(pod: Pod, signal: AbortSignal): Promise<Found> {
    const { namespace, name: podName } = pod.metadata;
    const names = secretNames(pod);
    const problems: string[] = [];
    const found = await mapAtMost(READS_AT_ONCE, names.slice(0, MOST_PULL_SECRETS), async (name) => {
      try {
        return await this.secret(namespace, name, signal);
      } catch (error) {
        signal.throwIfAborted();
        problems.push(`${namespace}/${name}: ${messageOf(error)}`);
        return undefined;
      }
    });
    if (names.length > MOST_PULL_SECRETS) {
      problems.push(`the pod names ${names.length}, of which the first ${MOST_PULL_SECRETS} are read`);
    }
    if (problems.length > 0) {
      const whose = `${namespace}/${podName}`;
      this.deps.log.warn({ pod: whose }, `ignoring image pull secrets of pod ${whose}: ${shownProblems(problems)}`);
    }
    return {
      secrets: found.flatMap((secret) => secret ?? []),
      missing: names.filter((_name, index) => found[index] === undefined),
    };
  }

  private async secret(namespace: string, name: string, signal: AbortSignal): Promise<PullSecret> {
    const secret = await joined(this.deps.cluster).secrets.get(namespace, name, signal);
    const auths = this.parsed.get(secret) ?? (await this.parse(secret, `${namespace}/${name}`));
    return { uid: secret.metadata.uid ?? "", namespace, name, auths };
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
    if (problems.length > 0) {
      this.deps.log.warn({ secret: name }, `ignoring part of image pull secret ${name}: ${shownProblems(problems)}`);
    }
    return auths;
  }
}

function shownProblems(problems: readonly string[]): string {
  const more = problems.length - SHOWN_PROBLEMS;
  return problems.slice(0, SHOWN_PROBLEMS).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

// All credentials for an image in upstream's order: the pod's secrets, the node's files, the credential providers.
// Credentials of a provider belong to the node or to the pod's service account.

import { createHash } from "node:crypto";
import { oncePer } from "../../../../shared/base/objects/once-per.js";
import type { LoopShare } from "../../../../shared/base/turns/loop-share.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { EventRecorder } from "../../../model/event-recorder.js";
import type { ImageCredentials, OwnKind, PullCredentials } from "../credentials.js";
import { fullRepository } from "../image-name.js";
import { lookUp } from "./look-up.js";
import { secretNames, shownNames, type PullSecret, type PullSecrets } from "./pull-secrets.js";

/** A source of credentials of the node: every pod on the node may use them. */
interface NodeCredentials {
  /** `image` is registry and repository: "docker.io/library/busybox". */
  forImage(image: string, signal: AbortSignal): Promise<AuthConfig[]>;
}

/** Plugins, called for a pod. `image` as above. */
export interface ProviderCredentials {
  forImage(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]>;
  /** Only credentials for a token of the pod's service account. */
  ofServiceAccount(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]>;
}

export interface KeyringDeps {
  secrets: PullSecrets;
  files: NodeCredentials;
  /** Absent: none are configured. */
  providers?: ProviderCredentials | undefined;
  events: EventRecorder;
  /** Secrets and the credentials that fit take turns of main's event loop. */
  loop: Pick<LoopShare, "turn">;
}

/** Credentials that are hashed between two turns. */
const AT_ONCE = 64;

export class KeyringCredentials implements ImageCredentials {
  constructor(private readonly deps: KeyringDeps) {}

  async forImage(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]> {
    const secrets = await this.secretsOf(pod, signal);
    const repository = fullRepository(image);
    const found = await this.ofSecrets(secrets, repository);
    const { files, providers } = this.deps;
    for (const auth of await files.forImage(repository, signal)) found.push({ auth, source: { kind: "node" } });
    if (providers !== undefined) found.push(...(await providers.forImage(pod, repository, signal)));
    return withoutRepeats(found);
  }

  async ofPod(pod: Pod, image: string, kind: OwnKind, signal: AbortSignal): Promise<PullCredentials[]> {
    const { secrets, providers } = this.deps;
    const repository = fullRepository(image);
    switch (kind) {
      case "secret":
        return await this.ofSecrets((await secrets.forPod(pod, signal)).secrets, repository);
      case "serviceAccount":
        return (await providers?.ofServiceAccount(pod, repository, signal)) ?? [];
    }
  }

  async warnOfMissing(pod: Pod, signal: AbortSignal): Promise<void> {
    if (secretNames(pod).length > 0) await this.secretsOf(pod, signal);
  }

  /** Those that are there; an event names the others. */
  private async secretsOf(pod: Pod, signal: AbortSignal): Promise<PullSecret[]> {
    const { secrets, missing } = await this.deps.secrets.forPod(pod, signal);
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${shownNames(missing)}); attempting to pull the image may not succeed.`;
      this.deps.events.pod(pod, { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
    }
    return secrets;
  }

  private async ofSecrets(secrets: readonly PullSecret[], image: string): Promise<PullCredentials[]> {
    const found: PullCredentials[] = [];
    for (const { uid, namespace, name, auths } of secrets) {
      await this.deps.loop.turn();
      for (const auth of lookUp(auths, image)) {
        if (found.length % AT_ONCE === AT_ONCE - 1) await this.deps.loop.turn();
        found.push({ auth, source: { kind: "secret", uid, namespace, name, credentialHash: hashOf(auth) } });
      }
    }
    return found;
  }
}

/** Repeated credentials would only fail again; the first source that has them keeps them. */
function withoutRepeats(found: readonly PullCredentials[]): PullCredentials[] {
  const seen = new Set<string>();
  return found.filter(({ auth }) => {
    const key = hashOf(auth);
    return !seen.has(key) && seen.add(key);
  });
}

const hashOf = oncePer((auth: AuthConfig) =>
  createHash("sha256").update(AuthConfig.encode(auth).finish()).digest("hex"),
);

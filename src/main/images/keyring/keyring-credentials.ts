// All credentials for an image in upstream's order: the pod's secrets, the node's files, the credential providers.
import { createHash } from "node:crypto";
import type { Pod } from "../../../shared/api/pod.js";
import { AuthConfig } from "../../../shared/cri/gen/runtime.v1.js";
import type { EventRecorder } from "../../events/recorder.js";
import type { ImageCredentials, PullCredentials } from "../credentials.js";
import { fullRepository } from "../image-name.js";
import { lookUp } from "./keyring.js";
import type { PullSecret, PullSecrets } from "./pull-secrets.js";

/** Somebody whose credentials belong to the node, thus to every pod on it. */
export interface NodeCredentials {
  /** `image` is registry and repository: "docker.io/library/busybox". */
  forImage(image: string, signal: AbortSignal): Promise<AuthConfig[]>;
}

export interface KeyringDeps {
  secrets: PullSecrets;
  /** Asked in this order. */
  node: readonly NodeCredentials[];
  events: EventRecorder;
}

export class KeyringCredentials implements ImageCredentials {
  constructor(private readonly deps: KeyringDeps) {}

  async forImage(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]> {
    const { secrets, missing } = await this.deps.secrets.forPod(pod, signal);
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(", ")}); attempting to pull the image may not succeed.`;
      this.deps.events.pod(pod, { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
    }
    const repository = fullRepository(image);
    const found = ofSecrets(secrets, repository);
    for (const keeper of this.deps.node) {
      for (const auth of await keeper.forImage(repository, signal)) found.push({ auth, source: { kind: "node" } });
    }
    return withoutRepeats(found);
  }

  async ofPod(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]> {
    return ofSecrets((await this.deps.secrets.forPod(pod, signal)).secrets, fullRepository(image));
  }
}

function ofSecrets(secrets: readonly PullSecret[], image: string): PullCredentials[] {
  return secrets.flatMap(({ uid, namespace, name, auths }) =>
    lookUp(auths, image).map((auth): PullCredentials => {
      return { auth, source: { kind: "secret", uid, namespace, name, credentialHash: hashOf(auth) } };
    }),
  );
}

/** The same credentials twice would only fail twice; whoever comes first is their source. */
function withoutRepeats(found: readonly PullCredentials[]): PullCredentials[] {
  const seen = new Set<string>();
  return found.filter(({ auth }) => {
    const key = hashOf(auth);
    return !seen.has(key) && seen.add(key);
  });
}

function hashOf(auth: AuthConfig): string {
  return createHash("sha256").update(AuthConfig.encode(auth).finish()).digest("hex");
}

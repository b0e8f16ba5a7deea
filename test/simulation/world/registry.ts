// Private images of the simulated registries: a pull needs a user's credentials. A credential provider of the node has
// those of one registry, a secret of the API server those of the other. Passwords change now and then.
// Invariant: the password of a registry is never sent to the other.

import type { AuthConfig } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { ObjectClient } from "./object-clients.js";
import { programs, type Run } from "./programs.js";
import type { SimulatedRuntime } from "./runtime.js";

/** The image that the provider's credentials pull. */
export const PROVIDED_IMAGE = "provided.example.com/a:1";
/** The image that the secret's credentials pull. */
export const SECRET_IMAGE = "secret.example.com/a:1";
export const PULL_SECRET = "pull-secret";

const CONFIG = "/etc/kubernetes/credential-providers.json";
export const BIN_DIR = "/usr/libexec/credential-providers";
const PROGRAM = "registry-login";
export const PROVIDER_VERSION = "credentialprovider.kubelet.k8s.io/v1";

export const PROVIDER_FLAGS = [
  `--image-credential-provider-config=${CONFIG}`,
  `--image-credential-provider-bin-dir=${BIN_DIR}`,
];

export type RegistryFault =
  /** The provider fails. */
  | { do: "provider-fails"; ms: number }
  | { do: "provider-slow"; lateMs: number; ms: number }
  /** Both registries get other passwords; the secret is changed at once. */
  | { do: "passwords-change" };

const USER = "node";
const MOST_RUN_MS = 500;

export class PrivateRegistries {
  /** Hears of each pull that had credentials of another registry. */
  readonly onForeign = new Set<(image: string) => void>();
  private isBroken = false;
  private lateMs = 0;
  private changes = 0;

  constructor(
    private readonly users: ObjectClient,
    { settings }: SimulatedRuntime,
    /** Further providers, as the configuration has them. */
    others: readonly object[],
  ) {
    for (const image of [PROVIDED_IMAGE, SECRET_IMAGE])
      settings.registry.set(image, { allows: (auth) => this.allows(image, auth) });
    const provider = {
      name: PROGRAM,
      matchImages: ["provided.example.com"],
      defaultCacheDuration: "30s",
      apiVersion: PROVIDER_VERSION,
    };
    const config = {
      apiVersion: "kubelet.config.k8s.io/v1",
      kind: "CredentialProviderConfig",
      providers: [provider, ...others],
    };
    disk.directory("/usr");
    disk.file(CONFIG, JSON.stringify(config));
    disk.program(`${BIN_DIR}/${PROGRAM}`);
    disk.syncAll();
    programs.install(`${BIN_DIR}/${PROGRAM}`, () => this.login());
    this.putSecret();
  }

  perform(fault: RegistryFault): void {
    switch (fault.do) {
      case "provider-fails":
        this.isBroken = true;
        kernel.after(kernel.world, fault.ms, () => {
          this.isBroken = false;
        });
        return;
      case "provider-slow":
        this.lateMs = fault.lateMs;
        kernel.after(kernel.world, fault.ms, () => {
          this.lateMs = 0;
        });
        return;
      case "passwords-change":
        this.changes++;
        this.putSecret();
    }
  }

  private allows(image: string, auth: AuthConfig | undefined): boolean {
    const other = image === PROVIDED_IMAGE ? SECRET_IMAGE : PROVIDED_IMAGE;
    if (auth?.password.startsWith(hostOf(other)) === true) for (const listener of this.onForeign) listener(image);
    return auth?.username === USER && auth.password === this.passwordOf(image);
  }

  private passwordOf(image: string): string {
    return `${hostOf(image)}-${this.changes}`;
  }

  private login(): Run {
    const ms = kernel.random.between(5, MOST_RUN_MS) + this.lateMs;
    if (this.isBroken) return { ms, exitCode: 1, output: "" };
    const auth = { "provided.example.com": { username: USER, password: this.passwordOf(PROVIDED_IMAGE) } };
    const answer = { kind: "CredentialProviderResponse", apiVersion: PROVIDER_VERSION, cacheKeyType: "Registry", auth };
    return { ms, exitCode: 0, output: JSON.stringify(answer) };
  }

  private putSecret(): void {
    const auths = { "secret.example.com": { username: USER, password: this.passwordOf(SECRET_IMAGE) } };
    this.users.put({
      ...{ kind: "Secret", name: PULL_SECRET },
      type: "kubernetes.io/dockerconfigjson",
      data: { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") },
    });
  }
}

function hostOf(image: string): string {
  return image.slice(0, image.indexOf("/"));
}

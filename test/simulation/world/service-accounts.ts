// Images that only pods of some service accounts may pull. A credential provider of the node gets a token of the pod's
// service account, and answers with a password of that account. Accounts are made anew now and then.
// Invariant: a password belongs to one object of an account, by its UID; what an object may pull stays.

import type { AuthConfig } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { SimulatedApi } from "./api.js";
import type { TokenCacheType } from "./node-shape.js";
import { programs, type Run } from "./programs.js";
import { BIN_DIR, PROVIDER_VERSION } from "./registry.js";
import type { SimulatedRuntime } from "./runtime.js";

const REGISTRY = "accounts.example.com";
export const IMAGE_A = `${REGISTRY}/a:1`;
export const IMAGE_B = `${REGISTRY}/b:1`;
const OTHER_NAMESPACE = "other";

export interface AccountName {
  namespace: string;
  name: string;
}

/** Accounts, and what they may pull. Two have the same name. */
export const BLUE = { namespace: "default", name: "blue", pulls: [IMAGE_A] };
export const RED = { namespace: "default", name: "red", pulls: [IMAGE_B] };
export const OTHER_BLUE = { namespace: OTHER_NAMESPACE, name: "blue", pulls: [IMAGE_B] };
/** Every second object of it may pull nothing. */
export const GREEN = { namespace: "default", name: "green", pulls: [IMAGE_A] };
/** It lacks the annotation that the provider requires. */
export const PLAIN = { namespace: "default", name: "plain", pulls: [] };
const ACCOUNTS = [BLUE, RED, OTHER_BLUE, GREEN, PLAIN];

export type AccountFault =
  /** The provider fails. */
  | { do: "login-fails"; ms: number }
  | { do: "login-slow"; lateMs: number; ms: number }
  | { do: "account-passwords-change" }
  /** The account is deleted and made anew, with another UID. */
  | { do: "account-made-anew"; name: "blue" | "green" };

const PROGRAM = "account-login";
const AUDIENCE = "registry-of-accounts";
/** An account needs this annotation, and the provider sees it. */
const REQUIRED = "example.com/tenant";
const OPTIONAL = "example.com/team";
const MOST_RUN_MS = 500;
/** A container may start so long after the kubelet has asked for the rights of its account. */
const LATE_MS = 5 * 60_000;

/** The provider's entry in CredentialProviderConfig. */
export function accountProvider(cacheType: TokenCacheType): object {
  return {
    name: PROGRAM,
    matchImages: [REGISTRY],
    defaultCacheDuration: "2m",
    apiVersion: PROVIDER_VERSION,
    tokenAttributes: {
      serviceAccountTokenAudience: AUDIENCE,
      cacheType,
      requireServiceAccount: true,
      requiredServiceAccountAnnotationKeys: [REQUIRED],
      optionalServiceAccountAnnotationKeys: [OPTIONAL],
    },
  };
}

/** One object of an account. */
interface AccountObject {
  key: string;
  pulls: readonly string[];
  /** Steady moment of its deletion. */
  deletedAt: number;
}

interface Request {
  image?: string;
  serviceAccountToken?: string;
  serviceAccountAnnotations?: Readonly<Record<string, string>>;
}

export class ServiceAccounts {
  /** Hears of a request that the provider should not have got, and of credentials that the registry should not. */
  readonly onWrong = new Set<(what: string) => void>();
  /** By UID. */
  private readonly objects = new Map<string, AccountObject>();
  private isBroken = false;
  private lateMs = 0;
  private changes = 0;
  private greens = 0;

  constructor(
    private readonly api: SimulatedApi,
    { settings }: SimulatedRuntime,
  ) {
    api.store.put("namespaces", { metadata: { name: OTHER_NAMESPACE } });
    for (const account of ACCOUNTS) this.make(account);
    for (const image of [IMAGE_A, IMAGE_B])
      settings.registry.set(image, { allows: (auth) => this.allows(image, auth) });
    disk.program(`${BIN_DIR}/${PROGRAM}`);
    disk.syncAll();
    programs.install(`${BIN_DIR}/${PROGRAM}`, (input) => this.login(JSON.parse(input) as Request));
  }

  perform(fault: AccountFault): void {
    switch (fault.do) {
      case "login-fails":
        this.isBroken = true;
        kernel.after(kernel.world, fault.ms, () => {
          this.isBroken = false;
        });
        return;
      case "login-slow":
        this.lateMs = fault.lateMs;
        kernel.after(kernel.world, fault.ms, () => {
          this.lateMs = 0;
        });
        return;
      case "account-passwords-change":
        this.changes++;
        return;
      case "account-made-anew":
        this.makeAnew(fault.name === "green" ? GREEN : BLUE);
    }
  }

  /** An object of the account could pull the image, so short a time ago that a container may start with it. */
  mayStart(account: string, image: string): boolean {
    const since = kernel.monotonic - LATE_MS;
    return [...this.objects.values()].some(
      ({ key, pulls, deletedAt }) => key === account && deletedAt >= since && pulls.includes(image),
    );
  }

  private make({ namespace, name, pulls }: AccountName & { pulls: readonly string[] }): void {
    const annotations: Record<string, string> =
      name === PLAIN.name ? { [OPTIONAL]: "a" } : { [REQUIRED]: "a", "example.com/unseen": "secret" };
    const { metadata } = this.api.store.put("serviceaccounts", { metadata: { name, namespace, annotations } });
    const key = keyOf({ namespace, name });
    this.objects.set(metadata.uid ?? "", { key, pulls, deletedAt: Infinity });
  }

  private makeAnew(account: typeof GREEN): void {
    const { namespace, name } = account;
    const removed = this.api.store.remove("serviceaccounts", namespace, name);
    const object = this.objects.get(removed?.metadata.uid ?? "");
    if (object !== undefined) object.deletedAt = kernel.monotonic;
    const pulls = account === GREEN && ++this.greens % 2 === 1 ? [] : account.pulls;
    this.make({ namespace, name, pulls });
  }

  private allows(image: string, auth: AuthConfig | undefined): boolean {
    return [...this.objects].some(
      ([uid, { key, pulls, deletedAt }]) =>
        deletedAt === Infinity &&
        pulls.includes(image) &&
        auth?.username === key &&
        auth.password === this.passwordOf(uid),
    );
  }

  private passwordOf(uid: string): string {
    return `${uid}-${this.changes}`;
  }

  private login({ image = "", serviceAccountToken = "", serviceAccountAnnotations = {} }: Request): Run {
    const ms = kernel.random.between(5, MOST_RUN_MS) + this.lateMs;
    const issued = this.api.issued.get(serviceAccountToken);
    if (issued === undefined) this.wrong(`the provider got no token of a service account for ${image}`);
    else if (issued.audiences.join() !== AUDIENCE) this.wrong(`its token is for ${issued.audiences.join()}`);
    else if (issued.pod === undefined) this.wrong("its token is not bound to a pod");
    const unknown = Object.keys(serviceAccountAnnotations).find((key) => key !== REQUIRED && key !== OPTIONAL);
    if (unknown !== undefined) this.wrong(`the provider got the annotation ${unknown}`);
    if (serviceAccountAnnotations[REQUIRED] === undefined)
      this.wrong("the provider serves an account without a tenant");
    const uid = issued?.account.metadata.uid ?? "";
    const object = this.objects.get(uid);
    // The token of an account that is gone is worth nothing.
    if (this.isBroken || object?.deletedAt !== Infinity) return { ms, exitCode: 1, output: "" };
    const auth = { [REGISTRY]: { username: object.key, password: this.passwordOf(uid) } };
    const cacheKeyType = kernel.random.pick(["Image", "Registry", "Global"]);
    const answer = { kind: "CredentialProviderResponse", apiVersion: PROVIDER_VERSION, cacheKeyType, auth };
    return { ms, exitCode: 0, output: JSON.stringify(answer) };
  }

  private wrong(what: string): void {
    for (const listener of this.onWrong) listener(what);
  }
}

export function keyOf({ namespace, name }: AccountName): string {
  return `${namespace}/${name}`;
}

// An API server of Kubernetes 1.36 in memory, on a real HTTPS port. It is for tests of a node agent, faults and scale.
// It keeps the promises that such a kubelet can see; test/cluster/api-contract.test.ts checks them against it and
// against a real one alike.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubeconfigText } from "../../src/main/node/api-server/kubeconfig.js";
import { systemClock, type Clock } from "../../src/shared/base/clock/clock.js";
import { TokenIssuer } from "./access/service-account-tokens.js";
import { CallLog } from "./call-log.js";
import { Authority, type CertificatePair, type Validity } from "./certificates/authority.js";
import { startControllers } from "./controllers/controllers.js";
import { Faults } from "./faults.js";
import { Dispatcher } from "./server/dispatcher.js";
import { Listener } from "./server/listener.js";
import { Store } from "./storage/store.js";
import { StoreView } from "./store-view.js";
import { Watches } from "./verbs/watch.js";
import type { User, World, WorldSettings } from "./world.js";

export type { ApiCall, CallMatch } from "./call-log.js";
export type { CertificatePair, Validity } from "./certificates/authority.js";
export type { ApiObject, Fields } from "../../src/workers/apiserver/objects/object.js";
export type { User } from "./world.js";

export interface FakeApiOptions extends Partial<WorldSettings> {
  /** A scheduler; default no. */
  controllers?: boolean;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default one that is free. */
  port?: number;
  clock?: Clock;
  /** More names and addresses in the serving certificate. */
  names?: readonly string[];
}

const DAY_MS = 86_400_000;
const SERVING_NAMES = [
  "127.0.0.1",
  "::1",
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "10.96.0.1",
];

export class FakeApi implements AsyncDisposable {
  readonly calls = new CallLog();
  readonly faults: Faults;
  readonly store: StoreView;
  /** Changes take effect with the next request. */
  readonly settings: WorldSettings;
  readonly #world: World;
  readonly #watches = new Watches();
  readonly #listener: Listener;
  readonly #host: string;
  readonly #names: string[];
  #directory: string | undefined;
  #kubeconfigs = 0;
  #stopControllers: () => void = () => undefined;

  private constructor(options: FakeApiOptions) {
    const clock = options.clock ?? systemClock;
    const store = new Store();
    this.settings = {
      later: options.later ?? false,
      nodeRestriction: options.nodeRestriction ?? false,
      tokens: options.tokens ?? new Map<string, User>(),
      grants: options.grants ?? [],
      bookmarkMs: options.bookmarkMs ?? 60_000,
      approveCertificates: options.approveCertificates ?? true,
      approveServingCertificates: options.approveServingCertificates ?? false,
      certificateLifeMs: options.certificateLifeMs ?? 365 * DAY_MS,
      certificateBackdateMs: options.certificateBackdateMs ?? 5 * 60_000,
    };
    this.#world = {
      clock,
      store,
      settings: this.settings,
      authority: new Authority(clock),
      tokens: new TokenIssuer(clock, store),
    };
    this.#host = options.host ?? "127.0.0.1";
    this.#names = [...SERVING_NAMES, ...(this.#host.includes(":") ? [] : [this.#host]), ...(options.names ?? [])];
    this.faults = new Faults(clock, this.#watches, () => store.compact());
    const dispatcher = new Dispatcher(this.#world, this.calls, this.faults, this.#watches);
    this.#listener = new Listener(
      this.#host,
      options.port ?? 0,
      this.ca,
      this.#world.authority.servingCertificate(this.#names),
      // A request whose answer can't be sent any more is over.
      {
        request: (request, response, socket) =>
          void dispatcher.handle(request, response, socket).catch(() => undefined),
        upgrade: (request, socket, head) => void dispatcher.upgrade(request, socket, head).catch(() => undefined),
      },
    );
    this.store = new StoreView(this.#world, () => furnish(this.store, () => this.#listener.port));
  }

  static async start(options: FakeApiOptions = {}): Promise<FakeApi> {
    const api = new FakeApi(options);
    await api.#listener.start();
    furnish(api.store, () => api.#listener.port);
    // The versions before it are no client's, and old enough to be refused.
    api.store.compact();
    if (options.controllers === true) api.#stopControllers = startControllers(api.#world);
    return api;
  }

  get url(): string {
    return `https://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${this.#listener.port}`;
  }

  /** PEM */
  get ca(): string {
    return this.#world.authority.ca;
  }

  /** The authority that client and serving certificates of the cluster come from. */
  get authority(): Authority {
    return this.#world.authority;
  }

  /** Open connections and watches. */
  get open(): { connections: number; watches: number } {
    return { connections: this.#listener.connections, watches: this.#watches.size };
  }

  clientCertificate(user: string, groups: readonly string[] = [], validity?: Validity): CertificatePair {
    return this.#world.authority.clientCertificate(user, groups, validity);
  }

  kubeconfigText(user: { name: string; groups?: readonly string[] } | { token: string }): string {
    const credentials = "token" in user ? user : this.clientCertificate(user.name, user.groups ?? []);
    return kubeconfigText(this.url, this.ca, credentials);
  }

  /** Path of a kubeconfig file, removed by the end of the server. */
  async kubeconfig(user: { name: string; groups?: readonly string[] } | { token: string }): Promise<string> {
    this.#directory ??= await mkdtemp(join(tmpdir(), "fake-api-"));
    const path = join(this.#directory, `${++this.#kubeconfigs}.kubeconfig`);
    await writeFile(path, this.kubeconfigText(user), { mode: 0o600 });
    return path;
  }

  /** A certificate for new connections; without one a fresh one of the same authority. */
  rotateServingCertificate(pair?: CertificatePair): void {
    this.#listener.present(pair ?? this.#world.authority.servingCertificate(this.#names));
  }

  /** Breaks every connection; the server goes on listening. */
  dropConnections(): void {
    this.#listener.dropConnections();
  }

  /** Connections break, new ones are refused; storage and port stay. */
  async stop(): Promise<void> {
    this.#watches.cut("drop");
    await this.#listener.stop();
  }

  /** After stop(), or at once. */
  async restart(): Promise<void> {
    await this.stop();
    await this.#listener.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopControllers();
    this.faults.clear();
    await this.stop();
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true });
  }
}

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];
const PRIORITIES = { "system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000 };

/** Puts the objects of a new cluster into the store: namespaces, priority classes, the service of the API server. */
function furnish(store: StoreView, port: () => number): void {
  for (const name of NAMESPACES) store.put("namespaces", { metadata: { name } });
  for (const [name, value] of Object.entries(PRIORITIES)) store.put("priorityclasses", { metadata: { name }, value });
  store.put("services", {
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.1",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: port() }],
    },
  });
}

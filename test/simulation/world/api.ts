// The API server of the simulated cluster: the fake's store and verbs, without its sockets.

import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { TokenIssuer, TokenRequestSpec } from "../../fake-api/access/service-account-tokens.js";
import { CallLog } from "../../fake-api/call-log.js";
import type { Authority } from "../../fake-api/certificates/authority.js";
import { Faults } from "../../fake-api/faults.js";
import { deleteObject } from "../../fake-api/registry/delete.js";
import { updateObject } from "../../fake-api/registry/update.js";
import { resourceNamed } from "../../fake-api/resources.js";
import { Dispatcher } from "../../fake-api/server/dispatcher.js";
import { Store, type Change } from "../../fake-api/storage/store.js";
import { StoreView } from "../../fake-api/store-view.js";
import { Watches } from "../../fake-api/verbs/watch.js";
import { SYSTEM, type World } from "../../fake-api/world.js";
import { kernel } from "../kernel/kernel.js";
import type { Listening } from "./machine.js";

/** Without TLS the kubelet sends no credentials; the only client is the node. */
const TOKEN = "token-of-the-node";
export const NODE_NAME = "simulated";
/** Clients of port 10250. */
export const READER_TOKEN = "token-of-a-reader";
export const NOSY_TOKEN = "token-without-rights";
const READERS = "readers";
const READ = new Set(["log", "pods", "stats", "healthz", "proxy"]);
/** Tokens of service accounts may be for registries of images. */
const ASK_AUDIENCE = "request-serviceaccounts-token-audience";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Requests and limits. */
export type Resources = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function* chunksOf(body: Buffer | undefined): AsyncGenerator<Buffer> {
  if (body !== undefined) yield await Promise.resolve(body);
}

/** Devices stay as they are. */
function merged(had: Resources, given: Resources): Resources {
  return {
    ...had,
    ...Object.fromEntries(Object.entries(given).map(([key, values]) => [key, { ...had[key], ...values }])),
  };
}

export class SimulatedApi {
  readonly calls = new CallLog();
  readonly watches = new Watches();
  /** The request of each token of a service account. */
  readonly issued = new Map<string, TokenRequestSpec>();
  readonly store: StoreView;
  readonly faults: Faults;
  /** Connections are refused while it is not. */
  isUp = true;
  private readonly world: World;
  private readonly dispatcher: Dispatcher;

  constructor() {
    const store = new Store();
    const user = { name: `system:node:${NODE_NAME}`, groups: ["system:nodes"] };
    this.world = {
      clock: systemClock,
      store,
      settings: {
        later: false,
        nodeRestriction: true,
        tokens: new Map([
          [TOKEN, user],
          [READER_TOKEN, { name: "reader", groups: [READERS] }],
          [NOSY_TOKEN, { name: "nosy", groups: [] }],
        ]),
        grants: [
          ({ groups }, { verb }) => groups.includes("system:nodes") && verb === ASK_AUDIENCE,
          ({ groups }, { verb, subresource }) => groups.includes(READERS) && verb === "get" && READ.has(subresource),
        ],
        bookmarkMs: 60_000,
        approveCertificates: true,
        approveServingCertificates: false,
        certificateLifeMs: 365 * 86_400_000,
        certificateBackdateMs: 300_000,
      },
      authority: { ca: "" } as unknown as Authority,
      tokens: {
        issue: (spec: TokenRequestSpec) => this.issue(spec),
        verify: () => undefined,
      } as unknown as TokenIssuer,
    };
    this.faults = new Faults(systemClock, this.watches, () => store.compact());
    this.dispatcher = new Dispatcher(this.world, this.calls, this.faults, this.watches);
    this.store = new StoreView(this.world, () => undefined);
    for (const name of NAMESPACES) this.store.put("namespaces", { metadata: { name } });
    this.store.put("priorityclasses", { metadata: { name: "system-node-critical" }, value: 2_000_001_000 });
    this.store.put("serviceaccounts", { metadata: { name: "default", namespace: "default" } });
    this.store.put("services", {
      metadata: { name: "kubernetes", namespace: "default" },
      spec: { type: "ClusterIP", clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, protocol: "TCP" }] },
    });
    store.compact();
  }

  /** Each change of a Pod object. */
  onPod(listener: (change: Change) => void): void {
    this.onChange("pods", listener);
  }

  /** Each change of an object of this resource. */
  onChange(resource: string, listener: (change: Change) => void): void {
    this.world.store.subscribe(resourceNamed(resource), listener);
  }

  /** Asks for the end of a pod, as a user does. */
  deletePod(name: string, graceSeconds: number, namespace = "default"): void {
    const target = { resource: resourceNamed("pods"), namespace, name };
    deleteObject(target, { gracePeriodSeconds: graceSeconds }, { world: this.world, user: SYSTEM, dryRun: false });
  }

  /** Asks for other resources of a pod's containers, as a user does: the subresource "resize". */
  resizePod(name: string, resources: Resources, namespace: string): void {
    const target = { resource: resourceNamed("pods"), namespace, name };
    const resized = (object: ApiObject): ApiObject => {
      const containers = ((object.spec?.["containers"] ?? []) as Record<string, unknown>[]).map((container) => ({
        ...container,
        resources: merged(container["resources"] as Resources, resources),
      }));
      return { ...object, spec: { ...object.spec, containers } };
    };
    updateObject(target, "resize", resized, { world: this.world, user: SYSTEM, dryRun: false });
  }

  private issue(spec: TokenRequestSpec): string {
    const token = `service-account-token-${this.issued.size + 1}`;
    this.issued.set(token, spec);
    return token;
  }

  listening(): Listening | undefined {
    return this.isUp ? { owner: kernel.world, handle: this.handle } : undefined;
  }

  private readonly handle: Listening["handle"] = ({ method, path, headers, body }, response) => {
    // A stream of Node for each body would be a tenth of the server's time.
    const request = {
      method,
      url: path,
      headers: { ...headers, authorization: `Bearer ${TOKEN}` },
      httpVersionMajor: 1,
      socket: { destroy: () => response.destroy() },
      [Symbol.asyncIterator]: () => chunksOf(body),
    };
    const socket = { getPeerCertificate: () => ({}) };
    this.dispatcher.handle(request as never, response as never, socket as never).catch(() => undefined);
  };

  /** Watches break and connections are refused for `ms`. */
  goAway(ms: number): void {
    this.isUp = false;
    this.watches.cut("drop");
    kernel.after(kernel.world, ms, () => {
      this.isUp = true;
    });
  }
}

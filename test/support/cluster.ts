// The API server that the cluster suite runs against: that of KUBECONFIG when it is set, the fixture otherwise. Each
// file gets a namespace of its own, and leaves nothing behind on a server that lives on.

import { randomSuffix } from "../../src/workers/apiserver/objects/names.js";
import { FakeApi, type FakeApiOptions } from "../fake-api/fake-api.js";
import { ApiKit, pathOf, type ApiObject, type Fields } from "./api-kit.js";
import { nodeCertificate } from "./node-certificate.js";

/** Scheduler name of test pods: no scheduler binds them. */
const NO_SCHEDULER = "nobody";

export class Cluster implements AsyncDisposable {
  readonly #made: { resource: string; namespace: string; name: string }[] = [];

  private constructor(
    /** As an administrator. */
    readonly kit: ApiKit,
    /** Undefined with a real server. */
    readonly fixture: FakeApi | undefined,
    /** A fresh one, with its default service account. */
    readonly namespace: string,
  ) {}

  static async start(options: FakeApiOptions = {}): Promise<Cluster> {
    const given = process.env["KUBECONFIG"];
    const fixture = given === undefined ? await FakeApi.start({ nodeRestriction: true, ...options }) : undefined;
    const admin = { name: "admin", groups: ["system:masters"] };
    const kit = await ApiKit.fromKubeconfig(given ?? (await fixture?.kubeconfig(admin)) ?? "");
    const namespace = `suite-${randomSuffix()}`;
    const cluster = new Cluster(kit, fixture, namespace);
    await cluster.make("namespaces", { metadata: { name: namespace } });
    for (const [resource, name] of [
      ["serviceaccounts", "default"],
      ["configmaps", "kube-root-ca.crt"],
    ] as const) {
      await kit.waitFor(resource, namespace, name, (object) => object !== undefined, { what: `${resource} ${name}` });
    }
    return cluster;
  }

  /** Creates an object that dispose() deletes. */
  async make(resource: string, object: Fields): Promise<ApiObject> {
    const made = await this.kit.create(resource, object);
    this.willDelete(resource, made.metadata.namespace ?? "", made.metadata.name);
    return made;
  }

  willDelete(resource: string, namespace: string, name: string): void {
    this.#made.unshift({ resource, namespace, name });
  }

  /** A pod of the suite's namespace that no scheduler takes. */
  pod(name: string, spec: Fields = {}, metadata: Fields = {}): Promise<ApiObject> {
    return this.kit.create("pods", podOf(this.namespace, name, spec, metadata));
  }

  /** A client with the certificate of a node's agent, gotten as a kubelet gets it. */
  async nodeKit(node: string): Promise<ApiKit> {
    const { request, ...user } = await nodeCertificate(this.kit, node);
    this.willDelete("certificatesigningrequests", "", request);
    return this.kit.as(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.fixture === undefined) {
      // No kubelet will end those that were bound.
      const query = { gracePeriodSeconds: 0 };
      await this.kit.raw("DELETE", pathOf("pods", this.namespace), { query }).catch(() => undefined);
      for (const { resource, namespace, name } of this.#made) {
        await this.kit.delete(resource, namespace, name).catch(() => undefined);
      }
    }
    this.kit.close();
    await this.fixture?.[Symbol.asyncDispose]();
  }
}

export function podOf(namespace: string, name: string, spec: Fields = {}, metadata: Fields = {}): Fields {
  return {
    metadata: { name, namespace, ...metadata },
    spec: { containers: [{ name: "a", image: "busybox" }], schedulerName: NO_SCHEDULER, ...spec },
  };
}

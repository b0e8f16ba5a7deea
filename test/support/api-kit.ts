// A client for tests of any API server, by its kubeconfig. It sends plain requests by resource name and waits by
// watching. Invariant: every wait has a deadline and tells what it last saw; close() leaves no connection.

import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import type { ApiObject, Fields } from "../../src/workers/apiserver/objects/object.js";
import { apiVersionOf, resourceAt, resourceNamed, type Resource } from "../fake-api/resources.js";

export type { ApiObject, Fields } from "../../src/workers/apiserver/objects/object.js";

export interface ApiAnswer {
  code: number;
  headers: IncomingHttpHeaders;
  /** JSON of the body, its text when it is no JSON. */
  body: unknown;
}

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: ApiObject;
}

export interface ObjectList {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: ApiObject[];
}

export type Query = Readonly<Record<string, string | number | boolean>>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The server refused; `status` is its Status object. */
export class ApiRefusal extends Error {
  constructor(
    method: string,
    path: string,
    readonly code: number,
    readonly status: Fields,
  ) {
    super(`${method} ${path}: ${code} ${String(status["reason"])}: ${String(status["message"])}`);
  }

  get reason(): unknown {
    return this.status["reason"];
  }
}

const PATCH = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

interface Credentials {
  server: string;
  ca?: string;
  cert?: string;
  key?: string;
  token?: string;
}

const DEADLINE_MS = 60_000;
const USER_AGENT = "api-kit";

export class ApiKit implements Disposable {
  readonly #agent: Agent;

  constructor(private readonly credentials: Credentials) {
    const { ca, cert, key } = credentials;
    this.#agent = new Agent({
      keepAlive: true,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  }

  static async fromKubeconfig(path: string): Promise<ApiKit> {
    return new ApiKit(await readKubeconfig(await readFile(path, "utf8")));
  }

  /** Returns a client with other credentials for this server; with none at all for `{}`. */
  as(user: { token?: string; cert?: string; key?: string }): ApiKit {
    const { server, ca } = this.credentials;
    return new ApiKit({ server, ...(ca === undefined ? {} : { ca }), ...user });
  }

  get server(): string {
    return this.credentials.server;
  }

  /** Text of a kubeconfig with these credentials: JSON, which is YAML. */
  kubeconfig(): string {
    const { server, ca, cert, key, token } = this.credentials;
    const encoded = (name: string, pem: string | undefined): Fields =>
      pem === undefined ? {} : { [name]: Buffer.from(pem).toString("base64") };
    const user = { ...encoded("client-certificate-data", cert), ...encoded("client-key-data", key) };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "cluster", cluster: { server, ...encoded("certificate-authority-data", ca) } }],
      users: [{ name: "user", user: token === undefined ? user : { token } }],
      contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
      "current-context": "context",
    });
  }

  /** Any request; refusals are answers here. */
  async raw(method: string, path: string, options: RequestOptions = {}): Promise<ApiAnswer> {
    const response = await this.#send(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return {
      code: response.statusCode ?? 0,
      headers: response.headers,
      body: parsed(Buffer.concat(chunks).toString()),
    };
  }

  async get(resource: string, namespace: string, name: string, options: RequestOptions = {}): Promise<ApiObject> {
    return (await this.#good("GET", pathOf(resource, namespace, name), options)) as ApiObject;
  }

  /** Undefined when there is none. */
  async find(resource: string, namespace: string, name: string): Promise<ApiObject | undefined> {
    try {
      return await this.get(resource, namespace, name);
    } catch (error) {
      if (error instanceof ApiRefusal && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Lists the objects of a namespace; of all namespaces when `namespace` is "". */
  async list(resource: string, namespace: string, query: Query = {}): Promise<ObjectList> {
    return (await this.#good("GET", pathOf(resource, namespace), { query })) as ObjectList;
  }

  async create(resource: string, object: Fields, options: RequestOptions = {}): Promise<ApiObject> {
    const { kind, apiVersion } = kindOf(resource);
    const body = { kind, apiVersion, ...object };
    const path = pathOf(resource, namespaceOf(object));
    return (await this.#good("POST", path, { ...options, body })) as ApiObject;
  }

  async update(resource: string, object: ApiObject, subresource = ""): Promise<ApiObject> {
    const path = pathOf(resource, namespaceOf(object), object.metadata.name, subresource);
    return (await this.#good("PUT", path, { body: object })) as ApiObject;
  }

  async patch(
    resource: string,
    namespace: string,
    name: string,
    patch: unknown,
    { type = "strategic", subresource = "", query = {} }: PatchOptions = {},
  ): Promise<ApiObject> {
    const path = pathOf(resource, namespace, name, subresource);
    return (await this.#good("PATCH", path, { body: patch, contentType: PATCH[type], query })) as ApiObject;
  }

  async delete(resource: string, namespace: string, name: string, options: Fields = {}): Promise<ApiObject> {
    const body = { kind: "DeleteOptions", apiVersion: "v1", ...options };
    return (await this.#good("DELETE", pathOf(resource, namespace, name), { body })) as ApiObject;
  }

  /** POST to a subresource of an object. */
  async act(resource: string, namespace: string, name: string, subresource: string, body: Fields): Promise<Fields> {
    return (await this.#good("POST", pathOf(resource, namespace, name, subresource), { body })) as Fields;
  }

  /** Events until the server or the caller ends it. Leaving the loop ends the request. */
  async *watch(
    resource: string,
    namespace: string,
    query: Query = {},
    signal?: AbortSignal,
  ): AsyncGenerator<WatchEvent, void> {
    const path = pathOf(resource, namespace);
    const all = { query: { ...query, watch: true }, ...(signal === undefined ? {} : { signal }) };
    const response = await this.#send("GET", path, all);
    try {
      if (response.statusCode !== 200) {
        const chunks: Buffer[] = [];
        for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
        throw refusal("GET", path, response.statusCode ?? 0, parsed(Buffer.concat(chunks).toString()));
      }
      for await (const line of createInterface({ input: response })) {
        if (line !== "") yield JSON.parse(line) as WatchEvent;
      }
    } finally {
      response.destroy();
    }
  }

  /**
   * Watches an object until `holds` accepts it (undefined: it does not exist); returns it.
   * Throws with `what` and the last sight of it when the deadline passes.
   */
  async waitFor(
    resource: string,
    namespace: string,
    name: string,
    holds: (object: ApiObject | undefined) => boolean,
    { what, timeoutMs = DEADLINE_MS }: { what: string; timeoutMs?: number },
  ): Promise<ApiObject | undefined> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const fieldSelector = `metadata.name=${name}`;
    let seen: ApiObject | undefined;
    try {
      for (;;) {
        const { items, metadata } = await this.list(resource, namespace, { fieldSelector });
        seen = items[0];
        if (holds(seen)) return seen;
        const query = { fieldSelector, resourceVersion: metadata.resourceVersion, allowWatchBookmarks: true };
        for await (const { type, object } of this.watch(resource, namespace, query, deadline)) {
          if (type === "ERROR") break;
          if (type === "BOOKMARK") continue;
          seen = type === "DELETED" ? undefined : object;
          if (holds(seen)) return seen;
        }
        deadline.throwIfAborted();
      }
    } catch (error) {
      if (!deadline.aborted) throw error;
      const last = seen === undefined ? "nothing" : JSON.stringify(seen, undefined, 2);
      throw new Error(`${what}: not within ${timeoutMs} ms; last seen of ${resource} ${namespace}/${name}: ${last}`);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #good(method: string, path: string, options: RequestOptions): Promise<unknown> {
    const { code, body } = await this.raw(method, path, options);
    if (code >= 400) throw refusal(method, path, code, body);
    return body;
  }

  #send(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const { query = {}, body, contentType = "application/json", headers = {}, signal } = options;
    const url = new URL(path, this.credentials.server);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(url, {
        method,
        agent: this.#agent,
        headers: {
          accept: "application/json",
          "user-agent": USER_AGENT,
          ...(text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
          ...(this.credentials.token === undefined ? {} : { authorization: `Bearer ${this.credentials.token}` }),
          ...headers,
        },
        ...(signal === undefined ? {} : { signal }),
      });
      request.once("response", resolve).once("error", (error: NodeJS.ErrnoException) => {
        // The server closed the idle connection at this moment, and has not read the request.
        const isUnread = request.reusedSocket && error.code === "ECONNRESET" && method === "GET";
        if (isUnread) this.#send(method, path, options).then(resolve, reject);
        else reject(error);
      });
      request.end(text);
    });
  }
}

export interface PatchOptions {
  type?: keyof typeof PATCH;
  subresource?: string;
  query?: Query;
}

/** `resource`: "pods", or "group/version/resource" where the group is not served by the fixture. */
export function pathOf(resource: string, namespace: string, name = "", subresource = ""): string {
  const { root, plural } = rootOf(resource);
  const parts = [root, ...(namespace === "" ? [] : ["namespaces", namespace]), plural];
  if (name !== "") parts.push(encodeURIComponent(name));
  if (subresource !== "") parts.push(subresource);
  return parts.join("/");
}

function rootOf(resource: string): { root: string; plural: string } {
  const [group, version, plural] = resource.split("/");
  if (group !== undefined && version !== undefined && plural !== undefined) {
    return { root: `/apis/${group}/${version}`, plural };
  }
  const known = resourceNamed(resource);
  const root = known.group === "" ? `/api/${known.version}` : `/apis/${apiVersionOf(known)}`;
  return { root, plural: known.resource };
}

function kindOf(resource: string): { kind?: string; apiVersion?: string } {
  const [group = "", version = "", plural = ""] = resource.split("/");
  const known: Resource | undefined = plural === "" ? resourceNamed(resource) : resourceAt(group, version, plural);
  return known === undefined ? {} : { kind: known.kind, apiVersion: apiVersionOf(known) };
}

function namespaceOf(object: Fields): string {
  const { metadata } = object as Partial<ApiObject>;
  return metadata?.namespace ?? "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function refusal(method: string, path: string, code: number, body: unknown): ApiRefusal {
  const status = typeof body === "object" && body !== null ? (body as Fields) : { message: body };
  return new ApiRefusal(method, path, code, status);
}

interface Kubeconfig {
  "current-context": string;
  contexts: { name: string; context: { cluster: string; user: string } }[];
  clusters: { name: string; cluster: Record<string, string> }[];
  users: { name: string; user: Record<string, string> }[];
}

async function readKubeconfig(text: string): Promise<Credentials> {
  const config = parse(text) as Kubeconfig;
  const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === context?.user)?.user;
  if (cluster === undefined || user === undefined) throw new Error("the kubeconfig's current context is not complete");
  const ca = await inlineOrFile(cluster, "certificate-authority");
  const cert = await inlineOrFile(user, "client-certificate");
  const key = await inlineOrFile(user, "client-key");
  const token = user["token"];
  return {
    server: cluster["server"] ?? "",
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
  };
}

async function inlineOrFile(from: Record<string, string>, field: string): Promise<string | undefined> {
  const inline = from[`${field}-data`];
  if (inline !== undefined) return Buffer.from(inline, "base64").toString();
  const path = from[field];
  return path === undefined ? undefined : readFile(path, "utf8");
}

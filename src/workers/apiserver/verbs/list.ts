// Lists: selectors, pages with continue tokens, and the versions a client may ask for.

import { badRequest, expired, tooLargeVersion } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import type { ApiObject, Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { filterOf } from "../objects/selectors.js";
import type { Store } from "../store/store.js";
import { checkListOptions, isExactList, parseVersion, versionError } from "./list-options.js";

interface ContinueToken {
  /** Revision of the first page; -1 goes on with what there is now. */
  rv: number;
  start: string;
}

export interface Page {
  metadata: Fields;
  items: readonly ApiObject[];
}

const TOO_OLD_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

export function list(store: Store, resource: Resource, namespace: string, query: URLSearchParams): Page {
  checkListOptions(query);
  const limit = Number(query.get("limit") ?? 0);
  const token = readToken(query.get("continue") ?? "");
  const at = revisionOf(store, query, token);
  const entries = at === store.revision ? store.entries(resource) : store.entriesAt(resource, at);
  const all = selected(entries, resource, namespace, query).filter(([key]) => key > (token?.start ?? ""));
  const page = limit > 0 ? all.slice(0, limit) : all;
  const metadata: Fields = { resourceVersion: String(at) };
  const last = page.at(-1);
  if (page.length < all.length && last !== undefined) {
    metadata["continue"] = writeToken({ rv: at, start: last[0] });
    const isFiltered = ["labelSelector", "fieldSelector"].some((name) => (query.get(name) ?? "") !== "");
    if (!isFiltered) metadata["remainingItemCount"] = all.length - page.length;
  }
  return { metadata, items: page.map(([, object]) => object) };
}

type Entries = readonly (readonly [string, ApiObject])[];

/** Entries of a namespace, or of all, that the query's selectors take. */
export function selected(entries: Entries, resource: Resource, namespace: string, query: URLSearchParams): Entries {
  const filter = filterOf(resource, query);
  const prefix = resource.namespaced && namespace !== "" ? `${namespace}/` : "";
  if (filter === undefined && prefix === "") return entries;
  return entries.filter(([key, object]) => key.startsWith(prefix) && (filter?.(object) ?? true));
}

export function listText(resource: Resource, { metadata, items }: Page): string {
  const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata });
  const texts = items.map((item) => jsonText({ ...item, kind: undefined, apiVersion: undefined }));
  return `${head.slice(0, -1)},"items":[${texts.join(",")}]}`;
}

function revisionOf(store: Store, query: URLSearchParams, token: ContinueToken | undefined): number {
  if (token !== undefined) {
    if (token.rv < 0) return store.revision;
    if (token.rv >= store.compacted && token.rv <= store.revision) return token.rv;
    throw expired(TOO_OLD_TOKEN, { continue: writeToken({ ...token, rv: -1 }) });
  }
  const text = query.get("resourceVersion") ?? "";
  if (text === "" || text === "0") return store.revision;
  const wanted = parseVersion(text);
  if (wanted === undefined) throw badRequest(`invalid resource version: ${versionError(text)}`);
  if (wanted > store.revision) throw tooLargeVersion(wanted, store.revision);
  if (!isExactList(query)) return store.revision;
  if (wanted < store.compacted) throw expired("The resourceVersion for the provided list is too old.");
  return wanted;
}

function readToken(text: string): ContinueToken | undefined {
  if (text === "") return undefined;
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as ContinueToken;
    if (typeof token.rv === "number" && typeof token.start === "string") return token;
  } catch {
    // Reported below.
  }
  throw badRequest("invalid continue token: continue key is not valid: it is no token of this server");
}

function writeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

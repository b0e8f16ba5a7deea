// Lists: selectors, pages with continue tokens, and the versions a client may ask for.

import { badRequest, expired, tooLargeVersion } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import { filterOf } from "../../../src/workers/apiserver/objects/selectors.js";
import {
  checkListOptions,
  isExactList,
  parseVersion,
  versionError,
} from "../../../src/workers/apiserver/verbs/list-options.js";
import type { Resource } from "../resources.js";
import { listText } from "../storage/encode.js";
import type { World } from "../world.js";

const WAIT_FOR_VERSION_MS = 3000;

interface ContinueToken {
  v: string;
  /** Revision of the first page; -1 goes on with what there is now. */
  rv: number;
  start: string;
}

const TOO_OLD_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";
const TOO_OLD_VERSION = "The resourceVersion for the provided list is too old.";

export async function list(
  world: World,
  resource: Resource,
  namespace: string,
  query: URLSearchParams,
): Promise<string> {
  checkListOptions(query);
  const { store } = world;
  const filter = filterOf(resource, query);
  const limit = Number(query.get("limit") ?? 0);
  const token = readToken(query.get("continue") ?? "");
  const at = await revisionOf(world, query, token);
  const prefix = resource.namespaced && namespace !== "" ? `${namespace}/` : "";
  const all = (at === store.revision ? store.entries(resource) : store.entriesAt(resource, at)).filter(
    ([key, object]) => key.startsWith(prefix) && key > (token?.start ?? "") && (filter?.(object) ?? true),
  );
  const page = limit > 0 ? all.slice(0, limit) : all;
  const metadata: Fields = { resourceVersion: String(at) };
  const last = page.at(-1);
  if (page.length < all.length && last !== undefined) {
    metadata["continue"] = writeToken({ v: "meta.k8s.io/v1", rv: at, start: last[0] });
    if (filter === undefined) metadata["remainingItemCount"] = all.length - page.length;
  }
  return listText(
    resource,
    metadata,
    page.map(([, object]) => object),
  );
}

/** The objects of a collection delete. */
export function selected(world: World, resource: Resource, namespace: string, query: URLSearchParams): ApiObject[] {
  const filter = filterOf(resource, query);
  const prefix = resource.namespaced && namespace !== "" ? `${namespace}/` : "";
  return world.store
    .entries(resource)
    .filter(([key, object]) => key.startsWith(prefix) && (filter?.(object) ?? true))
    .map(([, object]) => object);
}

/** A version later than the last change: waited for a while, then refused. */
export async function awaitVersion({ store, clock }: World, wanted: number): Promise<void> {
  if (wanted <= store.revision) return;
  await clock.sleep(WAIT_FOR_VERSION_MS);
  if (wanted > store.revision) throw tooLargeVersion(wanted, store.revision);
}

async function revisionOf(world: World, query: URLSearchParams, token: ContinueToken | undefined): Promise<number> {
  const { store } = world;
  if (token !== undefined) {
    if (token.rv < 0) return store.revision;
    if (token.rv < store.compacted) {
      throw expired(TOO_OLD_TOKEN, { continue: writeToken({ ...token, rv: -1 }) });
    }
    return token.rv;
  }
  const version = query.get("resourceVersion") ?? "";
  if (version === "" || version === "0") return store.revision;
  const wanted = parseVersion(version);
  if (wanted === undefined) throw badRequest(`invalid resource version: ${versionError(version)}`);
  await awaitVersion(world, wanted);
  if (!isExactList(query)) return store.revision;
  if (wanted < store.compacted) throw expired(TOO_OLD_VERSION);
  return wanted;
}

function readToken(text: string): ContinueToken | undefined {
  if (text === "") return undefined;
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as ContinueToken;
    if (token.v === "meta.k8s.io/v1" && typeof token.rv === "number" && token.start !== "") return token;
  } catch {
    // Reported below.
  }
  throw badRequest("invalid continue token: continue key is not valid: it is no token of this server");
}

function writeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

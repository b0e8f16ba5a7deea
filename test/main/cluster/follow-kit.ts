// List and watch played by the test: the followers, and the server's events for each.

import type { Follow, FollowOptions } from "../../../src/main/cluster/watching.js";
import { ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import type { ApiClient, ApiObject } from "../../../src/shared/kubernetes/api/client/port.js";

export interface Followed {
  /** "configmaps ns metadata.name=a". */
  what: string;
  ended: boolean;
  options: FollowOptions<ApiObject>;
}

export function followKit() {
  const all: Followed[] = [];
  const follow: Follow = (options) => {
    const { kind, namespace = "", fieldSelector = "" } = options;
    const one: Followed = {
      what: `${kind.resource} ${namespace} ${fieldSelector}`.trim(),
      ended: false,
      options: options as unknown as FollowOptions<ApiObject>,
    };
    all.push(one);
    return () => void (one.ended = true);
  };
  const live = (): Followed[] => all.filter(({ ended }) => !ended);
  const find = (what: string): Followed => {
    const found = live().find((one) => one.what.endsWith(what));
    if (found === undefined)
      throw new Error(
        `nobody follows ${what}; followed: ${live()
          .map((one) => one.what)
          .join()}`,
      );
    return found;
  };
  return {
    all,
    follow,
    live: (): string[] => live().map(({ what }) => what),
    replace: (what: string, ...objects: ApiObject[]) => {
      const { options } = find(what);
      options.onReplace(objects.map((object) => options.transform?.(object) ?? object));
    },
    event: (what: string, type: "ADDED" | "MODIFIED" | "DELETED", object: ApiObject) => {
      const { options } = find(what);
      options.onEvent({ type, object: options.transform?.(object) ?? object });
    },
  };
}

/** A client with `get` only: `answer` returns the object. */
export function getKit(answer: (name: string) => ApiObject | Error | undefined) {
  const calls: string[] = [];
  const client: Pick<ApiClient, "get"> = {
    get: (kind, { namespace = "", name }, options) => {
      const version = options?.resourceVersion === undefined ? "" : ` at ${options.resourceVersion}`;
      calls.push(`${namespace}/${name}${version}`);
      const found: unknown = answer(name);
      if (found instanceof Error) return Promise.reject(found);
      if (found === undefined) return Promise.reject(notFound(kind.resource, name));
      return Promise.resolve(found as never);
    },
  };
  return { client, calls };
}

export const notFound = (resource: string, name: string): ApiError =>
  new ApiError(404, "NotFound", `${resource} "${name}" not found`);
export const forbidden = (): ApiError => new ApiError(403, "Forbidden", "no relationship found");

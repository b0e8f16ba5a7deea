// A resource that an API server serves, and what differs between resources. The tables of the servers are elsewhere.

export interface Resource {
  /** "" for the core group. */
  group: string;
  version: string;
  /** Plural, as in paths. */
  resource: string;
  kind: string;
  singular: string;
  shortNames: readonly string[];
  namespaced: boolean;
  /** There is a status subresource; the main resource leaves status alone. */
  status: boolean;
  subresources: readonly string[];
  verbs: readonly string[];
  /** PUT creates a missing object. */
  createOnUpdate: boolean;
  /** PUT without a resourceVersion overwrites. */
  unconditional: boolean;
  /** metadata.generation counts changes of the spec. */
  generation: boolean;
  /** `resource` or `resource.group`: unique. */
  key: string;
  /** Key of the resource it is stored as: its own, but for events. */
  storage: string;
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

export interface FindableResource extends Resource {
  /** Served, but not in discovery. */
  hidden?: true;
}

type Options = Partial<
  Pick<
    Resource,
    "shortNames" | "verbs" | "status" | "subresources" | "createOnUpdate" | "unconditional" | "generation" | "storage"
  >
>;

export function row(
  group: string,
  version: string,
  kind: string,
  resource: string,
  namespaced: boolean,
  more: Options = {},
): Resource {
  return {
    group,
    version,
    kind,
    resource,
    namespaced,
    singular: kind.toLowerCase(),
    shortNames: [],
    status: false,
    subresources: [],
    verbs: VERBS,
    createOnUpdate: false,
    unconditional: true,
    generation: false,
    key: group === "" ? resource : `${resource}.${group}`,
    storage: group === "" ? resource : `${resource}.${group}`,
    ...more,
  };
}

export function apiVersionOf({ group, version }: Pick<Resource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

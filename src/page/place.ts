// The view to show and its options, by the fragment of the page's address: "#/pods/default/web",
// "#/pods?filter=web&sort=-memory". Pure.

export type Place =
  | { view: "pods" }
  | { view: "pod"; namespace: string; name: string }
  | { view: "node" }
  | { view: "images" }
  | { view: "config" };

/** What the reader chose in a view. It is in the address, so that a reload or a link has it. */
export interface Options {
  filter: string;
  /** Key of a column, with "-" for the opposite order; "": the view's own order. */
  sort: string;
  /** Shows only those values of the configuration that are not the default. */
  changed: boolean;
}

const NAMED = ["node", "images", "config"] as const;

/** An unknown fragment is the list of pods. */
export function placeOf(fragment: string): Place {
  const [, view = "", namespace = "", name = ""] = pathOf(fragment).split("/");
  if (view === "pods" && namespace !== "" && name !== "") {
    return { view: "pod", namespace: decode(namespace), name: decode(name) };
  }
  const named = NAMED.find((one) => one === view);
  return { view: named ?? "pods" };
}

export function podLink(namespace: string, name: string): string {
  return `#/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export function optionsOf(fragment: string): Options {
  const query = new URLSearchParams(fragment.slice(pathOf(fragment).length + 1));
  return { filter: query.get("filter") ?? "", sort: query.get("sort") ?? "", changed: query.has("changed") };
}

/** The fragment of the same place with these options. */
export function withOptions(fragment: string, { filter, sort, changed }: Options): string {
  const query = new URLSearchParams();
  if (filter !== "") query.set("filter", filter);
  if (sort !== "") query.set("sort", sort);
  if (changed) query.set("changed", "1");
  const text = query.toString();
  const path = pathOf(fragment) || "#/pods";
  return text === "" ? path : `${path}?${text}`;
}

function pathOf(fragment: string): string {
  return fragment.split("?", 1)[0] ?? "";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The view to show, by the fragment of the page's address: "#/pods/default/web". Pure.

export type Place =
  | { view: "pods" }
  | { view: "pod"; namespace: string; name: string }
  | { view: "node" }
  | { view: "images" }
  | { view: "config" };

const NAMED = ["node", "images", "config"] as const;

/** An unknown fragment is the list of pods. */
export function placeOf(fragment: string): Place {
  const [, view = "", namespace = "", name = ""] = fragment.split("/");
  if (view === "pods" && namespace !== "" && name !== "") {
    return { view: "pod", namespace: decode(namespace), name: decode(name) };
  }
  const named = NAMED.find((one) => one === view);
  return { view: named ?? "pods" };
}

export function podLink(namespace: string, name: string): string {
  return `#/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

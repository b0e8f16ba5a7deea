// A manifest with problems in words: its place, its state, what to do. Pure.

import type { ManifestFacts, ManifestProblem } from "../../shared/contracts/manifest-facts.js";

/** "Accepted": it may have warnings. */
export type ManifestWord = "InvalidManifest" | "ShadowedManifest" | "Accepted";

export function manifestWord({ problems }: ManifestFacts): ManifestWord {
  if (problems.some(({ kind }) => kind === "refused")) return "InvalidManifest";
  return problems.some(({ kind }) => kind === "shadowed") ? "ShadowedManifest" : "Accepted";
}

/** "/etc/kubernetes/manifests/web.yaml", "default/web of the manifest API". */
export function manifestName({ origin, source }: Pick<ManifestFacts, "origin" | "source">): string {
  return source === "manifest-api" ? `${origin} of the manifest API` : origin;
}

/** The last part of a path: the name that an operator uses. A URL and a manifest of the API are named whole. */
export function shortName({ origin, source }: Pick<ManifestFacts, "origin" | "source">): string {
  return source === "file" ? origin.slice(origin.lastIndexOf("/") + 1) : origin;
}

/** With the position, as compilers and editors write it. */
export function placeOf(manifest: ManifestFacts, { line, column }: ManifestProblem): string {
  const name = manifestName(manifest);
  return line === 0 ? name : `${name}:${line}:${column}`;
}

/** "is refused", or "cannot be read". */
export function refusalWords({ reason }: Pick<ManifestProblem, "reason">): string {
  return reason === "unreadable" ? "cannot be read" : "is refused";
}

/** Remedies, most likely first. */
export function manifestHelp(manifest: ManifestFacts, problem: ManifestProblem): string[] {
  switch (problem.kind) {
    case "warning":
      if (/more than one document/.test(problem.message)) return ["put each pod into a file of its own"];
      return [
        `correct it in ${manifestName(manifest)}: the kubelet ignores this part, and restarts the pod after the change`,
      ];
    case "shadowed":
      return [`give its pod another metadata.name, or remove ${manifestName(manifest)}`];
    case "refused":
      return [...causeHelp(problem), againHelp(manifest, problem)];
  }
}

/** By the words of the refusal: the first row that fits. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /\bkind: unsupported value/,
    "the kubelet runs pods only: write a v1 Pod. Other kinds, such as Deployment, need a cluster: kubectl apply",
  ],
  [
    /static pods may not reference/,
    "a static pod runs without the API server and cannot use its objects: put the data into a hostPath volume or into variables, or create the pod in a cluster",
  ],
  [/file is empty/, "put one v1 Pod into it, or remove it"],
  [/not valid UTF-(?:8|16)/, "it is no text: remove it from the folder, or save it as UTF-8"],
  [
    /the character U\+00[0-9A-F]{2} is not allowed/,
    "texts have no such bytes: remove it from the folder if it is an archive, an image or a program, else delete that character",
  ],
  [/symbolic link/, "mend the link, or remove it"],
  [/regular file/, "replace it with a regular file, or remove it"],
  [
    /must be able to read|cannot be listed/,
    "check its permissions and those of its folders; the kubelet must be able to read it",
  ],
  [/MiB$/, "a manifest holds one pod: keep large data in a file on the node and mount it with hostPath"],
];

function causeHelp({ reason, message }: ManifestProblem): string[] {
  const found = CAUSES.find(([words]) => words.test(message));
  if (found !== undefined) return [found[1]];
  return reason === "syntax"
    ? ["it is no YAML or JSON at that place: compare the indentation (spaces only) with the lines around it"]
    : [];
}

function againHelp({ source, pods }: ManifestFacts, { reason }: ManifestProblem): string {
  const kept =
    pods.length > 0
      ? `; until then ${pods.join(", ")} of its last good version ${pods.length === 1 ? "runs" : "run"} on`
      : "";
  switch (source) {
    case "file":
      return `correct the file: the kubelet reads it again by itself as soon as it changes${kept}`;
    case "url":
      if (reason === "unreadable")
        return `check that server and the way to it: the kubelet asks it again by itself${kept}`;
      return `correct what the server sends: the kubelet reads it again by itself${kept}`;
    case "manifest-api":
      return `send the manifest again, or delete it${kept}`;
  }
}

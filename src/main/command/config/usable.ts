// Settings that this kubelet cannot use although upstream has no rule against them.

import type { ConfigView } from "../rules/rule.js";
import type { Violation } from "../violation.js";

const NOT_NEGATIVE = ["syncFrequency", "fileCheckFrequency", "httpCheckFrequency", "runtimeRequestTimeout"] as const;

export function* usable(config: ConfigView): Iterable<Violation> {
  for (const path of NOT_NEGATIVE) {
    if ((config.get(path) ?? 0) < 0) yield { path, message: "a duration cannot be negative; 0 means the default" };
  }
  const url = config.get("staticPodURL") ?? "";
  if (url !== "" && !(/^https?:\/\//.test(url) && URL.canParse(url))) {
    yield { path: "staticPodURL", message: `${JSON.stringify(url)} is not an http:// or https:// URL` };
  }
}

/** --root-dir: everything the kubelet keeps is below it, and its path ends up in mounts and cgroup names. */
export function rootDirProblem(path: string): Violation | undefined {
  const clean = path.startsWith("/") && !/\/\/|\/\.\.?(\/|$)/.test(path) && (path === "/" || !path.endsWith("/"));
  if (clean && /^[\x20-\x7e]+$/.test(path)) return undefined;
  return {
    path: "--root-dir",
    message: `${JSON.stringify(path)} is not an absolute path in normalized form (ASCII only)`,
  };
}

// The input of each package format.

import type { Architecture } from "./pins.js";

export interface Build {
  /** The built project. */
  root: string;
  /** A folder of this build's own, removed afterwards. */
  work: string;
  /** The staged files for this architecture; formats copy them. */
  tree: string;
  /** Folder of the finished packages. */
  out: string;
  architecture: Architecture;
  version: string;
  /** Seconds since 1970. */
  epoch: number;
  /** fast: for packages that only a test installs. */
  compression: "small" | "fast";
}

/** Who answers for the packages: name and address, as Debian's and rpm's fields have them. */
export const MAINTAINER = "nodelet maintainers <maintainers@nodelet.dev>";
export const HOMEPAGE = "https://nodelet.dev";
export const SUMMARY = "Kubernetes node agent (kubelet) on Node.js worker threads";
/** Lines of up to 79 characters. */
export const DESCRIPTION = [
  "A kubelet for Kubernetes 1.36 with upstream's flags, configuration, API and",
  "state files. It runs static pods without a cluster, or joins one. The package",
  "contains its own Node.js. The nodelet command shows what the kubelet does and",
  "why a pod does not run.",
];

// The runtime that the environment chooses for the suites which would run on the installed containerd.

import { nearestName } from "../../src/shared/base/text/nearest-name.js";
import { SetupProblem } from "../../tools/standalone/problem.js";
import type { LaneKind } from "./suites.js";

const RUNTIMES: Readonly<Record<string, LaneKind | undefined>> = { installed: undefined, newest: "containerd2" };
const ENGINES: Readonly<Record<string, LaneKind | undefined>> = { containerd: undefined, docker: "docker" };

/** undefined: none is chosen. @throws SetupProblem for a value that names no runtime */
export function chosenLane(env: Readonly<Record<string, string | undefined>>): LaneKind | undefined {
  const runtime = valueOf(env, "NODELET_CONTAINERD", RUNTIMES);
  return valueOf(env, "NODELET_TEST_RUNTIME", ENGINES) ?? runtime;
}

function valueOf<T>(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  values: Readonly<Record<string, T>>,
): T | undefined {
  const value = env[variable] ?? "";
  if (value === "") return undefined;
  if (Object.hasOwn(values, value)) return values[value];
  const known = Object.keys(values);
  const near = nearestName(value, known);
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  throw new SetupProblem(`${variable}=${value}: the tests run on ${known.join(" or ")}${meant}`);
}

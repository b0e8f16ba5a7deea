// The clients of users, of Debian's newest suite: kubectl, Prometheus and promtool. They are unpacked below the cache
// and run there. Debian has no crictl.

import { join } from "node:path";
import type { Step } from "../../tools/standalone/progress.js";
import { isUnpacked, NEWEST_SUITE, unpackPackages } from "../../tools/standalone/unpacked-packages.js";
import type { Job } from "./selection.js";

const PACKAGES = ["kubectl", "prometheus", "promtool"];
/** Files that run them. */
const USERS: readonly string[] = [
  ...["cluster/kubectl", "cluster/kubectl-streams", "cluster/own-api", "cluster/prometheus", "cluster/documents"],
];

export function needsClients(jobs: readonly Pick<Job, "name">[]): boolean {
  return jobs.some(({ name }) => USERS.includes(name));
}

export function clientPrograms(cacheDir: string): string {
  return join(cacheDir, `clients-${NEWEST_SUITE}`, "usr", "bin");
}

/** @throws SetupProblem */
export async function provideClients(cacheDir: string, step: Step): Promise<void> {
  const programs = clientPrograms(cacheDir);
  const unpacking = {
    ...{ folder: join(programs, "..", ".."), program: join(programs, "kubectl") },
    ...{ suite: NEWEST_SUITE, packages: PACKAGES },
    problem: {
      what: `${PACKAGES.join(", ")} of Debian ${NEWEST_SUITE}`,
      remedy: "name other test files to go without",
    },
  };
  if (await isUnpacked(unpacking)) return;
  await step(`unpacking ${PACKAGES.join(", ")} of Debian ${NEWEST_SUITE}`, () => unpackPackages(unpacking));
}

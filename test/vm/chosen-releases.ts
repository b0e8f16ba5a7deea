// The releases of Debian on which a test runs. Both, unless the environment says otherwise.

import { RELEASES, type Suite } from "./recipe.js";

/**
 * `NODELET_VM_RELEASES=trixie` names the releases, separated by commas. `NODELET_VM_EACH_ONCE=1` chooses `once`: then
 * each test takes one release and the tests together take all of them, in half the time.
 * @throws Error for a name that is no release of the tests: a wrong name would run nothing
 */
export function chosenReleases(once: Suite, env: NodeJS.ProcessEnv = process.env): readonly Suite[] {
  const named = env["NODELET_VM_RELEASES"];
  if (named === undefined) return env["NODELET_VM_EACH_ONCE"] === "1" ? [once] : RELEASES;
  return named.split(",").map((word) => {
    const release = RELEASES.find((one) => one === word.trim());
    if (release === undefined) throw new Error(`NODELET_VM_RELEASES: ${word} is none of ${RELEASES.join(", ")}`);
    return release;
  });
}

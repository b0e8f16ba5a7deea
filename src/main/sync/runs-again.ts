// A pod that is over runs again only with another definition, and only where the definition alone says what is to run: the
// verdict of a pod from the API server is final.
import { isStaticPod, type Pod } from "../../shared/api/pod.js";

export function runsAgain(before: Pod | undefined, after: Pod): boolean {
  return isStaticPod(after) && JSON.stringify(before?.spec) !== JSON.stringify(after.spec);
}

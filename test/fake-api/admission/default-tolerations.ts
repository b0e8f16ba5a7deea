// The DefaultTolerationSeconds plug-in: a pod stays five minutes on a node that is not ready or not reachable.

import { listAt, textAt, type ApiObject, type Fields } from "../../../src/workers/apiserver/objects/object.js";

const SECONDS = 300;

export function defaultTolerations(pod: ApiObject): void {
  const spec = pod.spec ?? {};
  const tolerations = listAt(spec, "tolerations");
  for (const name of ["not-ready", "unreachable"]) {
    const key = `node.kubernetes.io/${name}`;
    if (tolerations.some((toleration) => tolerates(toleration, key))) continue;
    tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: SECONDS });
  }
  if (tolerations.length > 0) spec["tolerations"] = tolerations;
}

function tolerates(toleration: Fields, key: string): boolean {
  const [ofKey, effect] = [textAt(toleration, "key"), textAt(toleration, "effect")];
  return (ofKey === undefined || ofKey === key) && (effect === undefined || effect === "NoExecute");
}

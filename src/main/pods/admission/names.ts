// Names that cannot be elements of a path. The API server admits none; this is for one that does not check, or lies.

import { isPathElement } from "../../../shared/kubernetes/api/path-element.js";
import { allContainersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import type { AdmissionHandler } from "./handler.js";

/** Characters of a name that the message shows. */
const SHOWN = 64;

export const namesHandler: AdmissionHandler = ({ pod: { metadata, spec } }) => {
  const names: [what: string, name: string][] = [
    ["pod", metadata.name],
    ["namespace", metadata.namespace],
    ...allContainersOf(spec).map(({ name }): [string, string] => ["container", name]),
    ...(spec.volumes ?? []).map(({ name }): [string, string] => ["volume", name]),
  ];
  const wrong = names.find(([, name]) => !isPathElement(name));
  if (wrong === undefined) return undefined;
  const [what, name] = wrong;
  return {
    reason: "InvalidName",
    message: `the name of a ${what}, ${JSON.stringify(name.slice(0, SHOWN))}, is no file name`,
  };
};

// Rules of annotations that Kubernetes itself gives a meaning.

import { isRecord } from "../../../../shared/base/text/is-record.js";
import { parseJson } from "../../../../shared/base/text/parse-json.js";
import { relativePath } from "../../../../shared/kubernetes/api/manifest/formats.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";

const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const SECCOMP_PROFILES = ["runtime/default", "docker/default", "unconfined"];
const LOCALHOST = "localhost/";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations";
const INT32_END = 2 ** 31;

/** They have no effect any more, or none on a node, but upstream refuses a pod with a wrong one. */
export function checkAnnotations({ metadata }: Pod, report: Report): void {
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    const path = ["metadata", "annotations", key];
    if ((key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) && !isSeccompProfile(value)) {
      report.invalid(path, value, `${SECCOMP_PROFILES.join(", ")}, or ${LOCALHOST} and a path`);
    } else if (key === DELETION_COST && !isInt32(value)) {
      report.invalid(path, value, "a whole number of 32 bits, without a plus sign or leading zeros");
    } else if (key === TOLERATIONS && value !== "" && !isListOfObjects(value)) {
      report.invalid(path, value, "a list of tolerations in JSON");
    }
  }
}

function isSeccompProfile(value: string): boolean {
  if (SECCOMP_PROFILES.includes(value)) return true;
  return value.startsWith(LOCALHOST) && relativePath(value.slice(LOCALHOST.length)) === undefined;
}

function isInt32(value: string): boolean {
  if (!/^(?:0|-\d{1,10}|[1-9]\d{0,9})$/.test(value)) return false;
  const number = Number(value);
  return number >= -INT32_END && number < INT32_END;
}

function isListOfObjects(value: string): boolean {
  try {
    const list = parseJson(value);
    return list === null || (Array.isArray(list) && list.every((one: unknown) => one === null || isRecord(one)));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

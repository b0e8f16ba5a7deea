// Whether SELinux is enabled, and the label of container files in the policy (selinux(8), selabel's lxc_contexts).

import { stat } from "node:fs/promises";
import { readTextIfThere } from "../fs/regular-file.js";

/**
 * The user, role and type of a file's label: "system_u", "object_r", "container_file_t". The level is the container's.
 */
export interface FileLabel {
  user: string;
  role: string;
  type: string;
}

const DEFAULT_LABEL: FileLabel = { user: "system_u", role: "object_r", type: "container_file_t" };
const MOUNT = "sys/fs/selinux/enforce";
const CONFIG = "etc/selinux/config";
/** In the order in which container runtimes search. */
const SHARED_CONTEXTS = "usr/share/containers/selinux/contexts";
const POLICY_CONTEXTS = "contexts/lxc_contexts";
const DEFAULT_POLICY = "targeted";

/** Undefined when the kernel does not have SELinux enabled. `root`: where the machine's files are; for tests. */
export async function readFileLabel(root = "/"): Promise<FileLabel | undefined> {
  if ((await stat(`${root}${MOUNT}`).catch(() => undefined)) === undefined) return undefined;
  const shared = await readTextIfThere(`${root}${SHARED_CONTEXTS}`);
  if (shared !== undefined) return labelIn(shared);
  const policy = value(await readTextIfThere(`${root}${CONFIG}`), "SELINUXTYPE") ?? DEFAULT_POLICY;
  return labelIn(await readTextIfThere(`${root}etc/selinux/${policy}/${POLICY_CONTEXTS}`));
}

/** The line `file = "system_u:object_r:container_file_t:s0"`. */
function labelIn(contexts: string | undefined): FileLabel {
  const [user, role, type] = (value(contexts, "file") ?? "").replaceAll('"', "").split(":");
  if (user === undefined || user === "" || role === undefined || type === undefined) return DEFAULT_LABEL;
  return { user, role, type };
}

/** Returns the value of the last line "key = value" or "key=value". */
function value(text: string | undefined, key: string): string | undefined {
  for (const line of (text ?? "").split("\n").reverse()) {
    const equals = line.indexOf("=");
    if (equals > 0 && line.slice(0, equals).trim() === key) return line.slice(equals + 1).trim();
  }
  return undefined;
}

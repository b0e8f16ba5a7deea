// The check of the CNI configuration: the runtime finds a network for pods, in the folder in which it looks. Pure.

import { CONFLIST } from "../network/conflist.js";
import { DEFAULT_CONF_DIR } from "../runtime/runtime-settings.js";
import { bad, ok, type Machine, type Result } from "./check.js";

const CHECK = "CNI configuration";
const NO_NETWORK = "only pods with hostNetwork start";

export function cniConfiguration({ mode, settings, cniFiles }: Machine): Result {
  const { names, network, broken } = cniFiles;
  const folder = settings?.confDir ?? DEFAULT_CONF_DIR;
  if (names.length === 0) {
    if (broken.length > 0) return bad("error", CHECK, broken.join("; "), NO_NETWORK, `ls -ld ${folder}`);
    if (settings?.template !== undefined) return ok(CHECK, `the runtime makes it from ${settings.template}`);
    const fix =
      mode === "standalone"
        ? "nodelet doctor --fix"
        : "install the network plugin of the cluster: kubectl apply -f its manifest";
    return bad("warning", CHECK, `${folder} has none`, NO_NETWORK, fix);
  }
  // containerd gives up at the first file that is not valid; CRI-O goes on with the next.
  const fatal = network === undefined || settings?.runtime === "containerd";
  if (broken.length > 0) {
    const first = `${folder}/${names[0] ?? ""}`;
    const again = mode === "standalone" && names.length === 1 ? " && nodelet doctor --fix" : "";
    const fix = `mv ${first} ${first}.disabled${again}`;
    return bad(fatal ? "error" : "warning", CHECK, broken.join("; "), NO_NETWORK, fix);
  }
  if (mode === "cluster" && network?.file === CONFLIST) {
    const why = "it is the network of a stand-alone node, and hides that of the cluster";
    return bad("warning", CHECK, `${folder}/${CONFLIST}`, why, `rm ${folder}/${CONFLIST}`);
  }
  return ok(CHECK, `${names.join(", ")} in ${folder}`);
}

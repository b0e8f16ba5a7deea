// A pod with an AppArmor profile is admitted only if the node enforces AppArmor.

import { readFile } from "node:fs/promises";
import { appArmorProfileOf } from "../../../shared/kubernetes/api/app-armor.js";
import { allContainersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type AppArmorProfile, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Refusal } from "../../model/refusal.js";
import type { AdmissionHandler } from "./handler.js";

export const appArmorHandler: AdmissionHandler = ({ pod, node }) => {
  // A pod that ran before with its profile keeps running.
  if (pod.status !== undefined && pod.status.phase !== "Pending") return undefined;
  const profiles = profilesOf(pod);
  if (profiles.length === 0) return undefined;
  const refused = (why: string): Refusal => ({ reason: "AppArmor", message: `Cannot enforce AppArmor: ${why}` });
  if (node.appArmorProblem !== undefined) return refused(node.appArmorProblem);
  for (const { type, localhostProfile = "" } of profiles) {
    if (type === "Localhost" && localhostProfile.trim() === "") {
      return refused('invalid AppArmor profile name: "localhost/"');
    }
  }
  return undefined;
};

function profilesOf(pod: Pod): AppArmorProfile[] {
  const ofContainers = allContainersOf(pod.spec).map((container) => appArmorProfileOf(pod, container));
  return [pod.spec.securityContext?.appArmorProfile, ...ofContainers].flatMap((profile) =>
    profile === undefined || profile.type === "Unconfined" ? [] : [profile],
  );
}

/** Why profiles can't be enforced on this machine; undefined: they can. */
export async function appArmorProblem(root = "/sys"): Promise<string | undefined> {
  const text = await readFile(`${root}/module/apparmor/parameters/enabled`, "utf8").catch(() => "");
  return text.startsWith("Y") ? undefined : "AppArmor is not enabled on the host";
}

// Rules of AppArmor annotations: each names a container of the pod and a profile, and agrees with the field if there is one.
import { APP_ARMOR_ANNOTATION, appArmorFromAnnotation } from "../../../../shared/api/app-armor.js";
import type { Pod } from "../../../../shared/api/pod.js";
import type { Report } from "../report.js";
import { containersOf } from "./visit.js";

export function checkAppArmorAnnotations(pod: Pod, report: Report): void {
  const visited = [...containersOf(pod)];
  for (const [key, value] of Object.entries(pod.metadata.annotations ?? {})) {
    if (!key.startsWith(APP_ARMOR_ANNOTATION)) continue;
    const path = ["metadata", "annotations", key];
    const profile = appArmorFromAnnotation(value);
    if (profile === undefined && value !== "") {
      report.invalid(path, value, '"runtime/default", "unconfined" or "localhost/" and the name of a profile');
    }
    const name = key.slice(APP_ARMOR_ANNOTATION.length);
    const found = visited.find(({ container }) => container.name === name);
    if (found === undefined) {
      report.invalid(path, name, "the name of a container of the pod");
      continue;
    }
    const field = found.container.securityContext?.appArmorProfile ?? pod.spec.securityContext?.appArmorProfile;
    if (field === undefined) continue;
    if (field.type === profile?.type && field.localhostProfile === profile.localhostProfile) continue;
    report.forbidden([...found.path, "securityContext", "appArmorProfile"], "the same profile as in the annotation");
  }
}

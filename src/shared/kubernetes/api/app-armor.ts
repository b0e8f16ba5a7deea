// The AppArmor profile of a container. Its own field comes first, then the pod's annotation for it, then the pod's
// field. The API server converts the annotations of API pods to fields; static pods may have nothing but annotations.
// Invariant: validation, admission and the container's configuration read profiles only here. Source:
// https://kubernetes.io/docs/tutorials/security/apparmor/, pkg/security/apparmor/helpers.go

import type { AppArmorProfile, Container, Pod } from "./pod.js";

/** The name of a container follows. */
export const APP_ARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST_PREFIX = "localhost/";

export function appArmorProfileOf(pod: Pod, container: Container): AppArmorProfile | undefined {
  return (
    container.securityContext?.appArmorProfile ??
    appArmorFromAnnotation(pod.metadata.annotations?.[APP_ARMOR_ANNOTATION + container.name]) ??
    pod.spec.securityContext?.appArmorProfile
  );
}

/** undefined: no annotation, or not a profile. */
export function appArmorFromAnnotation(value: string | undefined): AppArmorProfile | undefined {
  if (value === undefined) return undefined;
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  if (!value.startsWith(LOCALHOST_PREFIX)) return undefined;
  return { type: "Localhost", localhostProfile: value.slice(LOCALHOST_PREFIX.length) };
}

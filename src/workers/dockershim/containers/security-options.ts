// Security contexts of CRI → docker's security options. Pure but for the reading of seccomp profiles.

import {
  SecurityProfile_ProfileType,
  type SecurityProfile,
  type SELinuxOption,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../fault.js";
import { readText } from "../read-text.js";

export interface Confinement {
  privileged: boolean;
  seccomp: SecurityProfile | undefined;
  apparmor: SecurityProfile | undefined;
  selinuxOptions: SELinuxOption | undefined;
  noNewPrivs: boolean;
}

const LOCALHOST = "localhost/";
/** The Engine refuses profiles that do not fit into its request; upstream's largest is 12 KiB. */
const MAX_PROFILE_BYTES = 1024 * 1024;

/** Docker's own default profiles need no option. @throws Fault for a profile that cannot be read */
export async function securityOptions(confinement: Confinement): Promise<string[]> {
  return [
    ...(await seccomp(confinement)),
    ...apparmor(confinement),
    ...selinux(confinement.selinuxOptions),
    ...(confinement.noNewPrivs ? ["no-new-privileges"] : []),
  ];
}

/** The profiles, also where an older client names them in the fields of CRI v1alpha2, which the new ones replace. */
export function currentProfiles(security: {
  seccomp: SecurityProfile | undefined;
  apparmor: SecurityProfile | undefined;
  seccompProfilePath: string;
  apparmorProfile?: string;
}): Pick<Confinement, "seccomp" | "apparmor"> {
  return {
    seccomp: security.seccomp ?? namedProfile(security.seccompProfilePath, "seccomp_profile_path"),
    apparmor: security.apparmor ?? namedProfile(security.apparmorProfile ?? "", "apparmor_profile"),
  };
}

function namedProfile(name: string, field: string): SecurityProfile | undefined {
  const of = (profileType: SecurityProfile_ProfileType, localhostRef = ""): SecurityProfile => ({
    profileType,
    localhostRef,
  });
  if (name === "") return undefined;
  if (name === "runtime/default" || name === "docker/default") return of(SecurityProfile_ProfileType.RuntimeDefault);
  if (name === "unconfined") return of(SecurityProfile_ProfileType.Unconfined);
  if (name.startsWith(LOCALHOST)) return of(SecurityProfile_ProfileType.Localhost, name.slice(LOCALHOST.length));
  throw new Fault(
    "INVALID_ARGUMENT",
    `${field} ${JSON.stringify(name)}: use runtime/default, unconfined or localhost/<profile>`,
  );
}

async function seccomp({ privileged, seccomp: profile }: Confinement): Promise<string[]> {
  if (privileged || profile === undefined || profile.profileType === SecurityProfile_ProfileType.Unconfined) {
    return ["seccomp=unconfined"];
  }
  if (profile.profileType === SecurityProfile_ProfileType.RuntimeDefault) return [];
  // The Engine takes the profile itself, in one line.
  const text = await readText(profile.localhostRef, MAX_PROFILE_BYTES);
  try {
    return [`seccomp=${JSON.stringify(JSON.parse(text))}`];
  } catch (error) {
    throw new Fault("INVALID_ARGUMENT", `the seccomp profile ${profile.localhostRef} is no JSON: correct the file`, {
      cause: error,
    });
  }
}

function apparmor({ privileged, apparmor: profile }: Confinement): string[] {
  if (privileged || profile === undefined) return [];
  switch (profile.profileType) {
    case SecurityProfile_ProfileType.RuntimeDefault:
      return [];
    case SecurityProfile_ProfileType.Unconfined:
      return ["apparmor=unconfined"];
    case SecurityProfile_ProfileType.Localhost:
      return [`apparmor=${profile.localhostRef}`];
  }
}

function selinux(options: SELinuxOption | undefined): string[] {
  if (options === undefined) return [];
  const { user, role, type, level } = options;
  return Object.entries({ user, role, type, level }).flatMap(([key, value]) =>
    value === "" ? [] : [`label=${key}:${value}`],
  );
}

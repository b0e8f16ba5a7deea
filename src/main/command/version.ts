// Which Kubernetes version's contract is kept. Tools compare it with the API server's.
export const KUBERNETES_VERSION = "v1.36.0";

/** The answer to --version and --version=raw; any other value is a version to report instead (upstream allows that). */
export function versionText(value: string): string {
  if (value === "raw") {
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(KUBERNETES_VERSION) ?? [];
    return `version.Info{Major:"${major}", Minor:"${minor}", GitVersion:"${KUBERNETES_VERSION}", Compiler:"node"}`;
  }
  return `Kubernetes ${value === "true" ? KUBERNETES_VERSION : value}`;
}

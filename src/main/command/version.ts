// Which Kubernetes version's contract is kept. Tools compare it with the API server's.
export const KUBERNETES_VERSION = "v1.36.0";

/** --version=v…: only our own version, with more behind it (a vendor's name), may be reported in its place. */
export function isReportable(version: string): boolean {
  return version.startsWith(KUBERNETES_VERSION) && /^([-+]|$)/.test(version.slice(KUBERNETES_VERSION.length));
}

/**
 * The answer to --version ("true") and --version=raw ("raw"): one line without its end. `reported` takes the place of
 * our own version.
 */
export function versionText(asked: string, reported: string = KUBERNETES_VERSION): string {
  return asked === "raw" ? rawVersion(reported) : `Kubernetes ${reported}`;
}

/** Upstream's struct in its own form and order, so that existing parsers work; the toolchain is this program's. */
function rawVersion(gitVersion: string): string {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const members: Record<string, string> = {
    Major: major,
    Minor: minor,
    EmulationMajor: "",
    EmulationMinor: "",
    MinCompatibilityMajor: "",
    MinCompatibilityMinor: "",
    GitVersion: gitVersion,
    GitCommit: "",
    GitTreeState: "",
    BuildDate: "1970-01-01T00:00:00Z",
    GoVersion: `node${process.versions.node}`,
    Compiler: "v8",
    Platform: `${process.platform}/${arch}`,
  };
  const shown = Object.entries(members).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${shown.join(", ")}}`;
}

// Names of platforms as Go, and so Kubernetes, has them. Pure.

/** Go's name of the platform we run on. */
export function goPlatform(arch: string = process.arch): string {
  const goArch: Record<string, string> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" };
  return `linux/${goArch[arch] ?? arch}`;
}

// Selects the CSI version for a driver: the highest 1.x version that the driver supports.

import { PluginRefusedError } from "../../model/plugin-refused.js";

/** "v1.5.0" or "1.5.0" → [1, 5, 0]; undefined if the text is not a version. */
export function parseVersion(text: string): number[] | undefined {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})/.exec(text);
  return match?.slice(1).map(Number);
}

export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (const index of [0, 1, 2]) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @throws PluginRefusedError */
export function bestVersion(driver: string, offered: readonly string[]): string {
  const parsed = offered.flatMap((text) => {
    const version = parseVersion(text);
    return version?.[0] === 1 ? [version] : [];
  });
  const best = parsed.sort((a, b) => compareVersions(b, a))[0];
  if (best === undefined) {
    throw new PluginRefusedError(
      `CSI driver ${driver} offers versions [${offered.join(" ")}], and the kubelet supports none of them: a driver needs CSI 1.x`,
    );
  }
  return best.join(".");
}

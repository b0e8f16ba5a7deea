// The origin of a value in the effective configuration, for messages, --print-config and /configz?origin=1.

export type Origin =
  | { readonly kind: "default" }
  /** A file of KubeletConfiguration: the one of --config or a drop-in of --config-dir. Line and column from 1. */
  | { readonly kind: "file" | "drop-in"; readonly file: string; readonly line: number; readonly column: number }
  /** `flag` without its dashes. */
  | { readonly kind: "flag"; readonly flag: string }
  /** Follows from another field, e.g. cgroupRoot "/" from cgroupsPerQOS. */
  | { readonly kind: "derived"; readonly from: string };

/** "default", "/etc/kubelet.yaml:7:3", "--max-pods" or "derived from cgroupsPerQOS". */
export function originText(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "file":
    case "drop-in":
      return `${origin.file}:${origin.line}:${origin.column}`;
    case "flag":
      return `--${origin.flag}`;
    case "derived":
      return `derived from ${origin.from}`;
  }
}

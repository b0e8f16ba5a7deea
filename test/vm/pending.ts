// Parts of the agent that the suite expects and that this version lacks. Each entry says why its tests are skipped; when
// a part arrives its entry becomes false and its tests count.

export type Part = "systemdDriver";

export const PENDING: Readonly<Record<Part, string | false>> = {
  /** Slices over D-Bus. */
  systemdDriver: "the systemd cgroup driver is refused",
};

/** For node:test's options. */
export const unless = (part: Part): { skip: string | false } => ({ skip: PENDING[part] });

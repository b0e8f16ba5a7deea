import { access } from "node:fs/promises";

/** Whether a path leads to a file, folder or socket that this user may reach. */
export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

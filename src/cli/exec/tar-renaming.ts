// Options of GNU tar that give the members of an archive another first name. Pure.
// https://www.gnu.org/software/tar/manual/html_section/transform.html

import { CliError, EXIT } from "../errors.js";

/** @throws CliError for names that tar's expression cannot have */
export function renaming(from: string, to: string): string[] {
  if (from === to) return [];
  if (/[\n|]/.test(from + to))
    throw new CliError(EXIT.usage, "a name with a line feed or | cannot be changed by a copy");
  const pattern = from.replace(/[.[\]*^$\\]/g, "\\$&");
  const replacement = to.replace(/[\\&]/g, "\\$&");
  return [`--transform=flags=rh;s|^${pattern}|${replacement}|`];
}

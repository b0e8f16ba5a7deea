/**
 * A member of a JSON object as Go's encoding/json finds it: by its name in any case, the last of several. null leaves
 * an earlier one in place. undefined: there is none.
 */
export function foldedMember(members: Readonly<Record<string, unknown>>, name: string): unknown {
  const wanted = name.toLowerCase();
  let found: unknown;
  for (const [key, value] of Object.entries(members)) {
    if (key.length === name.length && key.toLowerCase() === wanted) found = value ?? found ?? value;
  }
  return found;
}

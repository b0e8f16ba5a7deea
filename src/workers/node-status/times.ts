// Times as the API writes them.

/** meta/v1 Time: whole seconds. */
export function rfc3339(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** meta/v1 MicroTime. */
export function rfc3339Micro(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}

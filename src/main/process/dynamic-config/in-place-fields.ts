// Fields a running kubelet takes over without a restart. Everything else is read once at start. Each of its parts would
// need its own code for a change. A restart keeps the pods running and is one way for all of them.

const IN_PLACE_FIELDS: readonly string[] = ["logging.verbosity"];

/** `changed`: paths of the configuration, with or without [index] or [key]. */
export function allInPlace(changed: readonly string[]): boolean {
  return changed.every((path) =>
    IN_PLACE_FIELDS.some((field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)),
  );
}

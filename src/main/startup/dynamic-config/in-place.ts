// Fields a running kubelet takes over without a restart. Everything else is read once at start, by parts that would each
// have to learn to change: a restart keeps the pods running and is the one way that holds for all of them.

const IN_PLACE_FIELDS: readonly string[] = ["logging.verbosity"];

/** `changed`: paths of the configuration, with or without [index] or [key]. */
export function allInPlace(changed: readonly string[]): boolean {
  return changed.every((path) =>
    IN_PLACE_FIELDS.some((field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)),
  );
}

// What JSON, YAML and TOML call an object or a map: the first question to a value from outside.

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function helpText(): string {
  return "";
}

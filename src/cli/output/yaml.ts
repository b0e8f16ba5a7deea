// YAML for -o yaml: in a file of its own, so that only this form loads the library.

import { stringify } from "yaml";

export function yamlText(data: unknown): string {
  return stringify(data, { lineWidth: 0 });
}

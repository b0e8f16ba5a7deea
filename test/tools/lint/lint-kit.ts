// Runs one rule of tools/lint on a text, as `npm run lint` would.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ESLint, Linter } from "eslint";
import tseslint from "typescript-eslint";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const { default: plugin } = (await import(`file://${ROOT}tools/lint/plugin.mjs`)) as {
  default: { rules: Record<string, unknown> };
};

/** Names of the plugin's rules. */
export const RULES: readonly string[] = Object.keys(plugin.rules);

/** Returns "line: message" for each report; `file` is relative to `cwd`, the root of the linted repository. */
export function reports(rule: string, text: string, { cwd = ROOT, file = "src/a.ts" } = {}): string[] {
  const linter = new Linter({ cwd, configType: "flat" });
  const config = {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser },
    plugins: { nodelet: plugin },
    rules: { [`nodelet/${rule}`]: "error" },
  } as Linter.Config;
  return linter.verify(text, [config], join(cwd, file)).map(({ line, message }) => `${line}: ${message}`);
}

const eslint = new ESLint({ cwd: ROOT });

/** Returns "line: message" for each report of the repository's own configuration, by that rule or about directives. */
export async function configuredReports(rule: string, text: string, file: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: join(ROOT, file) });
  const messages = result?.messages.filter(({ ruleId }) => ruleId === rule || ruleId === null) ?? [];
  return messages.map(({ line, message }) => `${line}: ${message}`);
}

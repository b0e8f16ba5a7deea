// The sysctls that pods may set beside the safe ones. One that belongs to no namespace of the kernel is refused at the
// start, as upstream refuses it: a pod would set it for the whole machine.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { dottedSysctl, sysctlNamespace } from "../../model/sysctl-name.js";
import type { Violation } from "../violation.js";
import type { ConfigView } from "./rule.js";

const PART = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const LAST_PART = /^(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

export function* unsafeSysctls(config: ConfigView): Iterable<Violation> {
  for (const [index, text] of (config.get("allowedUnsafeSysctls") ?? []).entries()) {
    const path = `allowedUnsafeSysctls[${index}]`;
    if (!isPattern(text)) {
      yield { path, message: `${quoteStart(text)} is not a sysctl such as kernel.msgmax, or a pattern such as net.*` };
    } else if (sysctlNamespace(withoutStar(dottedSysctl(text))) === undefined) {
      const message =
        `${quoteStart(text)} belongs to no namespace of the kernel, so that a pod would set it for the whole machine; ` +
        "allowed are names and patterns that begin with net., fs.mqueue., kernel.shm and kernel.msg, and kernel.sem";
      yield { path, message };
    }
  }
}

function isPattern(text: string): boolean {
  if (text.length > 253) return false;
  const parts = text.split(/[./]/);
  const last = parts.pop() ?? "";
  return LAST_PART.test(last) && parts.every((part) => PART.test(part));
}

function withoutStar(pattern: string): string {
  return pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
}

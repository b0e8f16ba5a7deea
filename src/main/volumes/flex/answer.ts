// The answer of a flexVolume driver: one JSON object on standard output. Keys are compared without case, as Go does.

import { isRecord } from "../../../shared/base/text/is-record.js";
import { VolumeError } from "../volume-error.js";
export interface FlexCapabilities {
  attach: boolean;
  selinuxRelabel: boolean;
  supportsMetrics: boolean;
  fsGroup: boolean;
  requiresFSResize: boolean;
}

export interface FlexAnswer {
  /** Device path in answers to attach and waitforattach. */
  device: string;
  /** Capabilities in an answer to init. */
  capabilities: FlexCapabilities;
}

/** Capabilities of a driver whose answer names none. */
const DEFAULTS: FlexCapabilities = {
  attach: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};
/** Most characters of a driver's message that an event shows. */
const SHOWN = 512;
/** Characters of an answer, and bytes of a driver's output: a usual answer has a few hundred. */
export const ANSWER_LIMIT = 64 * 1024;

/** The driver has no such command: the kubelet does the work itself, or leaves it out. */
export class FlexNotSupportedError extends Error {
  override readonly name = "FlexNotSupportedError";
}

/** @throws FlexNotSupportedError, VolumeError */
export function readAnswer(command: string, text: string): FlexAnswer {
  const answer = fieldsOf(parsed(command, text));
  const status = stringOf(answer.get("status"));
  if (status === "Not supported") throw new FlexNotSupportedError(status);
  if (status !== "Success") {
    const reason = stringOf(answer.get("message")).slice(0, SHOWN);
    throw new VolumeError(`${command} command failed, status: ${status.slice(0, SHOWN)}, reason: ${reason}`);
  }
  const named = fieldsOf(answer.get("capabilities"));
  const capabilities = { ...DEFAULTS };
  for (const key of Object.keys(DEFAULTS) as (keyof FlexCapabilities)[]) {
    const value = named.get(key.toLowerCase());
    if (typeof value === "boolean") capabilities[key] = value;
  }
  return { device: stringOf(answer.get("device")), capabilities };
}

function parsed(command: string, text: string): unknown {
  if (text.length > ANSWER_LIMIT) {
    throw new VolumeError(`the driver's output for ${command} is longer than ${ANSWER_LIMIT} characters`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new VolumeError(`the driver's output for ${command} is not JSON: ${JSON.stringify(text.slice(0, 80))}`, {
      cause: error,
    });
  }
  if (isRecord(value)) return value;
  throw new VolumeError(`the driver's output for ${command} is not a JSON object`);
}

function fieldsOf(value: unknown): Map<string, unknown> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(entries.map(([key, field]) => [key.toLowerCase(), field]));
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

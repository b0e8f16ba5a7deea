// An error that the fake runtime answers with: a gRPC status and a text.

import { status } from "@grpc/grpc-js";
import type { CriCode } from "../../src/shared/kubernetes/cri/errors.js";

export class Fault extends Error {
  constructor(
    readonly code: CriCode,
    message: string,
  ) {
    super(message);
  }
}

/** The form grpc-js wants. */
export function toStatus(error: unknown): { code: status; details: string } {
  if (error instanceof Fault) return { code: status[error.code], details: error.message };
  return { code: status.INTERNAL, details: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

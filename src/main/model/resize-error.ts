// A resize that the runtime or the kernel does not take: shown in the pod's condition PodResizeInProgress, tried again later.

export class ResizeError extends Error {
  override readonly name = "ResizeError";
}
export const isResizeError = (error: unknown): error is ResizeError => error instanceof ResizeError;

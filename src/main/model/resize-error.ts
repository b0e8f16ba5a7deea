// A resize that the runtime or the kernel rejects: reported in the pod's condition PodResizeInProgress and retried
// later.

export class ResizeError extends Error {
  override readonly name = "ResizeError";
}

/** Dynamic resources of a pod cannot be prepared, recorded or released, and no caller distinguishes the cause. */
export class DraError extends Error {
  override readonly name = "DraError";
}

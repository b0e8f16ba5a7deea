/** A ring or its queue cannot be used as asked, and no caller distinguishes the cause. */
export class QueueError extends Error {
  override readonly name = "QueueError";
}

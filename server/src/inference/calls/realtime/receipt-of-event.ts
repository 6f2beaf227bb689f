import type { RunningResponse } from './running-response.ts';

/** Beside what the provider says, where its receipt is found, and that it is promised. The rest is as it came. */
export function withReceipt(frame: Buffer, { call, promise }: RunningResponse): Buffer {
  const end = frame.lastIndexOf('}');
  const promised = promise === undefined ? '' : `,"receipt_promise":${JSON.stringify(promise)}`;
  const added = `,"receipt_id":${JSON.stringify(call.receiptId)}${promised}`;
  return Buffer.concat([frame.subarray(0, end), Buffer.from(added), frame.subarray(end)]);
}

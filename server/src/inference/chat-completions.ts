import type { ServerResponse } from 'node:http';
import { admit } from './admission.ts';
import type { Call } from './call.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { relayPlain } from './plain-relay.ts';
import { relayStream } from './stream-relay.ts';

/** One plain chat completion: held, answered, settled. The reply is not sent yet, so that an idempotent repeat can be given the same. */
export async function completeChat(call: Call, deps: InferenceDeps): Promise<Reply> {
  const admission = await admit(call, deps);
  const { served, reply } = await relayPlain(admission, deps);
  deps.onServed(call, served);
  return reply;
}

/** One streamed chat completion: held, relayed as it comes, settled before its last event leaves. */
export async function streamChat(call: Call, res: ServerResponse, deps: InferenceDeps): Promise<void> {
  const admission = await admit(call, deps);
  const served = await relayStream(admission, res, deps);
  deps.onServed(call, served);
}

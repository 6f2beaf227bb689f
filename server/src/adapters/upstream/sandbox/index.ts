import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamFault, UpstreamProvider } from '../port.ts';
import { composeAnswer } from './answer.ts';
import { scriptOf } from './answer-script.ts';
import { Cancellation } from './cancellation.ts';
import type { Head } from './chat-completion.ts';
import { cancelled, closed, faultInsteadOfAnswer, parseFault, rejected, type SandboxFault, timedOut } from './faults.ts';
import { rejection } from './rejection.ts';
import { playAnswer } from './scripted-answer.ts';

export interface SandboxOptions {
  /** Says when an answer was `created`. */
  readonly clock?: Clock;
  /** Between two pieces of a body, milliseconds; 0, the default: as fast as they are read. */
  readonly chunkDelayMs?: number;
}

/**
 * A provider in this process that answers every chat model: without network, cost or chance. The same request gets the same
 * answer, to the byte but for the time it was created. It answers test keys, and stands in for a provider in benches.
 */
export function createSandboxProvider({ clock = systemClock, chunkDelayMs = 0 }: SandboxOptions = {}): UpstreamProvider {
  const open = new Set<Cancellation>();
  let isClosed = false;

  async function call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> {
    if (isClosed) return closed();
    const fault = parseFault(call.sandboxFault);
    if (fault && 'ok' in fault) return rejected(fault);
    const refusal = faultInsteadOfAnswer(fault);
    if (refusal) return refusal;
    if (call.endpoint !== '/v1/chat/completions')
      return rejected(rejection(`The sandbox does not serve ${call.endpoint}.`, { param: null, code: 'not_found' }));
    const head = headOf(call, clock);
    if (!head) return rejected(rejection('The request is nested too deeply.', { param: null, code: 'invalid_value' }));
    const answer = composeAnswer(call);
    if (!answer.ok) return rejected(answer);
    const cancellation = new Cancellation(call.signal, open);
    const late = await faultBeforeFirstByte(call, fault, cancellation);
    if (late) {
      cancellation.release();
      return isClosed ? closed() : late;
    }
    const script = scriptOf(call, head, answer, fault);
    return playAnswer({ ...script, gapMs: script.gapMs || chunkDelayMs }, call.idleTimeoutMs, cancellation);
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const cancellation of open) cancellation.cancel();
  }

  return { serves: (endpoint) => endpoint === '/v1/chat/completions', call, close };
}

/** The wait for the first byte, where one was asked for; a fault if none comes in time. */
async function faultBeforeFirstByte(
  call: UpstreamCall,
  fault: SandboxFault | undefined,
  cancellation: Cancellation,
): Promise<UpstreamFault | undefined> {
  const waitMs = fault?.name === 'timeout' ? Number.POSITIVE_INFINITY : fault?.name === 'slow-first-byte' ? (fault.amount ?? 0) : 0;
  try {
    if (waitMs > 0) await cancellation.pause(Math.min(waitMs, call.firstByteTimeoutMs));
    cancellation.throwIfCancelled();
  } catch {
    return cancelled();
  }
  return waitMs >= call.firstByteTimeoutMs ? timedOut(call) : undefined;
}

/** The id follows from the request. Undefined where the request is nested so deeply that it cannot be written down. */
function headOf({ model, request }: UpstreamCall, clock: Clock): Head | undefined {
  let fingerprint: string;
  try {
    fingerprint = hash('sha256', JSON.stringify([model, request]), 'hex');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return {
    id: `chatcmpl-${fingerprint.slice(0, 32)}`,
    created: Math.floor(clock.now() / 1000),
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_tallygate_sandbox',
  };
}

import { createHash, hash, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { nextTurn } from '../../../kernel/turn.ts';
import { eachJsonPiece, isSmall } from '../../../kernel/written-json.ts';
import {
  isMakersOwn,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamFault,
  type UpstreamProvider,
  type UpstreamRead,
} from '../port.ts';
import { Cancellation } from './cancellation.ts';
import { compose } from './compose.ts';
import { deliver } from './deliver.ts';
import { deliveryOf } from './delivery.ts';
import { cancelled, closed, faultInsteadOfAnswer, parseFault, rejected, type SandboxFault, timedOut } from './faults.ts';
import { SandboxConnections } from './realtime/sandbox-connections.ts';
import { rejection } from './rejection.ts';
import { readVideo } from './videos/read.ts';

export interface SandboxOptions {
  /** Says when an answer was `created`, and how far a job is. */
  readonly clock?: Clock;
  /** Of each answer: its ids are those of no other, also where the request was the same. Random by default. */
  readonly nonce?: () => string;
  /** Between two pieces of a body, milliseconds; 0, the default: as fast as they are read. */
  readonly chunkDelayMs?: number;
}

/**
 * A provider in this process that answers every model: without network, cost or chance. The same request gets the same answer, to the
 * byte but for its ids and the time it was created. It answers test keys, and replaces a provider in benches.
 */
export function createSandboxProvider({
  clock = systemClock,
  nonce = randomNonce,
  chunkDelayMs = 0,
}: SandboxOptions = {}): UpstreamProvider {
  const open = new Set<Cancellation>();
  const connections = new SandboxConnections(nonce);
  let isClosed = false;

  async function call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> {
    if (isClosed) return closed();
    const fault = parseFault(call.sandboxFault);
    if (fault && 'ok' in fault) return rejected(fault);
    const refusal = faultInsteadOfAnswer(fault);
    if (refusal) return refusal;
    const fingerprint = await fingerprintOf(call);
    if (!fingerprint) return rejected(rejection('The request is nested too deeply.', { param: null, code: 'invalid_value' }));
    const idSeed = hash('sha256', `${fingerprint} ${nonce()}`, 'hex');
    const answer = await compose(call, { fingerprint, idSeed, clock, fault });
    if (!answer.ok) return rejected(answer);
    const cancellation = new Cancellation(call.signal, open);
    const late = isClosed ? closed() : await faultBeforeFirstByte(call, fault, cancellation);
    if (late) {
      cancellation.release();
      return isClosed ? closed() : late;
    }
    const delivery = deliveryOf(answer, fault);
    return deliver({ ...delivery, gapMs: delivery.gapMs || chunkDelayMs }, call.idleTimeoutMs, cancellation);
  }

  async function read(read: UpstreamRead): Promise<UpstreamAnswer | UpstreamFault> {
    if (isClosed) return closed();
    const content = await readVideo(read, clock);
    if (!content.ok) return rejected(content, content.status);
    if (isClosed) return closed();
    const cancellation = new Cancellation(read.signal, open);
    if (cancellation.isCancelled) return cancelled();
    return deliver(deliveryOf(content, undefined), read.idleTimeoutMs, cancellation);
  }

  async function close(): Promise<void> {
    isClosed = true;
    connections.close();
    for (const cancellation of open) cancellation.cancel();
  }

  return {
    serves: (endpoint) => !isMakersOwn(endpoint),
    takesServiceTiers: true,
    call,
    read,
    connect: (opening) => connections.open(opening),
    close,
  };
}

const randomNonce = (): string => randomBytes(12).toString('hex');

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

/** Undefined where the request is nested so deeply that it cannot be written down. */
async function fingerprintOf({ model, request }: UpstreamCall): Promise<string | undefined> {
  const digest = createHash('sha256');
  try {
    await eachJsonPiece([model, request], (piece) => digest.update(piece));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  // The answer is made in a turn of its own.
  if (!isSmall(request)) await nextTurn();
  return digest.digest('hex');
}

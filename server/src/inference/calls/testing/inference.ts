import { mkdtempSync, rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatCompletionRequest, ERRORS, type ErrorCode } from '@tallygate/contract';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import type { JournalEntry } from '../../../adapters/lanes/port.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import { CollectedBody } from '../../../adapters/upstream/collected-body.ts';
import {
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamCut,
  type UpstreamEndpoint,
  type UpstreamFault,
  type UpstreamProvider,
} from '../../../adapters/upstream/port.ts';
import { newReceiptId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { loadCatalog } from '../../../money/catalog/index.ts';
import type { SettlementRecord } from '../../../money/ledger/index.ts';
import { TEST_RATES } from '../../../money/plans/index.ts';
import { BOOK } from '../../../money/plans/testing/book.ts';
import { RunDirectory } from '../../../money/runs/index.ts';
import { memoryRunStore } from '../../../money/runs/testing/memory-run-store.ts';
import { invalidAnswer } from '../attempts.ts';
import type { Call } from '../call.ts';
import { chatWork } from '../chat-work.ts';
import { type Deployment, Deployments, type OnCancel } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import { parseInferenceHeaders } from '../headers.ts';
import { Heartbeat } from '../heartbeat.ts';
import { receivedJson } from '../operation.ts';
import { newGatewayId } from '../provider-loop.ts';
import { RunningCalls } from '../running-calls.ts';
import type { Served } from '../served.ts';
import { countTokensGuarded } from '../token-count.ts';
import { UnsettledCalls } from '../unsettled-calls.ts';

const READ_ON_MS = 5_000;
export const NOW = Date.UTC(2026, 10, 21, 12);

/** `open`: the connection stays as it is until somebody cuts it. */
type Ending = 'complete' | 'open' | UpstreamCut['reason'];

/** A body that comes as it is written down. */
export class ScriptedAnswer implements UpstreamAnswer {
  readonly ok = true;
  readonly status = 200;
  readonly contentType = null;
  /** How many chunks were handed over. */
  handed = 0;
  isAborted = false;
  readonly #chunks: readonly (string | Buffer)[];
  readonly #ending: Ending;
  readonly #gate: Promise<void>;
  readonly #aborted = Promise.withResolvers<never>();

  /** @param gate the provider is at work until it opens */
  constructor(chunks: readonly (string | Buffer)[], ending: Ending = 'complete', gate: Promise<void> = Promise.resolve()) {
    this.#gate = gate;
    this.#chunks = chunks;
    this.#ending = ending;
    this.#aborted.promise.catch(() => {});
  }

  async collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer> {
    const collected = new CollectedBody(maxBytes, onTooLarge);
    await this.pump((chunk) => collected.take(chunk));
    return collected.whole();
  }

  async pump(onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    await Promise.race([this.#gate, this.#aborted.promise]);
    for (const chunk of this.#chunks) {
      // A turn of the event loop, as a socket takes one.
      await new Promise(setImmediate);
      this.handed += 1;
      await Promise.race([onChunk(Buffer.from(chunk)), this.#aborted.promise]);
    }
    if (this.#ending === 'open') await this.#aborted.promise;
    if (this.#ending !== 'complete' && this.#ending !== 'open') throw new UpstreamCut(this.#ending);
  }

  abort(): void {
    this.isAborted = true;
    this.#aborted.reject(new UpstreamCut('aborted'));
  }
}

type Turn = ScriptedAnswer | UpstreamFault | 'silence';

/** Answers its calls in turn. */
export class ScriptedProvider implements UpstreamProvider {
  readonly calls: UpstreamCall[] = [];
  /** Undefined: all. */
  endpoints: readonly UpstreamEndpoint[] | undefined;
  /** Whether it does for every model. */
  readsGoogle = false;
  readonly #turns: Turn[];

  constructor(...turns: Turn[]) {
    this.#turns = turns;
  }

  serves(endpoint: UpstreamEndpoint): boolean {
    return this.endpoints?.includes(endpoint) ?? true;
  }

  readsGoogleFields(): boolean {
    return this.readsGoogle;
  }

  call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> {
    this.calls.push(call);
    const turn = this.#turns.shift();
    if (!turn) return Promise.reject(new Error('A call that the script does not have'));
    if (call.signal.aborted) return Promise.resolve(invalidAnswer('cancelled', 'cancelled'));
    if (turn === 'silence') {
      return new Promise((resolve) => call.signal.addEventListener('abort', () => resolve(invalidAnswer('cancelled', 'cancelled'))));
    }
    if (turn instanceof ScriptedAnswer) call.signal.addEventListener('abort', () => turn.abort());
    return Promise.resolve(turn);
  }

  async close(): Promise<void> {}
}

export const faulty = (kind: UpstreamFault['kind'], fields: Partial<UpstreamFault> = {}): UpstreamFault => ({
  ...invalidAnswer(`a scripted fault: ${kind}`, kind),
  retryable: kind !== 'rejected' && kind !== 'cancelled',
  ...fields,
});

/** The client's end of a connection: keeps what it reads, and reads nothing while it is stalled. */
class ClientSocket extends Socket {
  readonly #written: Buffer[] = [];
  readonly #onWrite: () => void;
  #resume: (() => void) | undefined;
  isStalled = false;

  constructor(onWrite: () => void) {
    super();
    this.#onWrite = onWrite;
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    this.#written.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    this.#onWrite();
    if (this.isStalled) this.#resume = done;
    else done();
  }

  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: () => void): void {
    for (const { chunk, encoding } of chunks) this._write(chunk, encoding, () => {});
    if (this.isStalled) this.#resume = done;
    else done();
  }

  override _final(done: () => void): void {
    done();
  }

  readOn(): void {
    this.isStalled = false;
    this.#resume?.();
  }

  get head(): string {
    const text = Buffer.concat(this.#written).toString('latin1');
    return text.slice(0, Math.max(0, text.indexOf('\r\n\r\n')));
  }

  get body(): Buffer {
    const bytes = Buffer.concat(this.#written);
    const head = bytes.indexOf('\r\n\r\n');
    return head < 0 ? Buffer.alloc(0) : bytes.subarray(head + 4);
  }
}

/** Fails where it is told to, as a full disk would. */
class BreakableJournal extends SettlementJournal {
  isBroken = false;
  /** What each hold was begun as last. */
  readonly begun = new Map<string, SettlementRecord>();

  override begin(copy: Parameters<SettlementJournal['begin']>[0]) {
    this.begun.set(copy.holdId, JSON.parse(copy.record));
    super.begin(copy);
  }

  override append(entry: JournalEntry) {
    if (this.isBroken) throw new Error('ENOSPC');
    return super.append(entry);
  }
}

class ManualHeartbeat extends Heartbeat {
  readonly #beats = new Set<() => void>();

  override start(beat: () => void): () => void {
    this.#beats.add(beat);
    return () => this.#beats.delete(beat);
  }

  get running(): number {
    return this.#beats.size;
  }

  beat(): void {
    for (const beat of this.#beats) beat();
  }
}

interface Options {
  /** Deployments of models, for live keys; weights fall, so that they are tried in this order. */
  live?: Readonly<Record<string, readonly UpstreamProvider[]>>;
  /** For test keys. */
  sandbox?: UpstreamProvider;
  /** What is paid in, nano-USD. */
  balance?: bigint;
  quotaUsed?: Readonly<Record<string, bigint>>;
  onCancel?: OnCancel;
  mostLeftPerKey?: number;
  readOnMs?: number;
  /** Of the first byte and between two bytes, milliseconds. */
  timeoutMs?: number;
  /** How long providers are waited for that say when they may be asked again. */
  retryAfterMs?: number;
  mostAnswerBytes?: number;
}

/** The slice with scripted providers, lanes in memory and a journal in a folder of its own. */
export function openInference({
  live = {},
  sandbox = new ScriptedProvider(),
  balance = 0n,
  quotaUsed = {},
  onCancel = 'keeps_billing',
  mostLeftPerKey = 64,
  readOnMs = READ_ON_MS,
  timeoutMs = 1_000,
  retryAfterMs = 0,
  mostAnswerBytes,
}: Options = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'tallygate-inference-'));
  const journal = new BreakableJournal(dir, (segment, line) => {
    throw new Error(`${segment}: ${line}`);
  });
  const clock = { at: NOW, now: () => clock.at };
  const lanes = new InProcessLanes(
    { moneyLane: async (id) => ({ spent: 0n, cap: id.startsWith('balance:') ? balance : null }), quotaLane: async () => quotaUsed },
    journal,
    () => clock.at,
  );
  const heartbeat = new ManualHeartbeat();
  const unsettled = new UnsettledCalls(silentLog());
  const runStore = memoryRunStore();
  const runs = new RunDirectory({ store: runStore, clock, log: silentLog() });
  runs.listening();
  /** What happened, in order. */
  const order: ('settled' | 'wrote')[] = [];
  journal.onAppend(() => order.push('settled'));
  const served: Served[] = [];
  const byModel = Object.entries(live).map(([model, providers]): [string, Deployment[]] => [
    model,
    providers.map((upstream, index) => ({
      name: `${model}#${index}`,
      provider: `provider-${index}`,
      upstream,
      upstreamModel: `${model}-theirs`,
      countsLikeMaker: true,
      onCancel,
      weight: 1_000_000 / 1_000 ** index,
    })),
  ]);
  const deps: InferenceDeps = {
    catalog: loadCatalog(),
    plans: BOOK,
    spendingOf: async () => undefined,
    deployments: new Deployments(new Map(byModel), sandbox, () => 0.5),
    lanes,
    tokenizer: { count: countTokensGuarded, close: async () => {} },
    clock,
    log: silentLog(),
    heartbeat,
    gatewayId: newGatewayId(),
    unsettled,
    running: new RunningCalls({ readOnMs, mostLeftPerKey }),
    runs,
    testRates: TEST_RATES,
    ...(mostAnswerBytes !== undefined && { mostAnswerBytes }),
    timeouts: { plainFirstByteMs: timeoutMs, streamFirstByteMs: timeoutMs, idleMs: timeoutMs, retryAfterMs },
    problemReply: ({ status, code, message }, { requestId }) => ({
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: Buffer.from(JSON.stringify(problemDocument({ status, code, message, requestId }))),
    }),
    onRefused: () => {},
    onServed: (_call, one) => served.push(one),
  };
  const entries: JournalEntry[] = [];
  return {
    deps,
    lanes,
    journal,
    clock,
    heartbeat,
    runs,
    runStore,
    order,
    served,
    openClient() {
      const request = new IncomingMessage(new Socket());
      // HTTP/1.0 has no chunked coding: the body is the very bytes.
      request.httpVersionMajor = 1;
      request.httpVersionMinor = 0;
      const res = new ServerResponse(request);
      const socket = new ClientSocket(() => order.push('wrote'));
      socket.on('drain', () => res.emit('drain'));
      res.assignSocket(socket);
      return { res, socket };
    },
    /** Everything that was settled, oldest first. */
    async settled(): Promise<(Omit<JournalEntry, 'record'> & { record: SettlementRecord })[]> {
      for (;;) {
        const batch = await journal.read();
        if (batch.entries.length === 0) break;
        entries.push(...batch.entries);
        batch.acknowledge();
      }
      return entries.map(({ record, ...entry }) => ({ ...entry, record: JSON.parse(record) as SettlementRecord }));
    },
    /** Held on the lane now, nano-USD. */
    async held(laneId: string): Promise<bigint | undefined> {
      return (await lanes.inspect([laneId])).get(laneId)?.held;
    },
    close() {
      heartbeat.close();
      unsettled.close();
      journal.close();
      rmSync(dir, { recursive: true });
    },
  };
}

interface CallOptions {
  livemode?: boolean;
  headers?: Readonly<Record<string, string>>;
  monthlyCap?: bigint | null;
  plan?: string;
  signal?: AbortSignal;
}

export const ACCOUNT = 'acc-1';
export const KEY = 'key-1';

export function callOf(body: object, options: CallOptions = {}): Call & { readonly request: ChatCompletionRequest; readonly body: Buffer } {
  const { livemode = false, headers = {}, monthlyCap = null, plan = 'pro', signal = new AbortController().signal } = options;
  const full = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }], ...body };
  const request = ChatCompletionRequest.parse(full);
  const raw = Buffer.from(JSON.stringify(full));
  return {
    request,
    body: raw,
    requestId: 'req_1',
    clientRequestId: null,
    receiptId: newReceiptId(NOW),
    startedAt: NOW,
    startedTick: performance.now(),
    grant: {
      principal: {
        kind: 'key',
        keyId: KEY,
        accountId: ACCOUNT,
        userId: 'user-1',
        role: 'member',
        scopes: new Set(['inference']),
        livemode,
      },
      monthlyCap,
      plan,
    },
    clientSignature: null,
    headers: parseInferenceHeaders(headers),
    work: chatWork(request, receivedJson(raw)),
    signal,
  };
}

/** The record without what the edge adds: numbers and faults. */
const problemDocument = ({
  status,
  code,
  message,
  requestId,
}: {
  status: number;
  code: ErrorCode;
  message: string;
  requestId: string;
}) => ({
  type: `https://tallygate.test/docs/errors/${code}`,
  title: ERRORS[code].title,
  ...{ status, detail: message, instance: requestId, code },
  ...(status === 422 && { errors: [] }),
  error: { message, type: ERRORS[code].type, code, param: null },
});

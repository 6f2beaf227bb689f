import {
  checkpointOfExport,
  type DeclarationKind,
  type ExportedReceipt,
  type ExportSummary,
  type History,
  LogAwayError,
  parseWitnessPolicy,
  type ReadTile,
  type Refusal,
  type Remembered,
  rememberCheckpoint,
  rememberDeclarations,
  rememberKeys,
  requireDeclaredWitnesses,
  tilePath,
  type Verified,
  type VerifiedCheckpoint,
  type VerifiedInvoice,
  type VerifyOptions,
  verifyCheckpoint,
  verifyExport,
  verifyInvoice,
  verifyReceipt,
  verifyReceiptText,
  type WitnessPolicy,
} from '@tallygate/receipts';
import { ConnectionError, TallygateError, TimeoutError } from './errors.ts';
import type { AgentDocument, InvoiceResponse, LogDeclarations, ReceiptResponse, VaasKeySet } from './generated/models.ts';
import { Receipts as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';

/** How the state of the log that was met goes together with those that were seen before. */
interface Seen {
  readonly history?: Remembered;
}

export type ReceiptVerification = (Verified & Seen) | Refusal;
export type InvoiceCheck = (VerifiedInvoice & Seen) | Refusal;
export type CheckpointVerification = (VerifiedCheckpoint & Seen) | Refusal;

export interface VerifyCallOptions extends CallOptions {
  /** What has to hold beyond what a receipt needs to be valid: published prices, witnesses, keys of the log. */
  readonly demands?: VerifyOptions | undefined;
}

interface Trust {
  readonly keySet: VaasKeySet;
  readonly demands: VerifyOptions;
}

interface Mode {
  /** Live or test receipts. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

/** `tallygate.receipts`: signed proof of what was served and what it cost. Reading them needs no credential. */
export class Receipts extends Generated {
  #policy: Promise<WitnessPolicy | undefined> | undefined;

  /**
   * All receipts of the account of a month with their proofs, lines of JSON in one stream that `verifyExport` of `@tallygate/receipts` checks
   * offline. Needs a credential.
   */
  export(which: { month: string } & Mode, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/receipts/export', query: { ...which } }, options);
  }

  /**
   * Proof that the receipt is in the log, a `.tlog-proof` file: `await (await receipts.proof(id)).text()`. It exists seconds after the answer;
   * until then this throws `NotFoundError`. `checkTlogProof` of `@tallygate/receipts` checks it.
   */
  proof(receiptId: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}/proof` }, options);
  }

  /**
   * The newest state of the log, a signed note: `await (await receipts.checkpoint()).text()`; with `witnesses`, the newest that so many
   * witnesses have cosigned. `verifyCheckpoint` checks it.
   */
  checkpoint({ witnesses, ...options }: CallOptions & { readonly witnesses?: number | undefined } = {}): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/log/checkpoint', query: { witnesses } }, options);
  }

  /** Hashes of the log, 32 bytes each: `tile('tile/0/000')`. `tilePath` of `@tallygate/receipts` names a tile, `rangesFromTiles` makes proofs of them. */
  tile(path: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/log/${path.split('/').map(pathStep).join('/')}` }, options);
  }

  /**
   * Checks a receipt: form, digest, signature, and that the cost follows from usage and prices. A receipt that is not valid is a
   * result, not an exception. Text is checked more strictly than an object can be: it shows members that JSON.parse would hide.
   *
   * The state of the log that it is in is compared with those that were seen before: `history` of the result says how.
   * @param keys left out, they are fetched, with the witnesses that the service lists. The first ones are trusted as far as the connection to the
   *   service; later ones have to follow from those (`keysSeen`). With keys of your own, `demands.witnesses` says whose cosignatures there have to be (`parseWitnessPolicy`)
   * @throws LogForkError where the log has shown two pasts, or does not prove that it has not; both states are kept as evidence
   * @throws WitnessesUndeclaredError where the service lists other witnesses than its log declares
   * @throws DeclarationsContradictedError where a key or policy that its log declares is left out of the list
   * @throws KeysContradictedError where it publishes keys that contradict those that were seen before
   */
  async verify(receipt: ReceiptResponse | string, keys?: VaasKeySet, options: VerifyCallOptions = {}): Promise<ReceiptVerification> {
    const { keySet, demands } = await this.#trust(keys, options);
    const found = typeof receipt === 'string' ? verifyReceiptText(receipt, keySet, demands) : verifyReceipt(receipt, keySet, demands);
    if (!found.valid || !found.logged) return found;
    return { ...found, history: await this.remember(found.logged.checkpoint, options) };
  }

  /**
   * Checks an invoice of `invoices.get` by itself: form, signature, that its figures agree with each other, and its place in the log. `verifyBill`
   * of `@tallygate/receipts` adds up the receipts that it counts.
   * @throws LogForkError as `verify` does
   */
  async verifyInvoice(invoice: InvoiceResponse, keys?: VaasKeySet, options: VerifyCallOptions = {}): Promise<InvoiceCheck> {
    const { keySet, demands } = await this.#trust(keys, options);
    const found = verifyInvoice(invoice, keySet, demands);
    if (!found.valid || !found.logged) return found;
    return { ...found, history: await this.remember(found.logged.checkpoint, options) };
  }

  /**
   * Checks an export, text of `receipts.export`, receipt by receipt: yields a verdict for each and returns what they come to. The state of the
   * log that it is against is compared with those that were seen before.
   * @throws LogForkError as `verify` does
   */
  async *verifyExport(
    text: string,
    keys?: VaasKeySet,
    options: VerifyCallOptions = {},
  ): AsyncGenerator<ExportedReceipt, ExportSummary, undefined> {
    const { keySet, demands } = await this.#trust(keys, options);
    const checkpoint = checkpointOfExport(text);
    if (checkpoint !== undefined) await this.verifyCheckpoint(checkpoint, keySet, { ...options, demands });
    return yield* verifyExport(text.split('\n'), keySet, demands);
  }

  /**
   * Checks a state of the log (`receipts.checkpoint`): that the log signed it, and that it goes together with those that were seen before.
   * @throws LogForkError as `verify` does
   */
  async verifyCheckpoint(note: string, keys?: VaasKeySet, options: VerifyCallOptions = {}): Promise<CheckpointVerification> {
    const { keySet, demands } = await this.#trust(keys, options);
    const found = verifyCheckpoint(note, keySet, demands);
    return found.valid ? { ...found, history: await this.remember(note, options) } : found;
  }

  /**
   * Compares a state of the log whose signature holds with the newest that was seen, by the log's tiles, and keeps it: see `logStore` of the client.
   * @throws LogForkError as `verify` does
   */
  remember(note: string, options?: CallOptions): Promise<Remembered> {
    return rememberCheckpoint(note, this.history(originOf(note), options));
  }

  /**
   * Compares the witnesses that the agent document lists (`log.witness_policy`) with those that the log declares, whose state is compared with those
   * that were seen before.
   * @throws WitnessesUndeclaredError where the log declares others: other readers may be shown another list
   * @throws DeclarationsContradictedError where the list leaves out a key or policy that the log declares
   * @throws LogForkError as `verify` does
   */
  async requireDeclared(listed: string | null, keySet: VaasKeySet, options: CallOptions = {}): Promise<void> {
    const { policy } = await this.declarationsSeen(['policy', 'key', 'key_retired'], keySet, options);
    requireDeclaredWitnesses(listed, policy, keySet);
  }

  /**
   * What the log declares of these kinds, compared with what was seen there before, and kept: see `logStore` of the client. Pages that were seen
   * are not read again; with `whole`, all are.
   * @throws DeclarationsContradictedError where an entry is left out, or is another one than before; the list is kept as evidence
   * @throws LogForkError as `verify` does
   */
  declarationsSeen<Kind extends DeclarationKind>(
    kinds: readonly Kind[],
    { keys }: VaasKeySet,
    { whole = false, ...options }: CallOptions & { readonly whole?: boolean | undefined } = {},
  ): Promise<Record<Kind, readonly LogDeclarations[]>> {
    const { logStore: store, baseUrl } = this.transport;
    const listed = (kind: Kind, cursor?: string) => this.#declared(kind, options, whole ? undefined : cursor);
    return rememberDeclarations(baseUrl, kinds, { keys, store, listed, remember: (note) => this.remember(note, options) });
  }

  /**
   * The keys that the service publishes, compared with those that were seen there before, and kept with them: see `logStore` of the client.
   * @throws KeysContradictedError where they contradict each other; both are kept as evidence
   * @throws LogForkError as `verify` does
   */
  async keysSeen(options: CallOptions = {}): Promise<VaasKeySet> {
    const published = await this.keys(options);
    const { logStore: store, baseUrl } = this.transport;
    const remember = (note: string) => this.remember(note, options);
    const declared = async () => [...(await this.#declared('key', options)), ...(await this.#declared('key_retired', options))];
    return { ...published, keys: [...(await rememberKeys(baseUrl, published.keys, { store, declared, remember }))] };
  }

  async #declared(kind: DeclarationKind, options: CallOptions, from?: string): Promise<LogDeclarations[]> {
    const pages: LogDeclarations[] = [];
    for (let cursor: string | null | undefined = from; cursor !== null; ) {
      const page: LogDeclarations = await this.declarations({ kind, limit: PAGE, ...(cursor !== undefined && { cursor }) }, options);
      pages.push(page);
      cursor = page.next_cursor;
    }
    return pages;
  }

  /** What was seen of logs, and a way to ask for the tiles of that one: for `compareState` of `@tallygate/receipts`. */
  history(origin: string, options?: CallOptions): History {
    const patience = { timeoutMs: TILE_TIMEOUT_MS, maxRetries: 1, ...options };
    let asked: Promise<string> | undefined;
    const readTile: ReadTile = async (tile) => {
      try {
        asked ??= this.#origin(patience);
        // Tiles of another gateway's log would say nothing of this one.
        if ((await asked) !== origin) throw new LogAwayError(`The gateway has another log than ${origin}.`);
        const answer = await this.tile(tilePath(tile), patience);
        return new Uint8Array(await answer.arrayBuffer());
      } catch (error) {
        throw isAway(error) ? new LogAwayError('The log cannot be asked.') : error;
      }
    };
    return { store: this.transport.logStore, readTile };
  }

  /** Where the caller has no keys, those that the service publishes, and the witnesses that it lists: they are demanded then. */
  async #trust(keys: VaasKeySet | undefined, { demands = {}, ...options }: VerifyCallOptions): Promise<Trust> {
    if (keys) return { keySet: keys, demands };
    const keySet = await this.keysSeen(options);
    if (demands.witnesses) return { keySet, demands };
    this.#policy ??= this.#publishedPolicy(keySet, options);
    const witnesses = await this.#policy.catch((error: unknown) => {
      this.#policy = undefined;
      throw error;
    });
    return { keySet, demands: { ...demands, ...(witnesses && { witnesses }) } };
  }

  async #publishedPolicy(keySet: VaasKeySet, options: CallOptions): Promise<WitnessPolicy | undefined> {
    const { log }: Partial<AgentDocument> = await this.transport.json<AgentDocument>(
      { method: 'GET', path: '/.well-known/agent.json' },
      options,
    );
    const listed = log?.witness_policy ?? null;
    await this.requireDeclared(listed, keySet, options);
    return listed === null ? undefined : parseWitnessPolicy(listed);
  }

  /** As which the service's log signs. */
  async #origin(options: CallOptions): Promise<string> {
    return originOf(await (await this.checkpoint(options)).text());
  }
}

/** The first line of a checkpoint (c2sp.org/tlog-checkpoint). */
const originOf = (note: string): string => note.slice(0, note.indexOf('\n'));

/** The most that the service gives. */
const PAGE = 200;
/** A tile has at most 8 kB. */
const TILE_TIMEOUT_MS = 15_000;
/** Somebody on the way answered, who gives no request ids, or the service is too busy: that says nothing against the log. */
const AWAY_STATUSES: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

const isAway = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (error instanceof TallygateError &&
    ((error.code === 'unexpected_response' && error.requestId === undefined) || AWAY_STATUSES.has(error.status)));

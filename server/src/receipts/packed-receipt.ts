import { hash } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput, canonicalJson, keyHashInput } from '@tallygate/receipts';
import { rfc3339 } from '../kernel/clock.ts';
import type { RowOf } from '../kernel/statements.ts';
import type { Receipt } from './entities.ts';
import { PackedReader, PackedWriter } from './packed-bytes.ts';
import { isForSubjects, type Named, packSubjects, subjectHashes, unpackSubjects } from './subjects.ts';

/** The columns that a receipt is unpacked with: what it is found by is not packed as well. */
export const UNPACKED_COLUMNS = [
  ...(['receipt_id', 'account_id', 'request_id', 'payload', 'packed', 'livemode', 'kind', 'model', 'run_id'] as const),
  ...(['started_at', 'account_sequence'] as const),
] as const;
export type PackedRow = Readonly<Pick<RowOf<typeof Receipt>, (typeof UNPACKED_COLUMNS)[number]>>;

/** The first byte: by which list of fields, and by which canonical form, the payload is made again. */
const FORM = 1;
/** Beside fallback, outcome and funding. */
const HAS_SUBJECTS = 128;
const HASH_BYTES = 32;
const UUID_BYTES = 16;

// Each list is part of the form: entries are added at the end, and none is ever changed.
const FALLBACKS = ['none', 'deployment', 'model'] as const;
const OUTCOMES = ['completed', 'cancelled', 'abandoned', 'cut', 'failed', 'refunded', 'cached'] as const;
const FUNDINGS = ['test', 'balance', 'invoice', 'none'] as const;
const REQUIRED_COUNTS = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'] as const;
const METERS = [
  ...REQUIRED_COUNTS,
  ...(['cache_write_1h_tokens', 'audio_input_tokens', 'image_input_tokens', 'cached_image_input_tokens', 'image_output_tokens'] as const),
  ...(['input_characters', 'audio_seconds', 'video_seconds', 'images', 'requests', 'tokens'] as const),
  ...(['audio_output_tokens', 'web_searches', 'web_search_previews', 'file_searches', 'container_gigabytes'] as const),
  ...(['image_tool_text_input_tokens', 'image_tool_image_input_tokens'] as const),
  ...(['image_tool_text_output_tokens', 'image_tool_image_output_tokens', 'search_units', 'cached_audio_input_tokens'] as const),
];

/** A nonce follows from the id, which has 74 random bits and is known to those alone who may read the receipt. */
export const nonceOf = (receiptId: string): string => hash('sha256', `tallygate-receipt-nonce/v1\n${receiptId}`, 'hex').slice(0, 32);

/** A hash salted with the nonce. */
export const accountHashOf = (nonce: string, accountId: string): string => hash('sha256', accountHashInput(nonce, accountId), 'hex');
export const keyHashOf = (nonce: string, keyId: string | null): string | null =>
  keyId === null ? null : hash('sha256', keyHashInput(nonce, keyId), 'hex');

/** @throws RangeError for what is not on the list */
function placeOf(list: readonly string[], value: string): number {
  const at = list.indexOf(value);
  if (at < 0) throw new RangeError(`${value} has no packed form`);
  return at;
}

function valueAt<T>(list: readonly T[], at: number): T {
  const value = list[at];
  if (value === undefined) throw new RangeError(`A packed receipt names value ${at} of a list of ${list.length}`);
  return value;
}

const bytesOfId = (id: string): string => id.replaceAll('-', '');
const idOfBytes = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** What its columns do not say of a receipt, in few bytes. @throws RangeError for what has no packed form: it is stored as text */
export function packed(said: ReceiptPayload, { key_id: keyId, ...named }: Named & { readonly key_id: string | null }): Buffer {
  const into = new PackedWriter();
  into.byte(FORM);
  const { payment, price_entry: entry, client_signature: signature } = said;
  const flags = [
    ...[keyId !== null, said.estimated, signature !== null, said.refund_of !== null, entry !== null],
    ...[said.waived_nano_usd !== undefined, said.model_requested !== said.model_served, said.price_tier_above_input_tokens !== null],
  ];
  into.byte(flags.reduce((byte, flag, at) => byte | (flag ? 1 << at : 0), 0));
  const kinds = placeOf(FALLBACKS, said.fallback) * 32 + placeOf(OUTCOMES, said.outcome) * 4 + placeOf(FUNDINGS, payment.funding);
  into.byte(kinds + (isForSubjects(named) ? HAS_SUBJECTS : 0));
  if (keyId !== null) into.hex(bytesOfId(keyId), UUID_BYTES);
  into.hex(said.request_sha256, HASH_BYTES);
  into.hex(said.response_sha256, HASH_BYTES);
  for (const text of [said.endpoint, said.provider, said.price_version, said.price_factor, payment.plan ?? '']) into.text(text);
  if (said.model_requested !== said.model_served) into.text(said.model_requested);
  if (said.price_tier_above_input_tokens !== null) into.number(said.price_tier_above_input_tokens);
  packNumbers(
    into,
    Object.entries(said.usage).filter(([, count]) => count !== 0),
  );
  packNumbers(into, Object.entries(said.unit_prices_pico_usd));
  packNumbers(into, Object.entries(payment.covered));
  into.amount(BigInt(said.cost_nano_usd));
  into.amount(BigInt(payment.charged_nano_usd));
  if (said.waived_nano_usd !== undefined) into.amount(BigInt(said.waived_nano_usd));
  into.number(Date.parse(said.completed_at) - Date.parse(said.started_at));
  if (entry) {
    into.number(entry.index);
    into.hex(entry.digest, HASH_BYTES);
  }
  if (said.refund_of !== null) {
    into.hex(bytesOfId(said.refund_of), UUID_BYTES);
    into.text(said.refund_reason ?? '');
  }
  if (signature) into.text(canonicalJson(signature));
  if (isForSubjects(named)) packSubjects(into, named);
  return into.done();
}

function packNumbers(into: PackedWriter, entries: readonly (readonly [string, number | string | undefined])[]): void {
  into.byte(entries.length);
  for (const [meter, value = 0] of entries) {
    into.byte(placeOf(METERS, meter));
    if (typeof value === 'number') into.number(value);
    else into.amount(BigInt(value));
  }
}

/** The payload of a stored receipt: canonical JSON, byte for byte what was digested. @throws RangeError where it is none */
export function payloadOf(row: PackedRow): string {
  if (!row.packed) return row.payload ?? '';
  return JSON.stringify(unpacked(row, row.packed));
}

/** The same; empty where somebody has altered it so that it is none. */
export function readablePayload(row: PackedRow): string {
  try {
    return payloadOf(row);
  } catch {
    return '';
  }
}

type Filling = { -readonly [Name in keyof ReceiptPayload]: ReceiptPayload[Name] };

/**
 * All members in the order of their names, so that `JSON.stringify` makes the canonical form, in a third of the time. A copy of one literal
 * has its shape from the beginning: what is added member by member is slower.
 */
const BLANK: ReceiptPayload = {
  account_hash: '',
  account_sequence: 0,
  client_signature: null,
  completed_at: '',
  cost_nano_usd: '',
  end_user_hash: undefined,
  endpoint: '',
  estimated: false,
  fallback: 'none',
  key_hash: null,
  kind: 'usage',
  livemode: false,
  model_requested: '',
  model_served: '',
  nonce: '',
  outcome: 'completed',
  payment: { charged_nano_usd: '', covered: {}, funding: 'balance', plan: null },
  price_entry: null,
  price_factor: '',
  price_tier_above_input_tokens: null,
  price_version: '',
  project_hash: undefined,
  provider: '',
  receipt_id: '',
  refund_of: null,
  refund_reason: null,
  request_id: '',
  request_sha256: '',
  response_sha256: '',
  run_id: null,
  started_at: '',
  tag_hashes: undefined,
  unit_prices_pico_usd: {},
  usage: {} as ReceiptPayload['usage'],
  version: 'tallygate-receipt/v1',
  waived_nano_usd: undefined,
};

/** @throws RangeError */
function unpacked({ receipt_id: id, ...row }: PackedRow, bytes: Buffer): ReceiptPayload {
  const { started_at: startedAt, livemode, kind, model } = row;
  if (!startedAt || livemode === null || kind === null || model === null) throw new RangeError(`The row of receipt ${id} is not whole`);
  const into: Filling = { ...BLANK };
  into.receipt_id = id;
  into.nonce = nonceOf(id);
  into.account_hash = accountHashOf(into.nonce, row.account_id);
  into.account_sequence = row.account_sequence ?? 0;
  into.kind = kind as ReceiptPayload['kind'];
  into.livemode = livemode;
  into.model_served = model;
  into.request_id = row.request_id;
  into.run_id = row.run_id;
  into.started_at = rfc3339(startedAt.getTime());
  const from = readerOf(bytes);
  const flags = from.byte();
  const has = (at: number): boolean => (flags & (1 << at)) !== 0;
  const kinds = from.byte();
  into.estimated = has(1);
  into.fallback = valueAt(FALLBACKS, (kinds >> 5) & 3);
  into.outcome = valueAt(OUTCOMES, (kinds >> 2) & 7);
  const plan = readCall(into, from, has);
  readMoney(into, from, { has, plan, funding: valueAt(FUNDINGS, kinds & 3) });
  into.completed_at = rfc3339(startedAt.getTime() + from.number());
  readLinks(into, from, has);
  if ((kinds & HAS_SUBJECTS) === 0) return into;
  const named = subjectHashes(into.nonce, unpackSubjects(from));
  into.end_user_hash = named.end_user_hash;
  into.project_hash = named.project_hash;
  into.tag_hashes = named.tag_hashes;
  return into;
}

type Has = (flag: number) => boolean;

/** @returns the plan; empty where there is none */
function readCall(into: Filling, from: PackedReader, has: Has): string {
  into.key_hash = keyHashOf(into.nonce, has(0) ? idOfBytes(from.hex(UUID_BYTES)) : null);
  into.request_sha256 = from.hex(HASH_BYTES);
  into.response_sha256 = from.hex(HASH_BYTES);
  into.endpoint = from.text();
  into.provider = from.text();
  into.price_version = from.text();
  into.price_factor = from.text();
  const plan = from.text();
  into.model_requested = has(6) ? from.text() : into.model_served;
  if (has(7)) into.price_tier_above_input_tokens = from.number();
  into.usage = countsFrom(from, { ...NO_COUNTS }) as ReceiptPayload['usage'];
  into.unit_prices_pico_usd = amountsFrom(from);
  return plan;
}

interface Paid {
  readonly has: Has;
  readonly plan: string;
  readonly funding: ReceiptPayload['payment']['funding'];
}

function readMoney(into: Filling, from: PackedReader, { has, plan, funding }: Paid): void {
  const covered = countsFrom(from);
  into.cost_nano_usd = from.amountText();
  into.payment = { charged_nano_usd: from.amountText(), covered, funding, plan: plan === '' ? null : plan };
  if (has(5)) into.waived_nano_usd = from.amountText();
}

/** What it refers to elsewhere. */
function readLinks(into: Filling, from: PackedReader, has: Has): void {
  if (has(4)) {
    const index = from.number();
    into.price_entry = { digest: from.hex(HASH_BYTES), index };
  }
  if (has(3)) {
    into.refund_of = idOfBytes(from.hex(UUID_BYTES));
    into.refund_reason = from.text();
  }
  if (has(2)) into.client_signature = JSON.parse(from.text());
}

function readerOf(bytes: Buffer): PackedReader {
  const from = new PackedReader(bytes);
  const form = from.byte();
  if (form !== FORM) throw new RangeError(`A receipt is packed in the form ${form}, which is not known`);
  return from;
}

/** In the order of their names. */
const NO_COUNTS: Readonly<Record<string, number>> = Object.fromEntries(REQUIRED_COUNTS.toSorted().map((meter) => [meter, 0]));

/** Counts by meter. Of a meter that is there twice the last one counts. */
function countsFrom(from: PackedReader, into: Record<string, number> = {}): Record<string, number> {
  for (let left = from.byte(); left > 0; left -= 1) into[valueAt(METERS, from.byte())] = from.number();
  return inOrder(into);
}

function amountsFrom(from: PackedReader): Record<string, string> {
  const into: Record<string, string> = {};
  for (let left = from.byte(); left > 0; left -= 1) into[valueAt(METERS, from.byte())] = from.amountText();
  return inOrder(into);
}

/** By the names of the meters, as the canonical form has them: mostly they are already, and then it is the very object. */
function inOrder<T>(byMeter: Record<string, T>): Record<string, T> {
  let before = '';
  for (const meter in byMeter) {
    if (meter < before) return Object.fromEntries(Object.entries(byMeter).sort(([a], [b]) => (a < b ? -1 : 1)));
    before = meter;
  }
  return byMeter;
}

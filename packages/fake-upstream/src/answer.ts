import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Answer } from './dialect.ts';
import type { Step } from './step.ts';
import { breakOff, type Piece, type Progress, pieces, write } from './wire.ts';

/** Carries out one step; `said` is the default answer of the provider. */
export function answer(response: ServerResponse, step: Step, said: Answer, progress: Progress): void {
  // A provider is at work from the moment it has the request, whether or not anybody waits for the answer.
  progress.hasBegun = step.body === undefined && (step.status ?? 200) < 300;
  progress.isStream = said.isStream;
  progress.leadingPieces = said.leadingEvents ?? 0;
  const begin = (): void => {
    if (response.destroyed) return;
    if (step.cut?.at === 'before_head') breakOff(response, step.cut.how, progress);
    else if (step.body !== undefined) plain(response, step, [bytesOf(step.body)], progress);
    else if (said.isStream) stream(response, step, said, progress);
    else
      plain(response, { ...step, headers: { ...said.headers, ...step.headers } }, padded(said.plain(), step), progress, said.contentType);
  };
  later(step.delayMs, begin);
}

function padded(document: object | Uint8Array, { padding }: Step): Piece {
  if (padding === undefined) return [bytesOf(document)];
  if (document instanceof Uint8Array) return [document, ...letters(padding)];
  const members = Object.entries(document);
  return withPadding(JSON.stringify(Object.fromEntries([...members.slice(0, -1), ['padding', ''], ...members.slice(-1)])), padding);
}

const NO_PADDING = '"padding":""';
const MANY_LETTERS = Buffer.alloc(1024 * 1024, 'x');

/** JSON with so many characters in its empty field `padding`. */
function withPadding(json: string, padding: number): Piece {
  const at = json.indexOf(NO_PADDING) + NO_PADDING.length - 1;
  return [Buffer.from(json.slice(0, at)), ...letters(padding), Buffer.from(json.slice(at))];
}

function* letters(count: number): Iterable<Uint8Array> {
  for (let left = count; left > 0; left -= MANY_LETTERS.length) yield MANY_LETTERS.subarray(0, left);
}

function* paddedEvents(said: Answer, { padding, paddingAt = 0, inserted, hasBom }: Step): Iterable<Piece> {
  let at = 0;
  for (const event of said.events()) {
    if (padding !== undefined && at === paddingAt)
      yield said.padding ? [said.padding(padding)] : withPadding(`data: {${NO_PADDING}}\n\n`, padding);
    if (at === inserted?.at) yield [bytesOf(inserted.event)];
    yield [...(at === 0 && hasBom ? [Buffer.from('\ufeff')] : []), bytesOf(event)];
    at += 1;
  }
}

const later = (delayMs: number | undefined, act: () => void): void => {
  if (delayMs) setTimeout(act, delayMs);
  else act();
};

const bytesOf = (body: string | Uint8Array | object): Uint8Array =>
  body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

function plain(response: ServerResponse, step: Step, body: Piece, progress: Progress, contentType = 'application/json'): void {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const headers = { 'content-type': contentType, 'content-length': String(length), ...step.headers };
  respond(response, step, headers, [body], progress);
}

function stream(response: ServerResponse, step: Step, said: Answer, progress: Progress): void {
  const type = said.streamType ?? 'text/event-stream; charset=utf-8';
  const headers = { 'content-type': type, 'cache-control': 'no-cache', ...said.headers, ...step.headers };
  respond(response, step, headers, paddedEvents(said, step), progress);
}

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;

function respond(
  response: ServerResponse,
  step: Step,
  plainHeaders: Record<string, string>,
  plainBody: Iterable<Piece>,
  progress: Progress,
): void {
  const { encoding } = step;
  const encoded = encoding && ENCODERS[encoding](Buffer.concat([...plainBody].flat()));
  const body = encoded ? [[encoded]] : plainBody;
  const headers = encoded ? { ...plainHeaders, 'content-encoding': encoding, 'content-length': String(encoded.length) } : plainHeaders;
  response.writeHead(step.status ?? 200, headers);
  if (step.firstByteDelayMs || step.cut) response.flushHeaders();
  later(step.firstByteDelayMs, () => {
    if (step.cut?.at === 'after_head') breakOff(response, step.cut.how, progress);
    else write(response, pieces(body, step.pieceBytes), step, progress);
  });
}

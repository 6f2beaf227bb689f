import type { ServerResponse } from 'node:http';
import { CreateFileFields, contract } from '@tallygate/contract';
import * as z from 'zod';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import {
  type Files,
  fileToWire,
  newFileBlobKey,
  ownerOf,
  partToWire,
  readerOf,
  UNNAMED,
  type Uploads,
} from '../../inference/files/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Idempotency } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { AccessControl } from './access-control.ts';
import { metadataOf } from './endpoint.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { downloadHeaders, rangeOf } from './file-download.ts';
import { idempotencyKeyOf, onceForKey, scopeOf } from './idempotent-handling.ts';
import { type MultipartForm, type MultipartLimits, readMultipart, type UploadedFile } from './multipart.ts';
import type { Refusals } from './refusals.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';
import { validationProblem } from './validation.ts';

export interface FileApiDeps {
  readonly files: Files;
  readonly uploads: Uploads;
  readonly blobs: BlobStore;
  readonly accessControl: AccessControl;
  readonly idempotency: Idempotency;
  readonly refusals: Refusals;
  readonly limits: FileLimits;
  readonly log: Log;
}

export interface FileLimits {
  /** Of a file that is sent whole. */
  readonly maxFileBytes: number;
  /** Of a part of an upload. */
  readonly maxPartBytes: number;
  /** How long a sender or a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  /** From the first to the last byte of what is sent. */
  readonly timeoutMs: number;
}

/** What the fields and boundaries of a form may add to its file. */
const FORM_BYTES = 64 * 1024;

const { create, addPart, content } = contract.fileTransfers;

/** Uploading a file or a part, and downloading. */
export const fileTransferRoutes = (deps: FileApiDeps): ServedRoute[] => [
  transferRoute(create, (exchange) => createFile(exchange, deps)),
  transferRoute(addPart, (exchange) => takePart(exchange, deps)),
  transferRoute(content, (exchange) => download(exchange, deps)),
];

async function createFile(exchange: Exchange, deps: FileApiDeps): Promise<void> {
  const owner = ownerOf(principalOf(exchange));
  await deps.files.requireRoom(owner, Number(exchange.req.headers['content-length'] ?? 0));
  const form = await readForm(exchange, create, deps);
  await keeping(form, exchange, deps, () => {
    const { purpose, expires_after } = parseFields(form);
    const { filename, contentType, bytes, blobKey } = onlyFile(form, 'file');
    const input = { purpose, filename: filename ?? UNNAMED, contentType, lifetimeSeconds: expires_after?.seconds };
    return async () => fileToWire(await deps.files.adopt(owner, input, { key: blobKey, bytes }));
  });
}

async function takePart(exchange: Exchange, deps: FileApiDeps): Promise<void> {
  const owner = ownerOf(principalOf(exchange));
  const id = exchange.params['upload_id'] ?? '';
  await deps.uploads.requirePending(owner, id);
  await deps.files.requireRoom(owner, Number(exchange.req.headers['content-length'] ?? 0));
  const form = await readForm(exchange, addPart, deps);
  await keeping(form, exchange, deps, () => {
    requireNothing(form);
    const { bytes, blobKey } = onlyFile(form, 'data');
    if (bytes === 0) throw invalid('data', 'The part is empty');
    return async () => partToWire(await deps.uploads.addPart(owner, id, { key: blobKey, bytes }));
  });
}

async function readForm(exchange: Exchange, route: typeof create | typeof addPart, deps: FileApiDeps): Promise<MultipartForm> {
  const { accountId } = principalOf(exchange);
  const maxFileBytes = route === create ? deps.limits.maxFileBytes : deps.limits.maxPartBytes;
  const limits: MultipartLimits = {
    ...deps.limits,
    maxFileBytes,
    maxBytes: maxFileBytes + FORM_BYTES,
    maxFiles: 1,
    maxFields: 20,
    maxFieldBytes: 4_096,
  };
  const form = await readMultipart(exchange.req, { limits, blobs: deps.blobs, newBlobKey: () => newFileBlobKey(accountId) });
  try {
    await deps.accessControl.recheck(exchange, { metadata: metadataOf(route) });
    return form;
  } catch (error) {
    await form.discard();
    throw error;
  }
}

/** Checks the form; what it returns does the work. */
type Prepare = () => () => Promise<object>;

/**
 * Answers with the result of the form, once for each `Idempotency-Key`; a refused form uses up no key. The blobs stay
 * only where the work is done.
 */
async function keeping(form: MultipartForm, exchange: Exchange, deps: FileApiDeps, prepare: Prepare): Promise<void> {
  const { req, res } = exchange;
  let isKept = false;
  try {
    const work = prepare();
    const run = async () => {
      // A failure that is no refusal may have come after the commit: whether the blob has a row, the sweeper will see.
      isKept = true;
      const body = await work().catch((error: unknown) => {
        isKept = !(error instanceof Problem);
        throw error;
      });
      return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: Buffer.from(JSON.stringify(body)) };
    };
    const key = idempotencyKeyOf(req.headers);
    if (key === undefined) return send(res, await run());
    const answer = await onceForKey(deps.idempotency, {
      request: { scope: scopeOf(principalOf(exchange)), key, method: 'POST', path: req.url ?? '', body: form.fingerprint() },
      run,
      refuse: (problem) => deps.refusals.replyTo(problem, exchange),
    });
    return send(res, answer);
  } finally {
    if (!isKept) await form.discard();
  }
}

async function download(exchange: Exchange, { files, limits, log }: FileApiDeps): Promise<void> {
  const { req, res, params } = exchange;
  const { file, read } = await files.open(readerOf(principalOf(exchange)), params['file_id'] ?? '');
  const range = rangeOf(req.headers.range, file.bytes);
  const { status, headers } = downloadHeaders(file, range);
  await sendBytes({ req, res, status, headers, read: () => read(range) }, { idleTimeoutMs: limits.idleTimeoutMs, log });
}

function send(res: ServerResponse, { status, headers, body }: Answer): void {
  if (!res.destroyed) res.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

function parseFields({ fields }: MultipartForm): CreateFileFields {
  const parsed = CreateFileFields.safeParse(fields);
  if (!parsed.success) throw validationProblem({ body: parsed.error });
  return parsed.data;
}

const Nothing = z.strictObject({});

/** A part has no fields beside its bytes. */
function requireNothing({ fields }: MultipartForm): void {
  const parsed = Nothing.safeParse(fields);
  if (!parsed.success) throw validationProblem({ body: parsed.error });
}

function onlyFile({ files }: MultipartForm, field: string): UploadedFile {
  const [file] = files;
  if (file?.field !== field) throw invalid(field, 'Expected one file under this name');
  return file;
}

const invalid = (field: string, message: string): Problem =>
  validationProblem({ body: { issues: [{ path: [field], message, code: 'invalid' }] } });

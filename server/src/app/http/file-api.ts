import type { IncomingMessage, ServerResponse } from 'node:http';
import { CreateFileFields, contract } from '@tallygate/contract';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { type Files, fileToWire, newFileBlobKey, type Owner, ownerOf, partToWire, UNNAMED, type Uploads } from '../../files/index.ts';
import type { Principal } from '../../identity/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Idempotency } from '../idempotency.ts';
import type { Authenticator } from './credentials.ts';
import { metadataOf } from './endpoint.ts';
import { downloadHeaders, rangeOf } from './file-download.ts';
import { onceForKey } from './idempotent-handling.ts';
import { type MultipartForm, type MultipartLimits, readMultipart, type UploadedFile } from './multipart.ts';
import { pathnameOf } from './path-table.ts';
import { toProblemDocument } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';
import { admitTransfer, refuseTransfer, sendBytes, TRANSFER_HEADERS } from './transfer.ts';
import { validationProblem } from './validation.ts';

export interface FileApiDeps {
  readonly files: Files;
  readonly uploads: Uploads;
  readonly blobs: BlobStore;
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  readonly limits: FileLimits;
  readonly publicUrl: () => string;
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

/** One request on its way, its caller proven. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly principal: Principal;
  readonly owner: Owner;
  /** The id in the path; empty where there is none. */
  readonly id: string;
}

type Operation = keyof typeof contract.fileTransfers;
interface Match {
  readonly operation: Operation;
  readonly id: string;
}

/** All three ask for the same. */
const METADATA = metadataOf(contract.fileTransfers.create);
const ADMISSION_FRESH_MS = 500;
/** What the fields and boundaries of a form may add to its file. */
const FORM_BYTES = 64 * 1024;

/**
 * The operations whose bytes pass as they come: uploading a file or a part, and downloading. They stand on node:http, beside the account
 * API, which would hold a whole body in memory. Who may call, ids and refusals are as there.
 */
export function createFileApi(deps: FileApiDeps) {
  return {
    handles: (req: IncomingMessage): boolean => matchOf(req) !== undefined,

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      for (const [name, value] of Object.entries({ ...TRANSFER_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
      try {
        const match = matchOf(req);
        if (!match) throw new Error('Asked to serve what it does not handle');
        const principal = await admit(req, deps.authenticator);
        const exchange = { req, res, requestId, principal, owner: ownerOf(principal), id: match.id };
        await serveOperation(match.operation, exchange, deps);
      } catch (thrown) {
        refuseTransfer(thrown, { req, res, requestId }, deps);
      }
    },
  };
}

function serveOperation(operation: Operation, exchange: Exchange, deps: FileApiDeps): Promise<void> {
  switch (operation) {
    case 'create':
      return createFile(exchange, deps);
    case 'addPart':
      return addPart(exchange, deps);
    case 'content':
      return download(exchange, deps);
    default:
      return operation satisfies never;
  }
}

async function createFile(exchange: Exchange, deps: FileApiDeps): Promise<void> {
  const { owner } = exchange;
  await deps.files.requireRoom(owner, Number(exchange.req.headers['content-length'] ?? 0));
  const form = await readForm(exchange, deps, deps.limits.maxFileBytes);
  await keeping(form, exchange, deps, () => {
    const { purpose, expires_after } = parseFields(form);
    const { filename, contentType, bytes, blobKey } = onlyFile(form, 'file');
    const input = { purpose, filename: filename ?? UNNAMED, contentType, lifetimeSeconds: expires_after?.seconds };
    return async () => fileToWire(await deps.files.adopt(owner, input, { key: blobKey, bytes }));
  });
}

async function addPart(exchange: Exchange, deps: FileApiDeps): Promise<void> {
  const { owner, id } = exchange;
  await deps.uploads.requirePending(owner, id);
  await deps.files.requireRoom(owner, Number(exchange.req.headers['content-length'] ?? 0));
  const form = await readForm(exchange, deps, deps.limits.maxPartBytes);
  await keeping(form, exchange, deps, () => {
    const { bytes, blobKey } = onlyFile(form, 'data');
    if (bytes === 0) throw invalid('data', 'The part is empty');
    return async () => partToWire(await deps.uploads.addPart(owner, id, { key: blobKey, bytes }));
  });
}

async function readForm({ req, owner }: Exchange, deps: FileApiDeps, maxFileBytes: number): Promise<MultipartForm> {
  const admittedTick = performance.now();
  const limits: MultipartLimits = {
    ...deps.limits,
    maxFileBytes,
    maxBytes: maxFileBytes + FORM_BYTES,
    maxFiles: 1,
    maxFields: 20,
    maxFieldBytes: 4_096,
  };
  const form = await readMultipart(req, { limits, blobs: deps.blobs, newBlobKey: () => newFileBlobKey(owner.accountId) });
  try {
    // A body that trickles in must not carry a caller past the end of their key or session.
    if (performance.now() - admittedTick > ADMISSION_FRESH_MS) await admit(req, deps.authenticator);
    return form;
  } catch (error) {
    await form.discard();
    throw error;
  }
}

/** Checks the form; what it returns does the work. */
type Prepare = () => () => Promise<object>;

/**
 * Answers with what comes of the form, once for each `Idempotency-Key`; a form that is refused as it stands uses up no key. The blobs stay
 * only where the work is done.
 */
async function keeping(form: MultipartForm, exchange: Exchange, deps: FileApiDeps, prepare: Prepare): Promise<void> {
  const { req, res, requestId, principal } = exchange;
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
    const key = idempotencyKeyOf(req);
    if (key === undefined) return send(res, await run());
    const { answer, isReplay } = await onceForKey(deps.idempotency, {
      request: { scope: scopeOf(principal), key, method: 'POST', path: req.url ?? '', body: form.fingerprint() },
      run,
      toAnswer: (problem) => toProblemDocument(problem, { requestId, publicUrl: deps.publicUrl() }),
    });
    return send(res, { ...answer, headers: { ...answer.headers, ...(isReplay && { 'idempotent-replayed': 'true' }) } });
  } finally {
    if (!isKept) await form.discard();
  }
}

async function download({ req, res, owner, id }: Exchange, { files, limits, log }: FileApiDeps): Promise<void> {
  const { file, read } = await files.open(owner, id);
  const range = rangeOf(req.headers.range, file.bytes);
  const { status, headers } = downloadHeaders(file, range);
  await sendBytes({ req, res, status, headers, read: () => read(range) }, { idleTimeoutMs: limits.idleTimeoutMs, log });
}

function send(res: ServerResponse, { status, headers, body }: { status: number; headers: Record<string, string>; body: Buffer }): void {
  if (!res.destroyed) res.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

const PATHS: readonly [Operation, methods: readonly string[], RegExp][] = [
  ['create', ['POST'], /^\/v1\/files$/],
  ['addPart', ['POST'], /^\/v1\/uploads\/([^/]+)\/parts$/],
  ['content', ['GET', 'HEAD'], /^\/v1\/files\/([^/]+)\/content$/],
];

/** Undefined for everything that the account API answers, a wrong method and an id that cannot be decoded included. */
function matchOf({ method = '', url = '' }: IncomingMessage): Match | undefined {
  if (!url.startsWith('/v1/files') && !url.startsWith('/v1/uploads/')) return undefined;
  const pathname = pathnameOf(url);
  for (const [operation, methods, pattern] of PATHS) {
    const found = methods.includes(method) ? pattern.exec(pathname) : null;
    const id = found && decoded(found[1] ?? '');
    if (id !== null && id !== undefined) return { operation, id };
  }
  return undefined;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

const admit = (req: IncomingMessage, authenticator: Authenticator): Promise<Principal> => admitTransfer(req, authenticator, METADATA);

function parseFields({ fields }: MultipartForm): CreateFileFields {
  const parsed = CreateFileFields.safeParse(fields);
  if (!parsed.success) throw validationProblem({ body: parsed.error });
  return parsed.data;
}

function onlyFile({ files }: MultipartForm, field: string): UploadedFile {
  const [file] = files;
  if (file?.field !== field) throw invalid(field, 'Expected one file under this name');
  return file;
}

const invalid = (field: string, message: string): Problem =>
  validationProblem({ body: { issues: [{ path: [field], message, code: 'invalid' }] } });

function idempotencyKeyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  if (key.length === 0 || key.length > 255)
    throw validationProblem({
      header: { issues: [{ path: ['idempotency-key'], message: 'Expected 1 to 255 characters', code: 'invalid' }] },
    });
  return key;
}

const scopeOf = (principal: Principal): string => (principal.kind === 'key' ? `key:${principal.keyId}` : `user:${principal.userId}`);

import * as z from 'zod';
import type { GatewayAnswer, GatewayRequest } from './gateway-call.ts';
import { type Arguments, UnusableArguments } from './tool-request.ts';

// Files are bytes, which the arguments and answers of tools are not: the two operations that carry them are put into words here.

/** Of one piece of a file: what a model can be expected to read at once. */
const PIECE_BYTES = 64 * 1024;
const MOST_PIECE_BYTES = 1024 * 1024;

const Upload = z.strictObject({
  filename: z.string().min(1).max(255).meta({ description: 'Name of the file.' }),
  purpose: z.string().meta({ description: '`batch` for the input of a batch; `user_data`, `vision`, `assistants`, `evals`, `fine-tune`.' }),
  content: z.string().optional().meta({ description: 'Its content, where it is text.' }),
  content_base64: z
    .string()
    .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
    .optional()
    .meta({ description: 'Its content in base64, where it is not text.' }),
  idempotency_key: z.string().min(1).max(255).optional().meta({ description: 'Makes a repeat answer with the first answer.' }),
});

const Piece = z.strictObject({
  file_id: z.string().min(1).meta({ description: 'The file.' }),
  offset: z.int().min(0).default(0).meta({ description: 'The byte to begin with.' }),
  max_bytes: z.int().min(1).max(MOST_PIECE_BYTES).default(PIECE_BYTES).meta({ description: 'How many bytes at most.' }),
});

const PieceRead = z.object({
  content: z.string().optional().meta({ description: 'The piece, where it is text.' }),
  content_base64: z.string().optional().meta({ description: 'The piece in base64, where it is not text.' }),
  offset: z.int().meta({ description: 'The byte it begins with.' }),
  next_offset: z.int().nullable().meta({ description: 'Where to go on; null at the end.' }),
  total_bytes: z.int().meta({ description: 'Size of the file.' }),
});

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _, ...kept } = z.toJSONSchema(schema, { io });
  return kept;
};

export const uploadInput = jsonSchema(Upload, 'input');
export const pieceInput = jsonSchema(Piece, 'input');
export const pieceOutput = jsonSchema(PieceRead, 'output');

/** A form with the file in it. @throws UnusableArguments */
export async function uploadRequest(given: Arguments): Promise<GatewayRequest> {
  const { filename, purpose, content, content_base64, idempotency_key } = parsed(Upload, given);
  if ((content === undefined) === (content_base64 === undefined)) throw new UnusableArguments('Give either `content` or `content_base64`.');
  const bytes = content === undefined ? Buffer.from(content_base64 ?? '', 'base64') : Buffer.from(content);
  const form = new FormData();
  form.append('purpose', purpose);
  form.append('file', new Blob([bytes]), filename);
  const encoded = new Response(form);
  return {
    method: 'POST',
    path: '/v1/files',
    headers: {
      'content-type': encoded.headers.get('content-type') ?? '',
      ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
    },
    body: new Uint8Array(await encoded.arrayBuffer()),
  };
}

/** One piece of a file, by a range. @throws UnusableArguments */
export function pieceRequest(given: Arguments): GatewayRequest {
  const { file_id, offset, max_bytes } = parsed(Piece, given);
  const path = `/v1/files/${encodeURIComponent(file_id)}/content`;
  return { method: 'GET', path, headers: { range: `bytes=${offset}-${offset + max_bytes - 1}` } };
}

/** What a range of a file was answered with, in words where it is text. */
export function pieceAnswer({ headers, body }: GatewayAnswer): z.infer<typeof PieceRead> {
  const [, from = '0', total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  const offset = Number(from);
  const totalBytes = total === undefined ? body.length : Number(total);
  const text = textIn(body);
  // A piece of text may end within a character: that one belongs to the next piece.
  const length = text === undefined ? body.length : Buffer.byteLength(text);
  const next = offset + length;
  return {
    ...(text === undefined ? { content_base64: body.toString('base64') } : { content: text }),
    offset,
    next_offset: next < totalBytes && length > 0 ? next : null,
    total_bytes: totalBytes,
  };
}

function textIn(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return text.includes('\0') || (text === '' && bytes.length > 0) ? undefined : text;
  } catch {
    return undefined;
  }
}

function parsed<T>(schema: z.ZodType<T>, given: Arguments): T {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const said = read.error.issues.map(({ path, message }) => (path.length > 0 ? `\`${path.join('.')}\` ${message}` : `The call ${message}`));
  throw new UnusableArguments(`${said.join('; ')}.`);
}

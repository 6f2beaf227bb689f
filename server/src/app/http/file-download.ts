import type { StoredFile } from '../../inference/files/index.ts';
import { Problem } from '../../kernel/problem.ts';

/** Both ends inclusive. */
interface Range {
  readonly start: number;
  readonly end: number;
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * What a `Range` header asks for (RFC 9110, section 14.2); undefined for the whole file, which is the answer to several ranges at once and
 * to everything that is no range, too.
 * @throws Problem `range_not_satisfiable`
 */
export function rangeOf(header: string | undefined, bytes: number): Range | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (start > end)
    throw new Problem('range_not_satisfiable', `The file has ${bytes} bytes: ask for some of these.`, {
      headers: { 'content-range': `bytes */${bytes}` },
    });
  return { start, end };
}

/** Always bytes to be saved, with any media type of the uploader: a browser is to show none of it as a page of this origin. */
export function downloadHeaders({ bytes, filename }: StoredFile, range: Range | undefined) {
  const { status, headers } = partHeaders(bytes, range);
  return {
    status,
    headers: { 'content-type': 'application/octet-stream', 'content-disposition': attachment(filename), ...headers },
  };
}

/** What says which of so many bytes are sent. */
export function partHeaders(bytes: number, range: Range | undefined): { status: 200 | 206; headers: Record<string, string> } {
  const headers = { 'accept-ranges': 'bytes' };
  if (!range) return { status: 200, headers: { ...headers, 'content-length': String(bytes) } };
  const { start, end } = range;
  return {
    status: 206,
    headers: { ...headers, 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${bytes}` },
  };
}

/** RFC 6266 with its appendix D: a plain name for everybody, the real one for who reads RFC 8187. No character of either can end a header. */
function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

import { bareFilename } from '../../../kernel/filename.ts';
import { MalformedMultipart } from './parts.ts';

export interface Disposition {
  readonly name: string;
  /** Undefined: the part is no file. A bare name without folders and control characters; null when nothing is left of it. */
  readonly filename: string | null | undefined;
}

const PARAMETER = /;[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/y;

/**
 * Reads `Content-Disposition: form-data` (RFC 7578, section 4.2).
 * @throws MalformedMultipart when it is missing, of another kind, without a name, or says a thing twice
 */
export function parseDisposition(header: string | undefined): Disposition {
  const kind = /^form-data[ \t]*(?=;|$)/i.exec(header ?? '');
  if (header === undefined || !kind) throw new MalformedMultipart('has a part without Content-Disposition: form-data');
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = kind[0].length;
  let end = PARAMETER.lastIndex;
  for (let match = PARAMETER.exec(header); match; match = PARAMETER.exec(header)) {
    end = PARAMETER.lastIndex;
    const [, key = '', quoted, bare = ''] = match;
    const name = key.toLowerCase();
    if (parameters.has(name)) throw new MalformedMultipart(`has a part with two parameters ${name.slice(0, 40)}`);
    parameters.set(name, quoted === undefined ? bare : unquote(quoted));
  }
  if (end < header.length) throw new MalformedMultipart('has a part whose Content-Disposition cannot be read');
  const name = parameters.get('name');
  if (name === undefined || name === '') throw new MalformedMultipart('has a part without a name');
  const filename = extended(parameters.get('filename*')) ?? parameters.get('filename');
  return { name, filename: filename === undefined ? undefined : bareFilename(filename) };
}

/** Old clients escape with a backslash, browsers by percent (HTML, “multipart/form-data encoding algorithm”), and only these three. */
const unquote = (quoted: string): string =>
  quoted.replaceAll(/\\(["\\])/g, '$1').replaceAll(/%22|%0D|%0A/gi, (code) => decodeURIComponent(code));

/** RFC 8187. RFC 7578 forbids it in forms, and clients send it all the same. */
function extended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.+)$/i.exec(value ?? '')?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

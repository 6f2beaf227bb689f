/** What a data URL (RFC 2397) holds. */
export interface DataUrl {
  /** Lower case, without parameters; `text/plain` where the URL names none. */
  readonly mediaType: string;
  readonly base64: string;
}

/** Bytes in front of the comma: a media type with its parameters is never longer. */
const LONGEST_HEAD = 300;

/** Undefined where it is no data URL. Content that is percent-encoded comes out in base64 too. */
export function dataUrlIn(url: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.slice(0, LONGEST_HEAD).indexOf(',');
  if (comma < 0) return undefined;
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  const content = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim() === 'base64');
  return { mediaType: mediaType.trim() || 'text/plain', base64: isBase64 ? content : percentDecoded(content).toString('base64') };
}

function percentDecoded(content: string): Buffer {
  const bytes = content.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

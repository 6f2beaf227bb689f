/** A multipart/form-data body (RFC 7578), read as it came. */
export interface Form {
  /** Text fields in order; a name may come several times. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];
}

export interface FormFile {
  /** Name of the field, `image[]` with its brackets. */
  readonly field: string;
  readonly filename: string;
  /** Null where the part states none. */
  readonly contentType: string | null;
  readonly bytes: Buffer;
}

/** Undefined where the body is no form, or one that breaks off. */
export function readForm(contentType: string | undefined, body: Buffer): Form | undefined {
  const [, quoted, bare] = /^multipart\/form-data;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return undefined;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter has no line before it.
  const whole = Buffer.concat([Buffer.from('\r\n'), body]);
  const fields: [string, string][] = [];
  const files: FormFile[] = [];
  for (let at = whole.indexOf(delimiter); at >= 0; ) {
    const start = at + delimiter.length;
    if (whole.toString('latin1', start, start + 2) === '--') return { fields, files };
    const headEnd = whole.indexOf('\r\n\r\n', start);
    const end = whole.indexOf(delimiter, start);
    if (headEnd < 0 || end < headEnd) return undefined;
    const head = whole.toString('utf8', start, headEnd);
    const bytes = Buffer.from(whole.subarray(headEnd + 4, end));
    const field = /\bname="([^"]*)"/i.exec(head)?.[1] ?? '';
    const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1];
    if (filename === undefined) fields.push([field, bytes.toString()]);
    else files.push({ field, filename, contentType: /^content-type:\s*(.+)$/im.exec(head)?.[1]?.trim() ?? null, bytes });
    at = end;
  }
  return undefined;
}

/** A format of JSON Schema (validation, 7.3): text in it, and a test that is stricter than the format but never laxer. */
interface Format {
  /** Different for every index from 0 to 59. */
  readonly sample: (index: number) => string;
  readonly test: RegExp;
}

const two = (value: number): string => String(value).padStart(2, '0');
const DATE = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?';
const ZONE = '(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)';
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?';
const PATH = '(?:/[A-Za-z0-9._~/-]*)?';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const whole = (source: string): RegExp => new RegExp(`^${source}$`);

const email: Format = { sample: (index) => `user${index || ''}@example.com`, test: whole(`[A-Za-z0-9_-]{1,60}@${LABEL}\\.${LABEL}`) };
const hostname: Format = { sample: (index) => `host${index || ''}.example.com`, test: whole(`${LABEL}(?:\\.${LABEL}){0,4}`) };
const uri: Format = {
  sample: (index) => `https://example.com/${index || ''}`,
  test: whole(`https?://${LABEL}(?:\\.${LABEL}){0,4}${PATH}`),
};
const reference: Format = { sample: (index) => `/path/${index || ''}`, test: whole('(?:/[A-Za-z0-9._~-]+)+/?') };

const FORMATS: Readonly<Record<string, Format>> = {
  'date-time': { sample: (index) => `2026-01-15T09:30:${two(index)}Z`, test: whole(`${DATE}T${TIME}${ZONE}`) },
  date: { sample: (index) => `2026-${two(1 + (index % 12))}-${two(1 + (index % 28))}`, test: whole(DATE) },
  time: { sample: (index) => `09:30:${two(index)}Z`, test: whole(`${TIME}${ZONE}`) },
  duration: { sample: (index) => `P${index + 1}D`, test: /^P\d{1,9}[YMWD]$/ },
  email,
  'idn-email': email,
  hostname,
  'idn-hostname': hostname,
  ipv4: { sample: (index) => `192.0.2.${index + 1}`, test: whole(`${OCTET}(?:\\.${OCTET}){3}`) },
  ipv6: { sample: (index) => `2001:db8::${index + 1}`, test: /^(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f]{1,4}$/ },
  uri,
  url: uri,
  iri: uri,
  'uri-reference': reference,
  'iri-reference': reference,
  'uri-template': { sample: (index) => `https://example.com/{id}/${index || ''}`, test: /^https:\/\/example\.com\/\{id\}\/\d*$/ },
  uuid: { sample: (index) => `018f3a5e-7c1b-7d2e-8f4a-0000000000${two(index)}`, test: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i },
  'json-pointer': { sample: (index) => `/path/${index}`, test: /^(?:\/[A-Za-z0-9_-]*)*$/ },
  'relative-json-pointer': { sample: (index) => `${index}`, test: /^(?:0|[1-9]\d{0,9})$/ },
  regex: { sample: (index) => `^[a-z]${index ? `{${index}}` : ''}$`, test: /^\^\[a-z\](?:\{\d{1,3}\})?\$$/ },
  byte: {
    sample: (index) => Buffer.from(`sandbox ${two(index)}`).toString('base64'),
    test: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  },
};

/** How many different samples there are of each format. */
export const SAMPLES_PER_FORMAT = 60;

/** Formats that are not in the table are annotations and nothing more. */
export const formatNamed = (name: unknown): Format | undefined =>
  typeof name === 'string' && Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;

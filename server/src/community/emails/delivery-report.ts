import PostalMime, { type Email } from 'postal-mime';

/** What a mail server reports of a mail that it took and could not deliver (RFC 3464). */
export interface DeliveryReport {
  /** `delayed`: the server retries. */
  readonly action: 'failed' | 'delayed';
  /** RFC 3463: `5.1.1`. */
  readonly status: string;
  /** The answer of the last mail server. */
  readonly diagnostic: string | null;
  /** Header lines of the report: they name the address that it was written to. */
  readonly envelope: string;
  /** What came back of the mail itself. */
  readonly returned: string;
}

const MAX_DIAGNOSTIC_LENGTH = 400;
/** Where mail servers note the address that they delivered to, besides `To`. */
const ENVELOPE = ['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to', 'x-rcpt-to'];
const RETURNED = ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers'];

/** @returns undefined for a message that is no report of a delivery that failed or is late */
export async function readDeliveryReport(message: Buffer): Promise<DeliveryReport | undefined> {
  const mail = await parsed(message);
  const part = mail?.attachments.find(({ mimeType }) => /^message\/(global-)?delivery-status$/.test(mimeType));
  if (!mail || !part) return undefined;
  // The first group is about the mail as a whole. Each of our mails has one recipient; a forwarder may have made several of it.
  const groups = textOf(part.content)
    .split(/\r?\n\s*\r?\n/)
    .map(fieldsOf);
  const told = groups.find(({ action }) => action === 'failed') ?? groups.find(({ action }) => action === 'delayed');
  const status = /^[245]\.\d{1,3}\.\d{1,3}/.exec(told?.['status'] ?? '')?.[0];
  const action = told?.['action'];
  if (!told || status === undefined || (action !== 'failed' && action !== 'delayed')) return undefined;
  return {
    ...{ action, status },
    diagnostic: told['diagnostic-code']?.replace(/^smtp;\s*/i, '').slice(0, MAX_DIAGNOSTIC_LENGTH) ?? null,
    envelope: mail.headers
      .filter(({ key }) => ENVELOPE.includes(key))
      .map(({ value }) => value)
      .join('\n'),
    returned: mail.attachments
      .filter(({ mimeType }) => RETURNED.includes(mimeType))
      .map(({ content }) => textOf(content))
      .join('\n'),
  };
}

/** What cannot be parsed is no report. */
const parsed = (message: Buffer): Promise<Email | undefined> =>
  PostalMime.parse(message, { forceRfc822Attachments: true, maxNestingDepth: 20 }).catch(() => undefined);

const textOf = (content: ArrayBuffer | Uint8Array | string): string =>
  typeof content === 'string' ? content : new TextDecoder().decode(content);

/** Fields by their names in lower case; `Action` is compared without regard to case (RFC 3464, 2.3.3). */
function fieldsOf(group: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const line of group.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== '') fields[name.toLowerCase()] ??= value.trim();
  }
  return { ...fields, ...(fields['action'] !== undefined && { action: fields['action'].toLowerCase() }) };
}

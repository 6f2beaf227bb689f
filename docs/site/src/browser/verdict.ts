import {
  type CostLine,
  costLines,
  type LogForkError,
  type ReceiptPayload,
  type Refusal,
  type RefusalCode,
  type Remembered,
  type Verification,
  type Verified,
} from '../../../../packages/receipts/src/index.ts';
import { evidenceOf } from './history.ts';

type Check = keyof Verified['checks'];

/** What a check that was made, or could not be made, says. */
const CHECKS: Readonly<Record<Check, { readonly name: string; readonly says: Readonly<Record<string, string>> }>> = {
  signature: { name: 'Signature', says: { ok: 'The service signed exactly the content of this receipt.' } },
  cost: { name: 'Cost', says: { ok: 'The units times their prices are the cost that is stated.' } },
  prices: { name: 'Prices', says: { ok: 'The unit prices are the published ones.' } },
  price_entry: {
    name: 'Price in the log',
    says: {
      ok: 'These unit prices are an entry of the log before this receipt: they were not dated back.',
      unchecked: 'It names the entry of its price, and does not carry it, or the key set has no key of the log to check it with.',
    },
  },
  client_signature: {
    name: 'Caller’s signature',
    says: {
      ok: 'The caller signed this very request.',
      unchecked: 'The caller’s signature covers parts of the request that are not known here.',
    },
  },
  log: {
    name: 'Log',
    says: {
      ok: 'It is in the append-only log, in a checkpoint that the log has signed.',
      pending: 'It has no proof of that yet: fetch the receipt again some seconds after its request.',
      unchecked: 'It has a proof, but the key set has no key of the log to check it with.',
    },
  },
  anchor: {
    name: 'Anchor',
    says: {
      unconfirmed: 'It is in the state that its anchor names; this page asks no chain, tallygate receipts verify --rpc does.',
      pending:
        'It names no block of a public chain. A gateway with a chain writes the state of its log there on a schedule; one without never does, and its receipts stay so.',
      unchecked: 'Its anchor is of a form that is not known here.',
    },
  },
};

/** What a refusal most likely comes from, before the exact reason. */
const LIKELY: Partial<Readonly<Record<RefusalCode, string>>> = {
  bad_digest: 'Something in it was changed after it was signed.',
  bad_signature: 'The signature is not of this receipt.',
  cost_mismatch: 'The cost does not follow from the usage and the prices.',
  unknown_key: 'It was signed with a key that is not in the key set: perhaps it comes from another gateway.',
  malformed_json: 'This is not the JSON of a receipt. Was all of it copied?',
  too_few_witnesses: 'The witnesses that this gateway lists have not cosigned it: fetch the receipt again in some seconds.',
  malformed: 'This is not a receipt, or not all of one.',
};

/** The outcome, as a panel: what holds, what was charged, and what that proves. */
export const verdictOf = (verification: Verification, note = '', history?: Remembered): HTMLElement =>
  verification.valid ? validPanel(verification, note, history) : refusedPanel(verification);

/** Two states of the log exclude each other: the outcome, with what this browser has kept of it as a file. */
export function forkOf(error: LogForkError): HTMLElement {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([evidenceOf(error)], { type: 'application/json' }));
  link.download = 'log-fork.json';
  link.textContent = 'Save both signed states';
  const lines = ['The log has shown you two pasts: no receipt of it can be relied on.', error.message];
  return panel('bad', 'The log contradicts itself', lines, link, element('p', `Code: ${error.code}`, 'code'));
}

/** How the state of the log goes together with those that this browser has seen. */
const HISTORY: Readonly<Record<Remembered, readonly [state: string, says: string]>> = {
  first: ['kept', 'The first state of this log that this browser has seen. It keeps it, and compares every later one with it.'],
  known: ['ok', 'This browser has seen this state before, and found it to be of one history with the others.'],
  proven: ['ok', 'The log has shown that this state and the newest that this browser has seen are of one history.'],
  unproven: ['open', 'The log of this receipt cannot be asked here. The state is kept, and compared as soon as it can be.'],
};

function historyLine(history: Remembered): HTMLElement {
  const [state, says] = HISTORY[history];
  return line({ name: 'History', state, says });
}

function validPanel({ payload, checks, proves, does_not_prove }: Verified, note: string, history: Remembered | undefined): HTMLElement {
  const when = payload.completed_at.slice(0, 19).replace('T', ' ');
  const what = `${payload.model_served} by ${payload.provider}, ${dollars(payload.cost_nano_usd, NANO)}, ${when} UTC`;
  return panel(
    'good',
    'Valid',
    [what, note],
    element('h2', 'Checks'),
    list('checks', [...Object.entries(checks).map(checkLine), ...(history ? [historyLine(history)] : [])]),
    element('h2', 'What was charged'),
    bill(payload),
    list('statements proves', [element('h2', 'What it proves'), ...proves.map((sentence) => element('p', sentence))]),
    list('statements', [element('h2', 'What it does not prove'), ...does_not_prove.map((sentence) => element('p', sentence))]),
  );
}

const refusedPanel = ({ code, reason }: Refusal): HTMLElement =>
  panel('bad', 'Not valid', [LIKELY[code] ?? '', reason], element('p', `Code: ${code}`, 'code'));

/** What has to be done first, or cannot be done. */
export const notice = (title: string, text: string): HTMLElement => panel('wait', title, [text]);

export function panel(
  kind: 'good' | 'bad' | 'wait',
  title: string,
  lines: readonly string[],
  ...more: readonly HTMLElement[]
): HTMLElement {
  const box = element('div', '', `outcome ${kind}`);
  const words = element('div', '');
  words.append(element('strong', title), ...lines.filter((line) => line !== '').map((line) => element('p', line)));
  const head = element('div', '', 'head');
  head.append(words);
  box.append(head, ...more);
  return box;
}

function checkLine([check, state]: readonly [string, string]): HTMLElement {
  const { name, says } = CHECKS[check as Check];
  return line({ name, state, says: says[state] ?? '' });
}

function line({ name, state, says }: { readonly name: string; readonly state: string; readonly says: string }): HTMLElement {
  const made = element('div', '', state === 'ok' ? 'check ok' : 'check open');
  made.append(element('span', name, 'name'), element('span', state, 'state'), element('p', says));
  return made;
}

export const NANO = 9;
const PICO = 12;
const MILLION = 1_000_000n;

/** Units times price, line by line, and their sum. */
function bill(payload: ReceiptPayload): HTMLElement {
  const table = element('table', '');
  const row = (cells: readonly string[], name = 'td') => {
    const made = element('tr', '');
    made.append(...cells.map((text) => element(name, text)));
    return made;
  };
  const lineOf = ({ meter, units, unit_price_pico_usd: price, pico_usd }: CostLine) =>
    row([
      meter.replaceAll('_', ' '),
      units.toLocaleString('en-US'),
      dollars((BigInt(price) * MILLION).toString(), PICO),
      dollars(pico_usd, PICO),
    ]);
  const factor = payload.price_factor === '1' ? [] : [row(['factor', '', '', `× ${payload.price_factor}`])];
  const head = element('thead', '');
  head.append(row(['Counted', 'Units', 'Per million', 'Amount'], 'th'));
  const body = element('tbody', '');
  body.append(...costLines(payload).map(lineOf), ...factor, row(['Cost', '', '', dollars(payload.cost_nano_usd, NANO)]));
  table.append(head, body);
  return table;
}

/** Names with their amounts. */
export function linesPanel(lines: readonly (readonly [name: string, value: string])[]): HTMLElement {
  const table = element('table', '');
  const body = element('tbody', '');
  for (const [name, value] of lines) {
    const row = element('tr', '');
    row.append(element('td', name), element('td', value));
    body.append(row);
  }
  table.append(body);
  return table;
}

/** `384000` of nine decimals: `$0.000384`. */
export function dollars(amount: string, decimals: number): string {
  if (amount.startsWith('-')) return `-${dollars(amount.slice(1), decimals)}`;
  const digits = amount.padStart(decimals + 1, '0');
  return `$${digits.slice(0, -decimals)}.${digits.slice(-decimals).replace(/0+$/, '').padEnd(2, '0')}`;
}

function list(className: string, items: readonly HTMLElement[]): HTMLElement {
  const made = element('div', '', className);
  made.append(...items);
  return made;
}

export function element(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
}
